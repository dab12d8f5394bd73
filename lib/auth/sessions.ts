/*
 * Sessions. The cookie is next-auth's encrypted token and carries only the session's id; what counts is the row, which
 * is looked at on every request. So signing out, disabling an account and changing a password hold at once.
 */
import { decode } from 'next-auth/jwt'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { AuthContext } from './auth-context'
import type { PersonPrincipal } from './principal'

/** True when browsers talk https to this installation. */
export function isSecure(context: Pick<AuthContext, 'publicOrigin'>): boolean {
  return context.publicOrigin.startsWith('https:')
}

/** `__Host-`: browsers take it only over https, for this host, and from nobody else. */
export function sessionCookieName(context: Pick<AuthContext, 'publicOrigin' | 'sessionCookie'>): string {
  return context.sessionCookie ?? `${isSecure(context) ? '__Host-' : ''}holdpoint.session`
}

/** The person whose session cookie the request carries; nothing without a cookie. Throws Problem `session_ended`. */
export async function personOf(context: AuthContext, request: Request): Promise<PersonPrincipal | undefined> {
  return personOfCookie(context, cookieOf(request.headers.get('cookie'), sessionCookieName(context)))
}

/** The same from the cookie's value, for pages: `(await cookies()).get(sessionCookieName(context))?.value`. */
export async function personOfCookie(
  context: AuthContext,
  cookie: string | undefined,
): Promise<PersonPrincipal | undefined> {
  if (cookie === undefined || cookie === '') return undefined
  const sessionId = await sessionIdOf(context, cookie)
  const found = sessionId === undefined ? undefined : await context.people.session(sha256(sessionId))
  if (!found) throw ended('is not known here')
  const { session, person } = found
  if (session.endedAt !== undefined) throw ended('was ended')
  if (session.expiresAt <= context.clock.now()) throw ended('has run out')
  if (person.disabledAt !== undefined) throw ended('belongs to an account that was disabled')
  return { kind: 'person', id: person.id, name: person.name, roles: person.roles, session: session.hash }
}

/** The session id that a cookie of ours carries. */
async function sessionIdOf(context: AuthContext, cookie: string): Promise<string | undefined> {
  try {
    const token = await decode({ token: cookie, secret: context.sessionSecret })
    return typeof token?.sid === 'string' ? token.sid : undefined
  } catch {
    // Not ours, cut, or older than its own expiry: no session either way.
    return undefined
  }
}

function ended(how: string): Problem {
  return new Problem('session_ended', `This session ${how}; sign in again.`)
}

/** The first cookie of that name in a Cookie header. */
function cookieOf(header: string | null, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim()
  }
  return undefined
}
