import { VerifiedIcon } from '@/components/ui/icons'
import { StateShape } from '@/components/ui/state'
import type { Verification } from '@/lib/ui/ledger-verify'

export type TokenStanding = 'verified' | 'broken' | 'unchecked'

/** Whether a token holds, as far as this browser has looked. */
export function standingOf(seq: number, verification: Verification): TokenStanding {
  if (verification.status !== 'checked') return 'unchecked'
  const { verdict } = verification
  if (!verdict.holds && seq === verdict.failure.seq) return 'broken'
  return seq <= verdict.tokens ? 'verified' : 'unchecked'
}

const words = {
  verified: 'verified in this browser',
  broken: 'does not hold',
  unchecked: 'not checked yet',
}

/** The mark in front of a token: shield with a tick, cross, or a hollow ring. */
export function TokenMark({ standing }: { standing: TokenStanding }) {
  return (
    <span title={words[standing]} className="inline-flex align-middle">
      {standing === 'verified' ? (
        <VerifiedIcon className="text-done-mark" />
      ) : (
        <StateShape state={standing === 'broken' ? 'failed' : 'pending'} />
      )}
      <span className="sr-only">{words[standing]}</span>
    </span>
  )
}
