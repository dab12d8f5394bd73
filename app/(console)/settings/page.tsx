import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { Suspense } from 'react'
import { Settings } from '@/components/settings/settings'
import { maxTokenDays } from '@/lib/auth/api-tokens'
import { minPasswordLength } from '@/lib/auth/passwords'
import { holds, scopes } from '@/lib/auth/principal'
import { personOfCookie, sessionCookieName } from '@/lib/auth/sessions'
import { installation } from '@/lib/server/current'

export const metadata: Metadata = { title: 'Settings' }

export default async function SettingsPage() {
  const { auth } = await installation()
  const cookie = (await cookies()).get(sessionCookieName(auth))?.value
  const person = await personOfCookie(auth, cookie).catch(() => undefined)
  return (
    <Suspense>
      <Settings
        administers={person !== undefined && holds(person, 'administrator')}
        bounds={{ minPasswordLength, maxTokenDays, scopes: [...scopes] }}
      />
    </Suspense>
  )
}
