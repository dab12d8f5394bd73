'use client'
import { X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Who } from '@/components/run/who'
import { Button, IconButton } from '@/components/ui/button'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { absoluteTime, count } from '@/lib/ui/format-time'
import type { TraceRow } from '@/lib/view/artifact-trace'
import type { TraceView } from '@/lib/view/trace-view'
import { Changed, Position } from './marks'
import { StoredValue } from './stored-value'
import { firedWords, sinceStart } from './trace-words'

/** Entries of an `append` slot that are opened at once, the latest first. */
const entriesAtFirst = 5

/** The values of one row: what the run knew on arriving there. It stands beside the table; on a phone it is the page. */
export function RowPanel({
  run,
  view,
  row,
  label,
  startedAt,
  first,
  marks,
  onMark,
  onClose,
}: {
  run: string
  view: TraceView
  row: TraceRow
  label: string
  startedAt: number
  /** The column that was asked for; it comes first. */
  first: number | undefined
  marks: { a: number | undefined; b: number | undefined }
  onMark: (which: 'a' | 'b', row: number) => void
  onClose: () => void
}) {
  const { number, transition } = row
  const { visit, bound, event, firedBy, at } = transition
  const close = useRef<HTMLButtonElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is another panel
  useEffect(() => close.current?.focus({ preventScroll: true }), [number])
  const columns = view.columns.map((column, index) => ({ column, index }))
  const ordered = [
    ...columns.filter(({ index }) => index === first),
    ...columns.filter(({ index }) => index !== first),
  ]
  return (
    <aside
      aria-label={`Values at row ${number}`}
      className="absolute inset-0 z-20 flex min-h-0 flex-col bg-surface md:static md:w-[min(480px,42%)] md:shrink-0 md:border-l"
      onKeyDown={(pressed) => {
        if (pressed.key !== 'Escape') return
        pressed.preventDefault()
        onClose()
      }}
    >
      <div className="flex h-11 shrink-0 items-center gap-2 border-b px-4 max-md:h-14">
        {marks.a === number && <Position which="a" />}
        {marks.b === number && <Position which="b" />}
        <h2 className="min-w-0 truncate font-medium">→ {label}</h2>
        <span className="num whitespace-nowrap text-ink-3">
          row {number}, {sinceStart(at - startedAt)}
        </span>
        <span className="flex-1" />
        <IconButton ref={close} label="Close the values" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
      </div>
      <div className="relative min-h-0 flex-1 overflow-auto px-4 pb-6 pt-2">
        <Facts label={80} dense>
          <Fact label="Event">
            {event ?? <Sub>{firedBy.by === 'start' ? '(entry)' : 'none'}</Sub>}{' '}
            <Sub>visit {bound === undefined ? visit : `${visit} of ${bound}`}</Sub>
          </Fact>
          <Fact label="Fired by">
            {firedWords(firedBy) ?? ('who' in firedBy && <Who id={firedBy.who} />)}
          </Fact>
          <Fact label="At">
            <time>{absoluteTime(at)}</time>
          </Fact>
        </Facts>
        <div className="my-3 flex gap-2">
          <Button size="sm" disabled={marks.a === number} onClick={() => onMark('a', number)}>
            Set A here
          </Button>
          <Button size="sm" disabled={marks.b === number} onClick={() => onMark('b', number)}>
            Set B here
          </Button>
        </div>
        {ordered.map(({ column, index }) => (
          <Slot key={column.name} run={run} view={view} row={row} index={index} />
        ))}
      </div>
    </aside>
  )
}

function Slot({ run, view, row, index }: { run: string; view: TraceView; row: TraceRow; index: number }) {
  const [limit, setLimit] = useState(entriesAtFirst)
  const column = view.columns[index]
  const value = view.value(row, index)
  if (!column) return null
  const entries = value.last ? (view.entries(row, index) ?? []) : []
  const above = view.rows[row.number - 2]
  const known = above ? view.value(above, index).count : 0
  const latest = entries.slice(-limit).reverse()
  return (
    <section aria-label={column.name} className="border-t py-3">
      <h3 className="mono mb-1 flex items-center gap-2 font-medium">
        {value.changed && <Changed inline />}
        {column.name}
        {column.of === 'artifact' && <span className="font-regular text-ink-3">{column.mode}</span>}
        {column.mode === 'append' && value.last && (
          <span className="font-regular text-ink-3">{count(value.count, 'entry', 'entries')}</span>
        )}
      </h3>
      {!value.last && (
        <p className="text-ink-3">
          {column.of === 'output'
            ? '— The step gave nothing.'
            : '— Missing: nobody had written it when the run came here.'}
        </p>
      )}
      {latest.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added.
        <div key={entries.length - at} className={at > 0 ? 'mt-3' : ''}>
          {column.mode === 'append' && (
            <p className="mb-1 flex items-center gap-1.5 text-t1 text-ink-3">
              {entries.length - at > known && <Changed inline />}
              <span className="num">entry {(entries.length - at).toLocaleString('en')}</span>
              {entries.length - at > known && 'appended at this transition'}
            </p>
          )}
          <StoredValue
            run={run}
            hash={entry.hash}
            what={column.mode === 'append' ? `${column.name}, entry ${entries.length - at}` : column.name}
          />
        </div>
      ))}
      {entries.length > limit && (
        <Button size="sm" variant="quiet" className="mt-2" onClick={() => setLimit(limit + 20)}>
          Show {count(Math.min(20, entries.length - limit), 'earlier entry', 'earlier entries')}
        </Button>
      )}
    </section>
  )
}
