/*
 * Invitations. An administrator adds a person, or helps one who has forgotten a password, with a one-time link; whoever
 * opens it chooses a password that no administrator ever sees. Opening it changes nothing, only choosing does. Only the
 * newest link of a person works, for three days, once; the store keeps its hash.
 *
 * A new link takes nothing away: until it is used, the present password goes on working. Using it ends every session.
 */
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { LinkState } from '@/lib/store/person-records'
import { clearAttempts } from './attempts'
import type { AuthContext } from './auth-context'
import { newLinkToken } from './one-time-link'
import { checkPassword, hashPassword } from './passwords'

/** Over a weekend. */
export const invitationHours = 72

export interface Invitation {
  /** `http://localhost:3000/invitation/…`: given out here and never again. */
  link: string
  /** ms since the epoch. */
  expiresAt: number
}

/** Makes a person's link; the one before works no more. Throws Problem `not_found`, `account_disabled`. */
export async function invite(context: AuthContext, personId: string): Promise<Invitation> {
  const person = await context.people.person(personId)
  if (person?.disabledAt !== undefined) {
    throw new Problem(
      'account_disabled',
      `${person.name} is disabled, so a link would not let them in; enable the account first.`,
    )
  }
  const { token, hash } = newLinkToken()
  const expiresAt = context.clock.now() + invitationHours * 3_600_000
  await context.people.putInvitation(hash, personId, expiresAt)
  return { link: `${context.publicOrigin}/invitation/${token}`, expiresAt }
}

/** What the link is good for now, and for whom. Changes nothing. */
export async function invitationState(
  context: AuthContext,
  token: string,
): Promise<{ state: LinkState; name?: string }> {
  const { state, person } = await context.people.invitation(sha256(token), context.clock.now())
  return { state, ...(person && { name: person.name }) }
}

/**
 * Uses the link: the person has this password from now on. Throws Problem `link_used` (used, replaced or run out),
 * `password_weak`. A refusal leaves the link as it was.
 */
export async function useInvitation(
  context: AuthContext,
  token: string,
  chosen: { password: string },
): Promise<{ name: string }> {
  // Looked at before the hashing, so that a stranger's guesses cost us nothing.
  const { state, name } = await invitationState(context, token)
  if (state !== 'open' || name === undefined) throw linkUsed()
  checkPassword(chosen.password, name)
  const passwordHash = await hashPassword(chosen.password)
  if (!(await context.people.useInvitation(sha256(token), passwordHash, context.clock.now())))
    throw linkUsed()
  // Whoever forgot a password has tried it; they shall not wait now that they have one.
  await clearAttempts(context.people, name)
  return { name }
}

function linkUsed(): Problem {
  return new Problem(
    'link_used',
    'This invitation was used already, has run out, or was replaced by a newer one; sign in, or ask an administrator for a new link.',
  )
}
