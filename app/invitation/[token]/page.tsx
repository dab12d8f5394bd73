import type { Metadata } from 'next'
import Link from 'next/link'
import { EntryFrame } from '@/components/sign-in/entry-frame'
import { InvitationForm } from '@/components/sign-in/invitation-form'
import { buttonClass } from '@/components/ui/button'
import { invitationHours, invitationState } from '@/lib/auth/invitations'
import { minPasswordLength } from '@/lib/auth/passwords'
import { installation } from '@/lib/server/current'

export const metadata: Metadata = { title: 'Invitation', robots: { index: false } }

/** Looking at the link changes nothing: previews in chats and mail look too. */
export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params
  const { auth } = await installation()
  const { state, name } = await invitationState(auth, token)
  if (state === 'open' && name !== undefined) {
    return (
      <EntryFrame title={`Choose a password, ${name}`}>
        <p className="mb-6 text-ink-2">You sign in with it from now on. This link works once.</p>
        <InvitationForm token={token} name={name} minPasswordLength={minPasswordLength} />
      </EntryFrame>
    )
  }
  if (state === 'used') {
    return (
      <EntryFrame title="This link was used already">
        <p className="mb-6 text-ink-2">
          Sign in with the password that was chosen. If it was not you who chose it, tell an administrator.
        </p>
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
          ? `One-time links work for ${invitationHours} hours. `
          : 'It may be cut off, or a newer one was made. '}
        Ask an administrator for a new link.
      </p>
    </EntryFrame>
  )
}
