'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { Position } from '@/components/artifacts/marks'
import { cx } from '@/components/ui/cx'
import { StateShape } from '@/components/ui/state'
import { Table, Td, Th } from '@/components/ui/table'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { TraceRow } from '@/lib/view/artifact-trace'
import type { ComparedVisit } from '@/lib/view/compare-runs'
import type { ShownState } from '@/lib/view/shown-state'
import type { TraceState, TraceView } from '@/lib/view/trace-view'
import { differenceWords } from './words'

/** Px, as every table's. */
const rowHeights = { desk: 32, phone: 48 }
const wideOnly = 'max-md:hidden'

/** Visits of two runs beside each other; only rows in sight are in the page. */
export function VisitTable({
  visits,
  chosen,
  a,
  b,
  labelOf,
  onChoose,
}: {
  visits: readonly ComparedVisit[]
  /** Index of the visit that is looked at. */
  chosen: number
  a: TraceView
  b: TraceView
  labelOf: (node: string) => string
  onChoose: (index: number) => void
}) {
  const scroller = useRef<HTMLElement>(null)
  const rowHeight = useSmallScreen() ? rowHeights.phone : rowHeights.desk
  const virtual = useVirtualizer({
    count: visits.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height lie elsewhere
  useEffect(() => virtual.measure(), [rowHeight])
  useEffect(() => virtual.scrollToIndex(chosen, { align: 'auto' }), [chosen, virtual])
  const shown = virtual.getVirtualItems()
  const above = shown[0]?.start ?? 0
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const onKey = (event: KeyboardEvent, index: number) => {
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: visits.length - 1 }[event.key]
    if (to === undefined || !visits[to]) return
    event.preventDefault()
    onChoose(to)
    requestAnimationFrame(() => document.getElementById(rowId(to))?.focus())
  }
  return (
    <section
      ref={scroller}
      aria-label="Visits of both runs"
      className="relative shrink-0 overflow-auto max-md:max-h-[50dvh] md:max-h-[46%]"
    >
      <Table aria-label="Visits of both runs" aria-rowcount={visits.length + 1} className="table-fixed">
        <thead>
          <tr>
            <Th className="md:w-[240px]">Step</Th>
            <Th className={cx('w-16', wideOnly)}>Visit</Th>
            <Th className={cx('w-32', wideOnly)}>
              <Side which="a" />
            </Th>
            <Th className={cx('w-32', wideOnly)}>
              <Side which="b" />
            </Th>
            <Th className={cx('w-48', wideOnly)}>Event</Th>
            <Th>Compared</Th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map(({ index }) => {
            const visit = visits[index] as ComparedVisit
            const label = labelOf(visit.node)
            const words = differenceWords(visit)
            return (
              <tr
                key={`${visit.visit} ${visit.node}`}
                aria-rowindex={index + 2}
                className={cx(
                  'cursor-default',
                  index === chosen ? 'bg-selected shadow-[inset_2px_0_0_var(--ink)]' : 'hover:bg-hover',
                )}
                onClick={() => onChoose(index)}
              >
                <Td className="truncate">
                  <button
                    id={rowId(index)}
                    type="button"
                    tabIndex={index === chosen ? 0 : -1}
                    aria-current={index === chosen || undefined}
                    aria-label={`${label}, visit ${visit.visit}: ${words}`}
                    className="ring-inside max-w-full truncate rounded-r1 font-medium"
                    onKeyDown={(pressed) => onKey(pressed, index)}
                    onClick={() => onChoose(index)}
                  >
                    <span aria-hidden="true">→ </span>
                    {label}
                    {visit.visit > 1 && (
                      <span className="num ml-1.5 font-regular text-ink-3 md:hidden">{visit.visit}</span>
                    )}
                  </button>
                </Td>
                <Td className={cx('num text-ink-3', wideOnly)}>{visit.visit}</Td>
                <Td className={wideOnly}>
                  <Standing view={a} row={visit.a} />
                </Td>
                <Td className={wideOnly}>
                  <Standing view={b} row={visit.b} />
                </Td>
                <Td className={cx('truncate text-ink-2', wideOnly)}>
                  <Event visit={visit} />
                </Td>
                <Td
                  className={cx('truncate', words === 'the same' ? 'text-ink-3' : 'font-medium')}
                  title={words}
                >
                  {words}
                </Td>
              </tr>
            )
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </Table>
    </section>
  )
}

const rowId = (index: number) => `visit-row-${index}`

function Side({ which }: { which: 'a' | 'b' }) {
  return (
    <span className="flex items-center gap-2">
      <Position which={which} />
    </span>
  )
}

const shapes: Record<TraceState, ShownState> = {
  'taken back': 'rolled_back',
  failed: 'failed',
  done: 'done',
  'not begun': 'pending',
  'under way': 'running',
}

function Standing({ view, row }: { view: TraceView; row: TraceRow | undefined }) {
  if (!row) {
    return (
      <span className="text-ink-3" title="This run never came here">
        <span aria-hidden="true">—</span>
        <span className="sr-only">missing</span>
      </span>
    )
  }
  const state = view.stateOf(row)
  return (
    <span className="flex items-center gap-1.5">
      <StateShape state={shapes[state]} />
      {state}
    </span>
  )
}

/** The event that led here; of two that differ, both. */
function Event({ visit: { a, b } }: { visit: ComparedVisit }) {
  const [here, there] = [a?.transition.event, b?.transition.event]
  if (here === there || !a || !b) return here ?? there ?? ''
  return `${here ?? '—'} / ${there ?? '—'}`
}
