import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { EntryFrame } from '@/components/sign-in/entry-frame'
import { SignInForm } from '@/components/sign-in/sign-in-form'
import type { AuthContext } from '@/lib/auth/auth-context'
import { personOfCookie, sessionCookieName } from '@/lib/auth/sessions'
import { safeNext, signInWords } from '@/lib/auth/sign-in-words'
import { isProblem } from '@/lib/base/problem'
import { installation } from '@/lib/server/current'

export const metadata: Metadata = { title: 'Sign in' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function SignInPage({ searchParams }: Props) {
  const { callbackUrl, error } = await searchParams
  const next = safeNext(typeof callbackUrl === 'string' ? callbackUrl : null)
  const { auth, opened } = await installation()
  const session = await sessionNow(auth)
  if (session === 'good') redirect(next)
  if (opened) return <ByTheLink file={opened.file} />
  if (!(await auth.people.hasAdministrator())) return <NobodyYet />
  const told = typeof error === 'string' ? error : session === 'ended' ? 'session_ended' : undefined
  return (
    <EntryFrame title="Sign in">
      <SignInForm next={next} notice={told === undefined ? undefined : signInWords(told)} />
    </EntryFrame>
  )
}

async function sessionNow(auth: AuthContext): Promise<'none' | 'good' | 'ended'> {
  const cookie = (await cookies()).get(sessionCookieName(auth))?.value
  try {
    return (await personOfCookie(auth, cookie)) ? 'good' : 'none'
  } catch (error) {
    if (isProblem(error, 'session_ended')) return 'ended'
    throw error
  }
}

function ByTheLink({ file }: { file: string }) {
  return (
    <EntryFrame title="This console shows a bundle">
      <p className="text-ink-2">
        It shows {file}, read-only. Open it with the link that the terminal printed; nobody signs in here.
      </p>
    </EntryFrame>
  )
}

function NobodyYet() {
  return (
    <EntryFrame title="No one has an account yet">
      <p className="text-ink-2">
        The terminal that started Holdpoint shows a one-time link. Open it to become the first administrator.
        Starting Holdpoint again prints a new link.
      </p>
    </EntryFrame>
  )
}
