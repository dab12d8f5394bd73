'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, memo, useEffect, useRef } from 'react'
import { Who } from '@/components/run/who'
import { cx } from '@/components/ui/cx'
import { StateShape } from '@/components/ui/state'
import { Table, Td, Th } from '@/components/ui/table'
import { absoluteTime } from '@/lib/ui/format-time'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { TraceRow } from '@/lib/view/artifact-trace'
import type { TraceColumn, TraceView } from '@/lib/view/trace-view'
import { Changed, Position } from './marks'
import { ShortValue } from './short-value-of'
import { entriesWords, firedWords, sinceStart } from './trace-words'

/** Px, as every table's. */
const rowHeights = { desk: 32, phone: 48 }
/** Px: what the columns before and after the artifacts need, and an artifact's least. */
const fixedWidth = 640
const columnWidth = 190
/** Px, the same beside the open values of a row: visit and event stand there. */
const narrowFixedWidth = 380
const narrowColumnWidth = 132
const wideOnly = 'max-md:hidden'
const veryWideOnly = 'max-[1599px]:hidden'

export interface TraceTableProps {
  run: string
  view: TraceView
  labelOf: (node: string) => string
  startedAt: number
  /** Rows by their numbers. */
  a: number | undefined
  b: number | undefined
  cursor: number | undefined
  /** The token the page stands at; rows after it are quieter. */
  at: number | undefined
  /** The column that is compared; the only one on a phone. */
  column: number
  /** The values of a row are open beside the table: it keeps to what tells rows apart. */
  narrow: boolean
  onCursor: (row: number) => void
  onMark: (which: 'a' | 'b', row: number) => void
  onOpen: (row: number, column?: number) => void
}

/** A row for each entry of a node, and what the run knew there. Only rows in sight are in the page. */
export function TraceTable(props: TraceTableProps) {
  const { view, labelOf, cursor, narrow } = props
  const scroller = useRef<HTMLElement>(null)
  const small = useSmallScreen()
  const rowHeight = small ? rowHeights.phone : rowHeights.desk
  const { rows } = view
  const columns = view.columns.map((column, index) => ({ column, index }))
  const shownColumns = small ? columns.filter(({ index }) => index === props.column) : columns
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height lie elsewhere
  useEffect(() => virtual.measure(), [rowHeight])
  useEffect(() => {
    if (cursor !== undefined) virtual.scrollToIndex(cursor - 1, { align: 'auto' })
  }, [cursor, virtual])

  const shown = virtual.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const onKey = (event: KeyboardEvent, number: number) => {
    const to = { ArrowDown: number + 1, ArrowUp: number - 1, Home: 1, End: rows.length }[event.key]
    if (to === undefined || !rows[to - 1]) return
    event.preventDefault()
    event.stopPropagation()
    props.onCursor(to)
    focusRow(to)
  }

  return (
    <section ref={scroller} aria-label="Trace" className="relative min-h-0 overflow-auto">
      <Table
        aria-label={view.hasArtifacts ? 'Artifacts at each transition' : 'Output of each step'}
        aria-rowcount={rows.length + 1}
        className="table-fixed"
        style={small ? undefined : { minWidth: leastWidth(shownColumns.length, narrow) }}
      >
        <thead>
          <tr>
            <Th className="w-[60px] md:w-[68px]">
              <span className="sr-only">Compared</span>
            </Th>
            <Th numeric className={cx('w-14 pl-0!', wideOnly)}>
              #
            </Th>
            <Th className={view.hasArtifacts ? 'md:w-[176px]' : 'md:w-[300px]'}>Transition</Th>
            {!narrow && (
              <>
                <Th className={cx('w-20', wideOnly)}>Visit</Th>
                <Th className={cx('w-[150px]', wideOnly)}>Event</Th>
                <Th className={cx('w-36', veryWideOnly)}>Fired by</Th>
              </>
            )}
            {shownColumns.map(({ column }) => (
              <Th key={column.name} className="truncate pl-[26px]">
                <span className="mono text-ink-2" title={`${column.name}, ${column.mediaType}`}>
                  {column.name}
                </span>
                {column.of === 'artifact' && !narrow && (
                  <span className="ml-2 max-md:hidden">{column.mode}</span>
                )}
              </Th>
            ))}
            <Th numeric className="w-[72px] md:w-20">
              At
            </Th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map((item) => {
            const row = rows[item.index] as TraceRow
            return (
              <Row
                key={row.number}
                {...props}
                row={row}
                label={labelOf(row.transition.node)}
                columns={shownColumns}
                passing={virtual.isScrolling}
                focusable={row.number === (cursor ?? 1)}
                onKey={onKey}
              />
            )
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </Table>
    </section>
  )
}

/** Px: narrower, the table is moved sideways. */
function leastWidth(columns: number, narrow: boolean): number {
  return narrow ? narrowFixedWidth + columns * narrowColumnWidth : fixedWidth + columns * columnWidth
}

const rowId = (number: number) => `trace-row-${number}`

/** Gives a row the focus, once it is drawn. */
export function focusRow(number: number): void {
  requestAnimationFrame(() => document.getElementById(rowId(number))?.focus({ preventScroll: true }))
}

interface RowProps extends TraceTableProps {
  row: TraceRow
  label: string
  columns: { column: TraceColumn; index: number }[]
  /** The table is scrolling: values wait until it rests. */
  passing: boolean
  focusable: boolean
  onKey: (event: KeyboardEvent, number: number) => void
}

function Row(props: RowProps) {
  const { row, label, columns, a, b, cursor, at, startedAt, focusable } = props
  const { number, transition } = row
  const { visit, insteadOf, leftAt } = transition
  const isA = number === a
  const isB = number === b
  const later = at !== undefined && transition.seq > at
  const quiet = later || leftAt !== undefined
  return (
    <tr
      aria-rowindex={number + 1}
      onClick={() => props.onCursor(number)}
      className={cx(
        'group cursor-default',
        isA || isB ? 'bg-selected' : 'hover:bg-hover',
        number === cursor && 'shadow-[inset_2px_0_0_var(--ink)]',
        quiet && '[&_*]:text-ink-3!',
      )}
    >
      <Td className="px-2! pl-3! md:pl-4!">
        <Gutter number={number} isA={isA} isB={isB} onMark={props.onMark} />
      </Td>
      <Td numeric className={cx('pl-0! text-ink-3', wideOnly)}>
        {number.toLocaleString('en')}
      </Td>
      <Td className="truncate">
        <button
          id={rowId(number)}
          type="button"
          tabIndex={focusable ? 0 : -1}
          aria-current={number === cursor || undefined}
          className="ring-inside max-w-full truncate rounded-r1 font-medium"
          title={leftAt === undefined ? label : `${label}: a rollback went back to before it`}
          aria-label={`Row ${number}: ${label}, visit ${visit}. Open its values`}
          onFocus={() => number !== cursor && props.onCursor(number)}
          onKeyDown={(pressed) => props.onKey(pressed, number)}
          onClick={(clicked) => {
            clicked.stopPropagation()
            props.onOpen(number)
          }}
        >
          {leftAt !== undefined && (
            <span className="mr-1 inline-block align-[-3px]">
              <StateShape state="rolled_back" />
            </span>
          )}
          <span aria-hidden="true">→ </span>
          {label}
          {visit > 1 && (
            <span className={cx('num ml-1.5 font-regular text-ink-3', !props.narrow && 'md:hidden')}>
              {visit}
            </span>
          )}
        </button>
        {insteadOf && insteadOf.length > 0 && (
          <span
            className="ml-1.5 text-t1 text-ink-3"
            title={`${insteadOf.join(', ')} may not be entered again`}
          >
            instead of {insteadOf[0]}
          </span>
        )}
      </Td>
      {!props.narrow && <Transition row={row} />}
      {columns.map(({ column, index }) => (
        <Cell key={column.name} {...props} of={column} index={index} />
      ))}
      <Td numeric className="text-ink-3" title={absoluteTime(transition.at)}>
        {sinceStart(transition.at - startedAt)}
      </Td>
    </tr>
  )
}

/** The visit, the event that led to it, and who fired it. */
function Transition({ row: { transition } }: { row: TraceRow }) {
  const { visit, bound, event, firedBy, leftAt } = transition
  return (
    <>
      <Td className={cx('num text-ink-3', wideOnly)}>
        {bound !== undefined ? `${visit} of ${bound}` : visit > 1 ? visit : ''}
      </Td>
      <Td className={cx('truncate text-ink-2', wideOnly)} title={event}>
        {leftAt === undefined
          ? (event ?? (firedBy.by === 'start' ? '(entry)' : ''))
          : `${event ?? ''} taken back`}
      </Td>
      <Td className={cx('truncate text-ink-3', veryWideOnly)}>
        {firedWords(firedBy) ?? ('who' in firedBy && <Who id={firedBy.who} />)}
      </Td>
    </>
  )
}

function Cell({ run, view, row, of, index, passing, onOpen }: RowProps & { of: TraceColumn; index: number }) {
  const value = view.value(row, index)
  return (
    <Td
      className={cx(
        'mono relative truncate pl-[26px]',
        value.changed ? 'font-medium text-ink' : 'text-ink-3',
        value.last && 'cursor-pointer',
      )}
      onClick={(clicked) => {
        clicked.stopPropagation()
        onOpen(row.number, index)
      }}
    >
      {value.changed && <Changed />}
      {!value.last ? (
        <span title="missing">
          <span aria-hidden="true">—</span>
          <span className="sr-only">missing</span>
        </span>
      ) : of.mode === 'append' ? (
        entriesWords(value)
      ) : (
        <ShortValue run={run} hash={value.last.hash} wait={passing} />
      )}
    </Td>
  )
}

/** The marks of a row, and under the pointer the two that it could have. */
const Gutter = memo(function Gutter({
  number,
  isA,
  isB,
  onMark,
}: {
  number: number
  isA: boolean
  isB: boolean
  onMark: (which: 'a' | 'b', row: number) => void
}) {
  const slot = (which: 'a' | 'b', isHere: boolean) =>
    isHere ? (
      <Position which={which} />
    ) : (
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Set ${which.toUpperCase()} to row ${number}`}
        title={`Set ${which.toUpperCase()}`}
        className="mono grid size-[18px] place-items-center rounded-r1 border border-line-strong bg-surface text-ink-3 opacity-0 hover:border-ink hover:text-ink group-hover:opacity-100 max-md:hidden"
        onClick={(clicked) => {
          clicked.stopPropagation()
          onMark(which, number)
        }}
      >
        {which.toUpperCase()}
      </button>
    )
  return (
    <span className="flex gap-1">
      {/* A mark stands first, so that both are found in one column. */}
      {isB && !isA ? (
        <>
          {slot('b', true)}
          {slot('a', false)}
        </>
      ) : (
        <>
          {slot('a', isA)}
          {slot('b', isB)}
        </>
      )}
    </span>
  )
})
