import { dehydrate, HydrationBoundary, QueryClient, type QueryKey } from '@tanstack/react-query'
import { cookies } from 'next/headers'
import { notFound } from 'next/navigation'
import { cache, type ReactNode } from 'react'
import { holds, type PersonPrincipal } from '@/lib/auth/principal'
import { personOfCookie, sessionCookieName } from '@/lib/auth/sessions'
import { isProblem } from '@/lib/base/problem'
import { installation } from '@/lib/server/current'
import type { Installation } from '@/lib/server/installation'

/** An answer of the API and the key it is kept under (lib/ui/keys.ts). */
export type FirstAnswer = [key: QueryKey, data: unknown]

/** The signed-in person; nothing for a stranger. Asked once for a page and its layout. */
export const signedIn = cache(async (): Promise<PersonPrincipal | undefined> => {
  const { auth } = await installation()
  const cookie = (await cookies()).get(sessionCookieName(auth))?.value
  return personOfCookie(auth, cookie).catch(() => undefined)
})

/**
 * A page with its first answers in it, so that it needs no second journey to show them. They are made by the functions
 * that answer the API; one that fails is left out, and the browser asks for it and says why it cannot be had. Where the
 * page is about one thing, the first answer is that thing: when there is none, the page is the not-found page beside it.
 */
export async function Prefetched({
  aboutFirst = false,
  read,
  children,
}: {
  aboutFirst?: boolean
  read: (installation: Installation, person: PersonPrincipal) => Promise<FirstAnswer>[]
  children: ReactNode
}) {
  const person = await signedIn()
  // The API shows nothing to whoever holds no role, and says so; nor does a page.
  if (!person || !holds(person, 'viewer')) return children
  const client = new QueryClient()
  const answers = await Promise.allSettled(read(await installation(), person))
  const [first] = answers
  if (aboutFirst && first?.status === 'rejected' && isProblem(first.reason, 'not_found')) notFound()
  for (const answer of answers) {
    // Through JSON, as it would have come: what is undefined is absent.
    if (answer.status === 'fulfilled')
      client.setQueryData(answer.value[0], JSON.parse(JSON.stringify(answer.value[1])))
  }
  return <HydrationBoundary state={dehydrate(client)}>{children}</HydrationBoundary>
}

/** The first page of a list that grows by pages. */
export function firstPage<T>(page: T): { pages: T[]; pageParams: [null] } {
  return { pages: [page], pageParams: [null] }
}
