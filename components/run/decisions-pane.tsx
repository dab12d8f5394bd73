'use client'
import { useMemo } from 'react'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import { absoluteTime } from '@/lib/ui/format-time'
import { decisionsOf } from '@/lib/view/decisions'
import type { RunFold } from '@/lib/view/run-fold'
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
