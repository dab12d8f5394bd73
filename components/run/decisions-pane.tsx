'use client'
import { useMemo } from 'react'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import type { Fact } from '@/lib/engine/facts'
import { absoluteTime } from '@/lib/ui/format-time'
import type { RunFold } from '@/lib/view/run-fold'
import type { LedgerRow } from '@/lib/view/visit-view'
import { clockMs } from './token-time'
import { Who } from './who'

/** What people were asked and what they did, oldest first. A click goes to that moment of the run. */
export function DecisionsPane({
  fold,
  at,
  labelOf,
  onGo,
}: {
  fold: RunFold
  /** The token the page stands at, when it looks back: what came after it is greyed. */
  at: number | undefined
  labelOf: (node: string) => string
  onGo: (seq: number) => void
}) {
  const { seq } = fold
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ledger grows in place, `seq` says so
  const rows = useMemo(() => decisionsOf(fold), [fold, seq])
  if (rows.length === 0) {
    return (
      <div className="flex h-full flex-col">
        <EmptyState title="Nobody was asked, and nobody stepped in">
          What people decide, comment, pause or take back stands here with their names.
        </EmptyState>
      </div>
    )
  }
  return (
    <TableScroll className="h-full">
      <Table aria-label="Decisions">
        <thead>
          <tr>
            <Th numeric className="w-16">
              Token
            </Th>
            <Th>Act</Th>
            <Th className="max-md:hidden">Step</Th>
            <Th>Who</Th>
            <Th className="w-28">Time</Th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, words, comment }) => {
            const later = at !== undefined && row.seq > at
            return (
              <tr
                key={row.seq}
                onClick={() => onGo(row.seq)}
                className={cx(
                  'cursor-default hover:bg-hover',
                  row.seq === at && 'bg-selected shadow-[inset_2px_0_0_var(--ink)]',
                  later && 'text-ink-3',
                )}
              >
                <Td numeric>
                  <button
                    type="button"
                    className="num w-full text-right text-ink-3"
                    aria-label={`Show the run at token ${row.seq}, ${words}`}
                    onClick={(event) => {
                      event.stopPropagation()
                      onGo(row.seq)
                    }}
                  >
                    {row.seq}
                  </button>
                </Td>
                <Td className="max-w-0 truncate md:w-1/2" title={comment}>
                  {words}
                  {comment && <span className="text-ink-3"> “{comment}”</span>}
                </Td>
                <Td className="truncate max-md:hidden">{row.node === undefined ? '' : labelOf(row.node)}</Td>
                <Td>
                  <Who id={row.who} />
                </Td>
                <Td className="mono" title={absoluteTime(row.at)}>
                  {clockMs(row.at)}
                </Td>
              </tr>
            )
          })}
        </tbody>
      </Table>
    </TableScroll>
  )
}

interface Shown {
  row: LedgerRow
  words: string
  comment: string | undefined
}

/** Newer ones are not looked at beyond this; a run with more is read in its ledger. */
const mostShown = 2_000

function decisionsOf(fold: RunFold): Shown[] {
  const byPeople = new Set(fold.timeline.marks('person').map(({ seq }) => seq))
  const shown: Shown[] = []
  for (const [index, fact] of fold.facts.entries()) {
    const row = fold.rows[index]
    if (!row || !fact || (fact.type !== 'approval_asked' && !byPeople.has(row.seq))) continue
    shown.push({ row, words: wordsOf(row, fact), comment: commentOf(fact) })
    if (shown.length === mostShown) break
  }
  return shown
}

function wordsOf(row: LedgerRow, fact: Fact): string {
  const words = row.words ?? row.act
  if (fact.type === 'approval_asked') return `${words} of ${fact.role}: ${fact.sentence}`
  return words
}

function commentOf(fact: Fact): string | undefined {
  if ('comment' in fact && fact.comment) return fact.comment
  return 'reason' in fact && fact.type !== 'approval_asked' && fact.reason ? fact.reason : undefined
}
