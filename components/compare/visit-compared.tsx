'use client'
import { useMemo } from 'react'
import type { DiffLayout } from '@/components/artifacts/diff-view'
import { Position } from '@/components/artifacts/marks'
import { SlotCompared } from '@/components/artifacts/slot-compared'
import { cx } from '@/components/ui/cx'
import { Segmented } from '@/components/ui/segmented'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { StoredRef } from '@/lib/ui/value-terms'
import type { TraceRow } from '@/lib/view/artifact-trace'
import { artifactsOf, type ComparedVisit } from '@/lib/view/compare-runs'
import type { TraceView } from '@/lib/view/trace-view'
import { nameOf, standingWords } from './words'

/** One visit in both runs: what it gave and what it found, and the diff of the one that is chosen. */
export function VisitCompared({
  run,
  other,
  a,
  b,
  visit,
  label,
  of,
  layout,
  onOf,
  onLayout,
}: {
  run: string
  other: string
  a: TraceView
  b: TraceView
  visit: ComparedVisit
  label: string
  /** The value that is chosen: `output` or an artifact's name. */
  of: string | undefined
  layout: DiffLayout
  onOf: (of: string) => void
  onLayout: (layout: DiffLayout) => void
}) {
  const small = useSmallScreen()
  const differing = new Set(visit.differs.map(nameOf))
  const names = ['output', ...artifactsOf(a, b)]
  const chosen = names.find((name) => name === of) ?? names.find((name) => differing.has(name)) ?? 'output'
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are replaced when they change
  const [before, after] = useMemo(
    () => [refsOf(run, a, visit.a, chosen), refsOf(other, b, visit.b, chosen)],
    [run, other, visit.a, visit.b, chosen],
  )
  const mode = [a, b].some((view) =>
    view.columns.some(({ name, mode }) => name === chosen && mode === 'append'),
  )
    ? 'append'
    : 'replace'
  return (
    <section
      aria-label={`${label}, visit ${visit.visit}, in both runs`}
      className="flex min-h-0 flex-1 flex-col gap-3 bg-canvas px-4 pb-4 pt-3 max-md:flex-none"
    >
      <div className="flex shrink-0 items-center gap-3">
        <h2 className="min-w-0 truncate font-medium">→ {label}</h2>
        <span className="text-ink-3">visit {visit.visit}</span>
        <span className="flex-1" />
        {!small && (
          <Segmented
            label="Layout of the diff"
            value={layout}
            choices={[
              { value: 'unified', word: 'Unified' },
              { value: 'sides', word: 'Side by side' },
            ]}
            onChange={onLayout}
          />
        )}
      </div>
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] gap-4 md:grid-cols-[256px_minmax(0,1fr)] max-md:flex max-md:flex-col">
        <nav aria-label="Values of this visit" className="relative min-h-0 md:overflow-auto">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-current={name === chosen || undefined}
              className={cx(
                'ring-inside block w-full rounded-r2 px-3 py-1.5 text-left max-md:min-h-12',
                name === chosen ? 'bg-selected' : 'hover:bg-hover',
              )}
              onClick={() => onOf(name)}
            >
              <b className="mono block truncate leading-5">{name}</b>
              <span className="block truncate text-t1 text-ink-3">
                {standingWords(visit, differing.has(name), !refsOf(run, a, visit.a, name))}
              </span>
            </button>
          ))}
        </nav>
        <div className="min-h-0 min-w-0">
          {before || after ? (
            <SlotCompared
              title={chosen}
              mode={mode}
              mediaType={(after ?? before)?.[0]?.mediaType ?? ''}
              before={before}
              after={after}
              layout={small ? 'unified' : layout}
              places={['A', 'B']}
            />
          ) : (
            <p className="text-ink-3">— {chosen} is missing in both.</p>
          )}
        </div>
      </div>
      <p className="flex shrink-0 items-center gap-2 text-t1 text-ink-3 md:hidden">
        <Position which="a" /> what goes <Position which="b" /> what comes
      </p>
    </section>
  )
}

/** The stored entries of a value; undefined where it is missing. */
function refsOf(
  run: string,
  view: TraceView,
  row: TraceRow | undefined,
  name: string,
): StoredRef[] | undefined {
  if (!row) return undefined
  if (name === 'output') {
    const hash = view.outputOf(row)
    return hash === undefined ? undefined : [{ run, hash, mediaType: 'application/json' }]
  }
  const column = view.columns.findIndex((one) => one.of === 'artifact' && one.name === name)
  return column === -1 ? undefined : view.entries(row, column)?.map((entry) => ({ ...entry, run }))
}
