import type { Metadata } from 'next'
import Link from 'next/link'
import { EntryFrame } from '@/components/sign-in/entry-frame'
import { FirstRunForm } from '@/components/sign-in/first-run-form'
import { buttonClass } from '@/components/ui/button'
import { firstRunLinkState } from '@/lib/auth/first-run'
import { minPasswordLength } from '@/lib/auth/passwords'
import { installation } from '@/lib/server/current'

export const metadata: Metadata = { title: 'First administrator', robots: { index: false } }

/** Looking at the link changes nothing: previews in chats and mail look too. */
export default async function FirstRunPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params
  const { auth } = await installation()
  const state = await firstRunLinkState(auth, token)
  if (state === 'open') {
    return (
      <EntryFrame title="Become the first administrator">
        <p className="mb-6 text-ink-2">
          Choose how you sign in. You can add other people afterwards. This link works once.
        </p>
        <FirstRunForm token={token} minPasswordLength={minPasswordLength} />
      </EntryFrame>
    )
  }
  if (state === 'used') {
    return (
      <EntryFrame title="This link was used already">
        <p className="mb-6 text-ink-2">An administrator exists. Sign in, or ask them for an account.</p>
        <Link href="/sign-in" className={buttonClass('primary')}>
          Sign in
        </Link>
      </EntryFrame>
    )
  }
  return (
    <EntryFrame title={state === 'expired' ? 'This link has run out' : 'This link does not work'}>
      <p className="text-ink-2">
        {state === 'expired'
          ? 'One-time links work for 24 hours. '
          : 'It may be cut off, or a newer one was printed. '}
        Start Holdpoint again to get a new link in its terminal.
      </p>
    </EntryFrame>
  )
}
