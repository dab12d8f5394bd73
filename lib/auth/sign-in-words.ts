/** What the sign-in page says for the code that next-auth brings back (next-auth-options.ts). Safe for browsers. */
export function signInWords(error: string): string {
  const [code, seconds] = error.split(':')
  switch (code) {
    case 'too_many_attempts':
      return `Too many attempts to sign in. Try again in ${Number(seconds) || 5} s.`
    case 'sign_in_failed':
    case 'CredentialsSignin':
      return 'This name and password do not go together, or the account is disabled. Check both, or ask an administrator.'
    case 'session_ended':
      return 'Your session has ended. Sign in again.'
    default:
      return 'Holdpoint could not sign you in. The server’s log has the cause; try again in a moment.'
  }
}

/** A path of this console to go to after signing in; anything that could lead elsewhere becomes the overview. */
export function safeNext(next: string | null | undefined): string {
  return next && /^\/(?![/\\])[^\\\s]*$/.test(next) && !next.startsWith('/sign-in') ? next : '/'
}
