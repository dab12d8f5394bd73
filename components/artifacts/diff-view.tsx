'use client'
/*
 * A diff of two values, of any length: only the lines in sight are in the page. Unified, or both sides beside each other,
 * where a line stands next to what it became. Long stretches that are the same are folded and open on click.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useMemo, useRef, useState } from 'react'
import { cx } from '@/components/ui/cx'
import { DiffHead, DiffLine, diffLineHeight, LineText } from '@/components/ui/diff-line'
import { count } from '@/lib/ui/format-time'
import { type DiffRow, foldRows } from '@/lib/view/diff/text-diff'
import { type SideRow, sideBySide, type ValueDiff } from '@/lib/view/diff/value-diff'

/** Lines around a change that stay. */
const context = 3
/** Diffs up to this long are in the page whole: a reader finds in them with the browser's own search. */
const drawnWhole = 300

export type DiffLayout = 'unified' | 'sides'

type Line = DiffRow | { kind: 'fold'; at: number; count: number }

export function DiffView({
  title,
  diff,
  layout,
  aside,
  words,
  before,
}: {
  title: string
  diff: ValueDiff
  layout: DiffLayout
  aside: ReactNode
  words: string
  /** Said above the lines: what is missing, what is left out. */
  before?: ReactNode
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const lines = useMemo(() => linesOf(diff.rows, opened), [diff, opened])
  const open = (at: number) => setOpened(new Set([...opened, at]))
  return (
    <figure className="flex max-h-full min-h-0 min-w-0 flex-col overflow-hidden rounded-r2 border bg-surface max-md:max-h-[75dvh]">
      <DiffHead title={title} words={words} aside={aside} />
      {before}
      {diff.note && <p className="border-b px-3 py-1.5 text-ink-2">{diff.note}</p>}
      {diff.rows.length === 0 ? (
        <p className="px-3 py-2 text-ink-3">Both are empty.</p>
      ) : (
        <Lines
          title={title}
          lines={lines}
          layout={layout}
          numbers={diff.by === 'line'}
          last={diff.same + diff.changes}
          onOpen={open}
        />
      )}
      {diff.unlisted > 0 && (
        <p className="border-t px-3 py-1.5 text-ink-3">
          {count(diff.unlisted, 'more line')} differ and are not listed.
        </p>
      )}
    </figure>
  )
}

/** Rows with what is the same folded; a fold that was opened is its rows. */
function linesOf(rows: readonly DiffRow[], opened: ReadonlySet<number>): Line[] {
  const lines: Line[] = []
  for (const row of foldRows(rows, context)) {
    const at = lines.length
    if (row.kind !== 'fold') lines.push(row)
    else {
      const first = row.rows[0]
      const place = first && 'before' in first ? first.before : at
      if (opened.has(place)) for (const inner of row.rows) lines.push(inner)
      else lines.push({ kind: 'fold', at: place, count: row.rows.length })
    }
  }
  return lines
}

function Lines({
  title,
  lines,
  layout,
  numbers,
  last,
  onOpen,
}: {
  title: string
  lines: Line[]
  layout: DiffLayout
  numbers: boolean
  /** The largest line number there can be: it says how wide they are. */
  last: number
  onOpen: (at: number) => void
}) {
  const scroller = useRef<HTMLElement>(null)
  const sides = useMemo(() => (layout === 'sides' ? sidesOf(lines) : undefined), [lines, layout])
  const shown = sides ?? lines
  const whole = shown.length <= drawnWhole
  const virtual = useVirtualizer({
    count: whole ? 0 : shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => diffLineHeight,
    overscan: 20,
  })
  const draw = (index: number) => {
    const side = sides?.[index]
    if (side) return <Side key={index} row={side} numbers={numbers} onOpen={onOpen} />
    const line = lines[index]
    return line && <Unified key={index} line={line} numbers={numbers} onOpen={onOpen} />
  }
  const items = virtual.getVirtualItems()
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label={`Changes of ${title}`}
      className="ring-inside relative min-h-0 overflow-auto py-1"
    >
      <div style={{ '--diff-numbers': `${Math.max(40, String(last).length * 8 + 10)}px` } as CSSProperties}>
        {whole ? (
          shown.map((_, index) => draw(index))
        ) : (
          <>
            <div style={{ height: items[0]?.start ?? 0 }} />
            {items.map((item) => (
              <div key={item.key} data-index={item.index} ref={virtual.measureElement}>
                {draw(item.index)}
              </div>
            ))}
            <div style={{ height: virtual.getTotalSize() - (items.at(-1)?.end ?? 0) }} />
          </>
        )}
      </div>
    </section>
  )
}

function Fold({
  count: folded,
  onOpen,
  className,
}: {
  count: number
  onOpen: () => void
  className: string
}) {
  return (
    <button
      type="button"
      className={cx(
        'ring-inside mono sticky left-0 block w-full px-3 text-left leading-5 text-ink-3 hover:bg-hover hover:text-ink max-md:min-h-8',
        className,
      )}
      onClick={onOpen}
    >
      {count(folded, 'unchanged line')}
    </button>
  )
}

function Unified({ line, numbers, onOpen }: { line: Line; numbers: boolean; onOpen: (at: number) => void }) {
  if (line.kind !== 'fold') return <DiffLine row={line} numbers={numbers} wraps />
  return (
    <Fold
      count={line.count}
      className={numbers ? 'md:pl-[calc(2*var(--diff-numbers,40px)+24px)]' : 'pl-8'}
      onOpen={() => onOpen(line.at)}
    />
  )
}

type SidesLine = SideRow | Extract<Line, { kind: 'fold' }>

function sidesOf(lines: readonly Line[]): SidesLine[] {
  const out: SidesLine[] = []
  let rows: DiffRow[] = []
  const flush = () => {
    for (const row of sideBySide(rows)) out.push(row)
    rows = []
  }
  for (const line of lines) {
    if (line.kind !== 'fold') rows.push(line)
    else {
      flush()
      out.push(line)
    }
  }
  flush()
  return out
}

function Side({ row, numbers, onOpen }: { row: SidesLine; numbers: boolean; onOpen: (at: number) => void }) {
  if (row.kind === 'fold') return <Fold count={row.count} className="pl-8" onOpen={() => onOpen(row.at)} />
  if (row.kind === 'skip') {
    return (
      <p className="mono px-3 pl-8 leading-5 text-ink-3">{count(row.count, 'unchanged line')} not listed</p>
    )
  }
  return (
    <div className="grid grid-cols-2 leading-5">
      <Half row={row.before} side="before" numbers={numbers} />
      <Half row={row.after} side="after" numbers={numbers} />
    </div>
  )
}

function Half({
  row,
  side,
  numbers,
}: {
  row: Exclude<DiffRow, { kind: 'skip' }> | undefined
  side: 'before' | 'after'
  numbers: boolean
}) {
  const number = !row || row.kind === 'add' ? undefined : row.before
  const here = side === 'before' ? number : row && row.kind !== 'del' ? row.after : undefined
  const sign = row?.kind === 'del' ? '−' : row?.kind === 'add' ? '+' : ''
  return (
    <div
      className={cx(
        'mono grid min-h-5 min-w-0 leading-5',
        numbers
          ? 'grid-cols-[var(--diff-numbers,40px)_20px_minmax(0,1fr)]'
          : 'grid-cols-[28px_minmax(0,1fr)]',
        side === 'after' && 'border-l',
        !row && 'bg-canvas',
        row?.kind === 'same' && 'text-ink-2',
        row?.kind === 'del' && 'bg-diff-del',
        row?.kind === 'add' && 'bg-diff-add',
      )}
    >
      {numbers && (
        <span className="select-none pr-2 text-right text-ink-3" aria-hidden="true">
          {here}
        </span>
      )}
      <span className="select-none text-center font-medium" aria-hidden="true">
        {sign}
      </span>
      <span className="whitespace-pre-wrap pl-1 pr-3 [overflow-wrap:anywhere]">
        {row && row.kind !== 'same' && (
          <span className="sr-only">{row.kind === 'del' ? 'removed: ' : 'added: '}</span>
        )}
        {row && <LineText parts={row.parts} kind={row.kind} />}
      </span>
    </div>
  )
}
