'use client'
import { ChevronLeft } from 'lucide-react'
import { IconButton } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { StateShape } from '@/components/ui/state'
import { clockTime, count } from '@/lib/ui/format-time'
import { shortId } from '@/lib/ui/short-id'
import type { CausalChain, CausalLink } from '@/lib/view/timeline/terms'
import type { LedgerRow } from '@/lib/view/visit-view'

/** Links that are listed; a longer way is told by its two ends. */
const mostListed = 200

/** What led to a failure: the tokens on the way from it to its root, the failure first. A click goes to that moment. */
export function CausePanel({
  chain,
  rows,
  labelOf,
  at,
  onGo,
  onBack,
}: {
  chain: CausalChain
  rows: readonly LedgerRow[]
  labelOf: (node: string) => string
  /** The token the page stands at, when it looks back. */
  at: number | undefined
  onGo: (link: CausalLink) => void
  onBack: () => void
}) {
  const { links, root, elsewhere } = chain
  const left = Math.max(0, links.length - mostListed)
  const listed = left === 0 ? links : [...links.slice(0, mostListed / 2), ...links.slice(-mostListed / 2)]
  return (
    <aside aria-label="What led here" className="flex min-h-0 min-w-0 flex-col overflow-y-auto max-md:flex-1">
      <div className="flex min-h-10 shrink-0 items-center gap-2 border-b pl-2 pr-4">
        <IconButton label="Back to the step" onClick={onBack}>
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
        <h2>What led here</h2>
        <span className="text-ink-3">{count(links.length, 'token')}</span>
      </div>
      <p className="px-4 pb-2 pt-3 text-ink-2">{summary(chain, rows, labelOf)}</p>
      <ol className="border-t">
        {listed.map((link, index) => (
          <li key={link.seq}>
            {left > 0 && index === mostListed / 2 && (
              <p className="border-b px-4 py-2 text-ink-3">{count(left, 'token')} between</p>
            )}
            <button
              type="button"
              aria-current={link.seq === at ? 'step' : undefined}
              onClick={() => onGo(link)}
              className={cx(
                'ring-inside flex min-h-11 w-full items-start gap-2 border-b px-4 py-2 text-left hover:bg-hover max-md:min-h-12',
                link.seq === at && 'bg-selected shadow-[inset_2px_0_0_var(--ink)]',
              )}
            >
              <span className="mt-0.5">
                <StateShape state={link.isError ? 'failed' : link.by === 'before' ? 'done' : 'pending'} />
              </span>
              <span className="min-w-0 flex-1">
                <span className="block">
                  {link.node === undefined ? '' : `${labelOf(link.node)}: `}
                  {link.words}
                </span>
                <span className="block text-t1 text-ink-3">{linkWords(link, root)}</span>
              </span>
              <span className="num shrink-0 text-right text-ink-3">
                {link.seq}
                <br />
                {clockTime(rows[link.seq - 1]?.at ?? 0)}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {elsewhere.length > 0 && (
        <p className="px-4 py-3 text-ink-3">
          It goes on in another run, whose {elsewhere.length === 1 ? 'token is' : 'tokens are'}{' '}
          <span className="mono">{elsewhere.slice(0, 3).map(shortId).join(', ')}</span>
          {elsewhere.length > 3 && ` and ${elsewhere.length - 3} more`}.
        </p>
      )}
    </aside>
  )
}

function summary(
  { links, root }: CausalChain,
  rows: readonly LedgerRow[],
  labelOf: (node: string) => string,
) {
  const first = rows[root - 1]
  if (links.length <= 1) return 'Nothing in this run led here: it began with this very token.'
  if (links.some(({ by }) => by === 'before')) {
    return 'No failure led here. These steps were done before it; what they changed may be why.'
  }
  if (!first) return ''
  const where = first.node === undefined ? '' : ` at ${labelOf(first.node)}`
  return `It began${where}: ${first.words ?? first.act}, token ${root}.`
}

function linkWords({ by, seq }: CausalLink, root: number): string {
  if (by === 'symptom') return seq === root ? 'what is seen, and where it began' : 'what is seen'
  if (by === 'before') return 'done before it'
  const how = by === 'upstream' ? 'named as its cause' : 'what that followed'
  return seq === root ? `${how}; where it began` : how
}
