/*
 * The first administrator. While there is none, every start of the server prints a fresh one-time link; whoever opens it
 * chooses a name and a password. Opening it changes nothing, only choosing does. Only the newest link works, for a day,
 * once; the store keeps its hash.
 */
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { LinkState } from '@/lib/store/person-records'
import { accountName } from './account-name'
import type { AuthContext } from './auth-context'
import { newLinkToken } from './one-time-link'
import { checkPassword, hashPassword } from './passwords'

export const firstRunLinkHours = 24

/** The link to print, `http://localhost:3000/first-run/…`, while no administrator exists; else nothing. */
export async function firstRunLink(context: AuthContext): Promise<string | undefined> {
  if (await context.people.hasAdministrator()) return undefined
  const { token, hash } = newLinkToken()
  await context.people.putLink(hash, context.clock.now() + firstRunLinkHours * 3_600_000)
  return `${context.publicOrigin}/first-run/${token}`
}

/** What the link is good for now. Changes nothing. */
export function firstRunLinkState(context: AuthContext, token: string): Promise<LinkState> {
  return context.people.link(sha256(token), context.clock.now())
}

/**
 * Uses the link: makes the administrator. Throws Problem `link_used` (used, replaced or run out), `password_weak`,
 * `bad_request` (the name). A refusal leaves the link as it was.
 */
export async function useFirstRunLink(
  context: AuthContext,
  token: string,
  chosen: { name: string; password: string },
): Promise<{ name: string }> {
  const name = accountName(chosen.name)
  checkPassword(chosen.password, name)
  // Looked at before the hashing, so that a stranger's guesses cost us nothing.
  if ((await firstRunLinkState(context, token)) !== 'open') throw linkUsed()
  const passwordHash = await hashPassword(chosen.password)
  const person = {
    id: mintUuid(),
    name,
    passwordHash,
    roles: ['administrator'],
    createdAt: context.clock.now(),
  }
  if (!(await context.people.useLink(sha256(token), person))) throw linkUsed()
  return { name }
}

function linkUsed(): Problem {
  return new Problem(
    'link_used',
    'This one-time link was used already, has run out, or was replaced by a newer one; sign in, or restart the server to get a new link.',
  )
}
