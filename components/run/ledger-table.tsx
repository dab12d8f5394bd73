'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { cx } from '@/components/ui/cx'
import { Table, Td, Th } from '@/components/ui/table'
import type { Verification } from '@/lib/ui/ledger-verify'
import { shortId } from '@/lib/ui/short-id'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { LedgerRow } from '@/lib/view/visit-view'
import { standingOf, TokenMark } from './token-mark'
import { clockMs } from './token-time'
import { Who } from './who'

/** Px, as every table's. */
const rowHeights = { desk: 32, phone: 48 }
const wideOnly = 'max-md:hidden'
/** What is the same length in every row and read by few; the token itself has it too. */
const veryWideOnly = 'max-[1599px]:hidden'

/**
 * Every token of the run, in ledger order; only rows in sight are in the page. Follows the run while at its end, and the
 * moment the page looks back to: a line across the table, under which everything is still to come.
 */
export function LedgerTable({
  rows,
  labelOf,
  selected,
  at,
  node,
  verification,
  onOpen,
}: {
  rows: readonly LedgerRow[]
  labelOf: (node: string) => string
  selected: number | undefined
  /** The token the page stands at, when it looks back: what came after it is greyed. */
  at: number | undefined
  node: string | undefined
  verification: Verification
  onOpen: (row: LedgerRow) => void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const rowHeight = useSmallScreen() ? rowHeights.phone : rowHeights.desk
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height lie elsewhere
  useEffect(() => virtual.measure(), [rowHeight])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new row is the reason to look
  useEffect(() => {
    if (atEnd.current && selected === undefined && at === undefined) virtual.scrollToIndex(rows.length - 1)
  }, [rows.length])
  useEffect(() => {
    if (at !== undefined) virtual.scrollToIndex(at - 1, { align: 'auto' })
  }, [at, virtual])
  useEffect(() => {
    if (selected !== undefined) virtual.scrollToIndex(selected - 1, { align: 'auto' })
  }, [selected, virtual])

  const shown = virtual.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const step = (row: LedgerRow, event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const next = by === 0 ? undefined : rows[row.seq - 1 + by]
    if (!next) return
    event.preventDefault()
    onOpen(next)
    requestAnimationFrame(() => document.getElementById(`token-${next.seq}`)?.focus())
  }

  return (
    <div
      ref={scroller}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
        atEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight
      }}
      className="h-full overflow-auto"
    >
      <Table aria-label="Ledger" aria-rowcount={rows.length + 1} className="table-fixed">
        <thead>
          <tr>
            <Th className="w-10">
              <span className="sr-only">Verified</span>
            </Th>
            <Th numeric className="w-16">
              Token
            </Th>
            <Th className="md:w-[34%]">Act</Th>
            <Th className={wideOnly}>Step</Th>
            <Th className={cx('w-36', wideOnly)}>Who</Th>
            <Th className="w-28">Time</Th>
            <Th className={cx('w-28', veryWideOnly)}>Id</Th>
            <Th className={cx('w-28', veryWideOnly)}>Entry hash</Th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map((item) => {
            const row = rows[item.index] as LedgerRow
            return (
              <Row
                key={row.seq}
                row={row}
                label={stepOf(row, labelOf)}
                selected={row.seq === selected}
                near={row.node !== undefined && row.node === node}
                place={at === undefined || row.seq < at ? 'past' : row.seq === at ? 'here' : 'later'}
                verification={verification}
                onOpen={onOpen}
                onKey={step}
              />
            )
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </Table>
    </div>
  )
}

/** The step a token speaks of, with its visit where the run came there again. */
function stepOf({ node, visit = 1 }: LedgerRow, labelOf: (node: string) => string): string {
  if (node === undefined) return ''
  return visit > 1 ? `${labelOf(node)}, visit ${visit}` : labelOf(node)
}

/** Added to what is read out of a row. */
const placeWords = { past: '', here: ', the moment shown', later: ', after the moment shown' }

function Row({
  row,
  label,
  selected,
  near,
  place,
  verification,
  onOpen,
  onKey,
}: {
  row: LedgerRow
  label: string
  selected: boolean
  /** It speaks of the step that is selected. */
  near: boolean
  /** Before the moment the page stands at, its own token, or after it. */
  place: 'past' | 'here' | 'later'
  verification: Verification
  onOpen: (row: LedgerRow) => void
  onKey: (row: LedgerRow, event: KeyboardEvent) => void
}) {
  const cell = 'mono truncate'
  return (
    <tr
      aria-rowindex={row.seq + 1}
      onClick={() => onOpen(row)}
      className={cx(
        'cursor-default hover:bg-hover',
        selected && 'bg-selected shadow-[inset_2px_0_0_var(--ink)]',
        near && !selected && 'bg-canvas',
        place === 'here' && '[&>td]:border-b-ink',
        place === 'later' && 'text-ink-3 [&_*]:text-ink-3! [&_svg]:text-line-strong!',
      )}
      data-place={place}
    >
      <Td>
        <TokenMark standing={standingOf(row.seq, verification)} />
      </Td>
      <Td numeric>
        <button
          type="button"
          id={`token-${row.seq}`}
          aria-pressed={selected}
          aria-label={`Open token ${row.seq}, ${row.words ?? row.act}${placeWords[place]}`}
          onKeyDown={(event) => onKey(row, event)}
          className="num w-full text-right text-ink-3"
        >
          {row.seq}
        </button>
      </Td>
      <Td>
        <div className="flex min-w-0 items-baseline gap-2">
          <span className={cx('truncate', row.words ? 'md:shrink-0' : 'mono')}>{row.words ?? row.act}</span>
          {row.words && (
            <span className={cx('mono min-w-0 truncate text-t1 text-ink-3', wideOnly)} title={row.act}>
              {row.act}
            </span>
          )}
        </div>
        <div className="truncate text-t1 text-ink-3 md:hidden">
          <Who id={row.who} />
        </div>
      </Td>
      <Td className={cx('truncate text-ink-2', wideOnly)}>{label}</Td>
      <Td className={cx('truncate', wideOnly)}>
        <Who id={row.who} />
      </Td>
      <Td className={cell}>{clockMs(row.at)}</Td>
      <Td className={cx(cell, 'text-ink-3', veryWideOnly)}>{shortId(row.jti)}</Td>
      <Td className={cx(cell, 'text-ink-3', veryWideOnly)}>{shortId(row.hash)}</Td>
    </tr>
  )
}
