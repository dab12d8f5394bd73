'use client'
import Link from 'next/link'
import { type ReactNode, type Ref, useMemo } from 'react'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Segmented } from '@/components/ui/segmented'
import { links } from '@/lib/ui/links'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { TraceRow } from '@/lib/view/artifact-trace'
import type { TraceView } from '@/lib/view/trace-view'
import type { DiffLayout } from './diff-view'
import { Position } from './marks'
import { useShort } from './short-value-of'
import { SlotCompared } from './slot-compared'
import { changeWords, fromTo, sinceStart, unchangedWords } from './trace-words'

/** Positions A and B: what differs between them, and how. */
export function ComparePane({
  ref,
  run,
  view,
  a,
  b,
  column,
  layout,
  startedAt,
  mayFork,
  labelOf,
  onColumn,
  onSwap,
  onLayout,
}: {
  ref?: Ref<HTMLElement>
  run: string
  view: TraceView
  a: TraceRow
  b: TraceRow
  /** The column whose diff is shown. */
  column: number
  layout: DiffLayout
  startedAt: number
  mayFork: boolean
  labelOf: (node: string) => string
  onColumn: (column: number) => void
  onSwap: () => void
  onLayout: (layout: DiffLayout) => void
}) {
  const small = useSmallScreen()
  const columns = view.columns.map((one, index) => ({ one, index }))
  const differing = columns.filter(({ index }) => !view.isSame(a, b, index))
  const unchanged = unchangedWords(
    columns
      .filter(({ index }) => view.isSame(a, b, index))
      .map(({ one, index }) => ({ name: one.name, missing: !view.value(b, index).last })),
  )
  const chosen = view.columns[column]
  const entries = (row: TraceRow) => view.entries(row, column)?.map((ref) => ({ ...ref, run }))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows are replaced when they change
  const [before, after] = useMemo(() => [entries(a), entries(b)], [a, b, column, run])
  return (
    <section
      ref={ref}
      aria-label="Comparison of A and B"
      className="flex flex-1 flex-col gap-3 bg-canvas px-4 pb-4 pt-3 max-md:flex-none md:min-h-[340px]"
    >
      <div className="flex shrink-0 flex-wrap items-center gap-x-6 gap-y-2 max-md:flex-col max-md:items-stretch">
        <Side which="a" row={a} label={labelOf(a.transition.node)} startedAt={startedAt} />
        <Side which="b" row={b} label={labelOf(b.transition.node)} startedAt={startedAt} />
        <span className="flex-1" />
        <div className="flex items-center gap-2">
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
          <Button size="sm" variant="quiet" onClick={onSwap}>
            Swap
          </Button>
          {mayFork && (
            <Button size="sm" asChild>
              <Link href={links.fork(run, b.transition.seq)}>Fork from B…</Link>
            </Button>
          )}
        </div>
      </div>
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] gap-4 md:grid-cols-[256px_minmax(0,1fr)] max-md:flex max-md:flex-col">
        <nav aria-label="What differs between A and B" className="relative min-h-0 md:overflow-auto">
          <h2 className="mb-2 text-t1 text-ink-3">
            {differing.length > 0 ? 'Differ between A and B' : 'Nothing differs between A and B'}
          </h2>
          {differing.map(({ one, index }) => (
            <Differing
              key={one.name}
              chosen={index === column}
              name={one.name}
              onChoose={() => onColumn(index)}
            >
              <Change run={run} view={view} a={a} b={b} column={index} />
            </Differing>
          ))}
          {differing.length > 0 &&
            unchanged.map((words) => (
              <p key={words} className="mt-2 text-t1 text-ink-3 [overflow-wrap:anywhere]">
                {words}
              </p>
            ))}
          {chosen && <SlotFacts view={view} a={a} b={b} column={column} />}
        </nav>
        {chosen && (
          <div className="min-h-0 min-w-0">
            {view.isSame(a, b, column) ? (
              <p className="rounded-r2 border bg-surface px-3 py-2 text-ink-2">
                <b className="mono">{chosen.name}</b>{' '}
                {view.value(b, column).last ? 'is the same at A and B.' : 'is missing at A and B.'}
              </p>
            ) : (
              <SlotCompared
                title={chosen.name}
                mode={chosen.mode}
                mediaType={
                  view.value(b, column).last?.mediaType ?? view.value(a, column).last?.mediaType ?? ''
                }
                before={before}
                after={after}
                layout={small ? 'unified' : layout}
                places={['A', 'B']}
              />
            )}
          </div>
        )}
      </div>
    </section>
  )
}

function Side({
  which,
  row: { transition, number },
  label,
  startedAt,
}: {
  which: 'a' | 'b'
  row: TraceRow
  label: string
  startedAt: number
}) {
  const { visit, event, at } = transition
  return (
    <p className="flex min-w-0 items-center gap-2">
      <Position which={which} />
      <b className="truncate" title={`row ${number}`}>
        → {label}
      </b>
      <span className="truncate text-ink-3">
        visit {visit}, {event !== undefined && `${event}, `}
        <span className="num">{sinceStart(at - startedAt)}</span>
      </span>
    </p>
  )
}

function Differing({
  name,
  chosen,
  onChoose,
  children,
}: {
  name: string
  chosen: boolean
  onChoose: () => void
  children: ReactNode
}) {
  return (
    <button
      type="button"
      aria-current={chosen || undefined}
      className={cx(
        'ring-inside block w-full rounded-r2 px-3 py-1.5 text-left max-md:min-h-12',
        chosen ? 'bg-selected' : 'hover:bg-hover',
      )}
      onClick={onChoose}
    >
      <b className="mono block truncate leading-5">{name}</b>
      <span className="block truncate text-t1 text-ink-3">{children}</span>
    </button>
  )
}

/** "2/5 to 5/5 pass", "1 entry more", "missing at A". */
function Change({
  run,
  view,
  a,
  b,
  column,
}: {
  run: string
  view: TraceView
  a: TraceRow
  b: TraceRow
  column: number
}) {
  const [at, bt] = [view.value(a, column), view.value(b, column)]
  const of = view.columns[column]
  const said = of && changeWords(of, at, bt)
  const before = useShort(run, at.last?.hash, said !== undefined)
  const after = useShort(run, bt.last?.hash, said !== undefined)
  if (said !== undefined) return said
  if (before.short === undefined || after.short === undefined) return 'differs'
  // Two values with the same first line differ further down.
  if (before.short === after.short) return `${after.short}, and differs`
  return <bdi dir="auto">{fromTo(before.short, after.short)}</bdi>
}

function SlotFacts({ view, a, b, column }: { view: TraceView; a: TraceRow; b: TraceRow; column: number }) {
  const of = view.columns[column]
  const sides = [view.value(a, column), view.value(b, column)]
  if (!of) return null
  return (
    <Facts label={88} dense className="mt-4 border-t">
      {of.of === 'artifact' && (
        <>
          <Fact label="Read by">{namesOf(view.readBy(of.name), 'no prompt')}</Fact>
          <Fact label="Written by">{namesOf(view.writtenBy(of.name), 'nobody yet')}</Fact>
        </>
      )}
      {sides.map(({ last, count }, at) => (
        <Fact key={at === 0 ? 'a' : 'b'} label={at === 0 ? 'Hash at A' : 'Hash at B'}>
          {last ? <CopyId id={last.hash} what="hash" /> : <Sub>— missing</Sub>}
          {count > 1 && <Sub> of entry {count}; each entry has its own</Sub>}
        </Fact>
      ))}
    </Facts>
  )
}

function namesOf(names: string[], none: string): ReactNode {
  return names.length > 0 ? names.join(', ') : <Sub>{none}</Sub>
}
