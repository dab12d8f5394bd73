'use client'
import { cx } from '@/components/ui/cx'
import type { Verification } from '@/lib/ui/ledger-verify'
import { shortId } from '@/lib/ui/short-id'
import type { LedgerRow } from '@/lib/view/visit-view'
import { standingOf, TokenMark } from './token-mark'
import { clockMs } from './token-time'

/** A visit's tokens in ledger order, each with its mark; a click opens it. */
export function TokenList({
  rows,
  verification,
  onOpen,
}: {
  rows: readonly LedgerRow[]
  verification: Verification
  onOpen: (seq: number) => void
}) {
  if (rows.length === 0) {
    return <p className="px-4 py-3 text-ink-3">No token speaks of this step yet.</p>
  }
  return (
    <>
      <ul>
        {rows.map((row) => (
          <li key={row.seq}>
            <button
              type="button"
              onClick={() => onOpen(row.seq)}
              className={cx(
                'ring-inside mono grid h-7 w-full grid-cols-[16px_minmax(0,1fr)_auto_auto] items-center gap-x-2 border-b px-4 text-left hover:bg-hover max-md:h-11',
              )}
            >
              <TokenMark standing={standingOf(row.seq, verification)} />
              <span className="truncate" title={row.act}>
                {row.act}
              </span>
              <span className="text-ink-3">{shortId(row.jti)}</span>
              <span>{clockMs(row.at)}</span>
            </button>
          </li>
        ))}
      </ul>
      <p className="px-4 py-3 text-t1 text-ink-3">{said(rows, verification)}</p>
    </>
  )
}

function said(rows: readonly LedgerRow[], verification: Verification): string {
  const verified = rows.filter((row) => standingOf(row.seq, verification) === 'verified').length
  const of = `${verified} of ${rows.length} signatures verified in this browser`
  if (verification.status !== 'checked') return 'Not verified in this browser yet.'
  if (!verification.verdict.holds)
    return `${of}. Token ${verification.verdict.failure.seq} of the run does not hold.`
  return `${of} against key ${verification.verdict.kids.join(', ')}. Chain unbroken from token 1.`
}
