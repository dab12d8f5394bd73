/*
 * next-auth, narrowed to what Holdpoint uses: one Credentials provider, an encrypted cookie that carries a session id,
 * and our own pages. next-auth keeps no account and no session; sign-in.ts and sessions.ts do.
 */
import type { AuthOptions } from 'next-auth'
import credentials from 'next-auth/providers/credentials'
import { sha256 } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import type { AuthContext } from './auth-context'
import { isSecure, sessionCookieName } from './sessions'
import { sessionSeconds, signIn } from './sign-in'

export interface SignInOrigin {
  address?: string
  userAgent: string
  /** The origin of the page that asks, which was checked to be ours; the public one unless said. */
  pageOrigin?: string
  /** Told what went wrong that was no refusal. */
  onFailure(error: unknown): void
}

/** Options for one request: where it came from goes into limits and the session's row. */
export function nextAuthOptions(context: AuthContext, origin: SignInOrigin): AuthOptions {
  const secure = isSecure(context)
  // Lax, not strict: a link in a chat to an approval must open it signed in. Writes are guarded by their origin instead.
  const options = { httpOnly: true, sameSite: 'lax' as const, path: '/', secure }
  const host = secure ? '__Host-' : ''
  return {
    secret: context.sessionSecret,
    useSecureCookies: secure,
    session: { strategy: 'jwt', maxAge: sessionSeconds },
    pages: { signIn: '/sign-in', signOut: '/sign-in', error: '/sign-in' },
    cookies: {
      sessionToken: { name: sessionCookieName(context), options },
      csrfToken: { name: `${host}holdpoint.csrf`, options },
      callbackUrl: { name: `${host}holdpoint.callback`, options },
    },
    logger: {
      error: (code, metadata) =>
        origin.onFailure(metadata instanceof Error ? metadata : new Error(`next-auth: ${code}`)),
      warn: () => undefined,
      debug: () => undefined,
    },
    providers: [
      credentials({
        credentials: { name: {}, password: {} },
        authorize: (given) => authorize(context, origin, given),
      }),
    ],
    callbacks: {
      redirect: ({ url }) => withinConsole(url, origin.pageOrigin ?? context.publicOrigin),
      jwt: ({ token, user }) => (user ? { sub: user.id, sid: (user as { sid?: string }).sid } : token),
    },
    events: {
      signOut: async ({ token }) => {
        if (typeof token?.sid === 'string')
          await context.people.endSession(sha256(token.sid), context.clock.now())
      },
    },
  }
}

/** The address if it lies within the console, as the page's browser knows it; else the overview. */
function withinConsole(url: string, origin: string): string {
  const target = URL.canParse(url, origin) ? new URL(url, origin) : undefined
  return target?.origin === origin ? target.href : origin
}

async function authorize(
  context: AuthContext,
  origin: SignInOrigin,
  given: Record<string, unknown> | undefined,
) {
  const { name, password } = given ?? {}
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  try {
    const signedIn = await signIn(context, { ...origin, name: text(name), password: text(password) })
    return { id: signedIn.person.id, name: signedIn.person.name, sid: signedIn.sessionId }
  } catch (error) {
    // next-auth passes an error's message on to the browser, so it gets a code and nothing else.
    if (!isProblem(error)) origin.onFailure(error)
    throw new Error(isProblem(error) ? signInErrorCode(error.code, error.data.retryAfterS) : 'internal')
  }
}

/** `too_many_attempts:30`: a refusal as it travels to the sign-in page (sign-in-words.ts reads it). */
function signInErrorCode(code: string, retryAfterS: unknown): string {
  return typeof retryAfterS === 'number' ? `${code}:${retryAfterS}` : code
}
