import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { Providers } from '@/components/shell/providers'
import { Shell } from '@/components/shell/shell'
import { installation } from '@/lib/server/current'
import { overviewOf } from '@/lib/server/handlers/overview'
import { askedPathHeader } from '@/lib/server/http/security-headers'
import { toldOf } from '@/lib/server/opened'
import { keys } from '@/lib/ui/keys'
import { Prefetched, signedIn } from './prefetched'

/** Nothing of the console is shown to a stranger: without a session every page leads to the sign-in, and back. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  if (!(await signedIn())) {
    const asked = (await headers()).get(askedPathHeader) ?? '/'
    redirect(`/sign-in?callbackUrl=${encodeURIComponent(asked)}`)
  }
  const { opened } = await installation()
  return (
    <Providers>
      <Prefetched
        read={(installation, person) => [
          Promise.resolve([keys.me, { id: person.id, name: person.name, roles: [...person.roles] }]),
          overviewOf(installation, person).then((overview) => [keys.overview, overview]),
        ]}
      >
        <Shell opened={opened && toldOf(opened)}>{children}</Shell>
      </Prefetched>
    </Providers>
  )
}
