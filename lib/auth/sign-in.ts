/*
 * Signing in: a name and a password for a session. One sentence for every way to fail, and the same work behind each.
 */
import { randomBytes } from 'node:crypto'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { PersonRecord } from '@/lib/store/person-records'
import { normalName } from './account-name'
import { beginAttempt } from './attempts'
import type { AuthContext } from './auth-context'
import { verifyPassword } from './passwords'

/** A week: someone on call is not signed out in the middle of a night, and a lost laptop is not signed in for long. */
export const sessionSeconds = 7 * 86_400

export interface SignInRequest {
  name: string
  password: string
  /** Where it comes from; left out when nobody knows. */
  address?: string
  /** What the browser says of itself. */
  userAgent: string
}

export interface SignedIn {
  person: PersonRecord
  /** The session's id. Travels in the encrypted cookie and is stored only as a hash. */
  sessionId: string
}

/** Throws Problem `sign_in_failed`, `too_many_attempts`. */
export async function signIn(context: AuthContext, request: SignInRequest): Promise<SignedIn> {
  const { people, clock } = context
  const name = normalName(request.name)
  const attempt = await beginAttempt(people, name, request.address, clock.now())
  const found = await people.credentials(name)
  const right = await verifyPassword(request.password, found?.passwordHash)
  if (!found || !right || found.person.disabledAt !== undefined) throw failed()
  await attempt.succeeded()
  const now = clock.now()
  const sessionId = randomBytes(32).toString('base64url')
  await people.addSession({
    hash: sha256(sessionId),
    personId: found.person.id,
    createdAt: now,
    expiresAt: now + sessionSeconds * 1_000,
    address: request.address ?? '',
    agent: request.userAgent.slice(0, 200),
  })
  return { person: found.person, sessionId }
}

function failed(): Problem {
  return new Problem(
    'sign_in_failed',
    'This name and password do not go together, or the account is disabled; check both, or ask an administrator.',
  )
}
