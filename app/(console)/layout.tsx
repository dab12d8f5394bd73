import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { NoRole } from '@/components/shell/no-role'
import { Providers } from '@/components/shell/providers'
import { Shell } from '@/components/shell/shell'
import { holds } from '@/lib/auth/principal'
import { installation } from '@/lib/server/current'
import { overviewOf } from '@/lib/server/handlers/overview'
import { askedPathHeader } from '@/lib/server/http/security-headers'
import { toldOf } from '@/lib/server/opened'
import { keys } from '@/lib/ui/keys'
import { Prefetched, signedIn } from './prefetched'

/** Nothing of the console is shown to a stranger: without a session every page leads to the sign-in, and back. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const person = await signedIn()
  if (!person) {
    const asked = (await headers()).get(askedPathHeader) ?? '/'
    redirect(`/sign-in?callbackUrl=${encodeURIComponent(asked)}`)
  }
  // No page has anything for them, and nothing would tell them of changes.
  if (!holds(person, 'viewer')) return <NoRole name={person.name} />
  const bundle = (await installation()).opened
  const opened = bundle && toldOf(bundle)
  return (
    <Providers opened={opened}>
      <Prefetched
        read={(installation, person) => [
          Promise.resolve([keys.me, { id: person.id, name: person.name, roles: [...person.roles] }]),
          overviewOf(installation, person).then((overview) => [keys.overview, overview]),
        ]}
      >
        <Shell opened={opened}>{children}</Shell>
      </Prefetched>
    </Providers>
  )
}
