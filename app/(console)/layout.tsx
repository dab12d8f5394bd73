import { cookies, headers } from 'next/headers'
import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { Providers } from '@/components/shell/providers'
import { Shell } from '@/components/shell/shell'
import { personOfCookie, sessionCookieName } from '@/lib/auth/sessions'
import { installation } from '@/lib/server/current'
import { askedPathHeader } from '@/lib/server/http/security-headers'

/** Nothing of the console is shown to a stranger: without a session every page leads to the sign-in, and back. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  if (!(await isSignedIn())) {
    const asked = (await headers()).get(askedPathHeader) ?? '/'
    redirect(`/sign-in?callbackUrl=${encodeURIComponent(asked)}`)
  }
  return (
    <Providers>
      <Shell>{children}</Shell>
    </Providers>
  )
}

async function isSignedIn(): Promise<boolean> {
  const { auth } = await installation()
  const cookie = (await cookies()).get(sessionCookieName(auth))?.value
  const person = await personOfCookie(auth, cookie).catch(() => undefined)
  return person !== undefined
}
