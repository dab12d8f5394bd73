'use client'
/*
 * The artifact trace of a run: a row for each transition with what the run knew on arriving there, two positions A and B,
 * and below them what differs between the two. All of it is in the address (`a`, `b`, `artifact`, `row`), so that a link
 * shows the same. A run whose workflow has no artifacts shows what its steps gave, in the same way.
 */
import { useEffect, useMemo, useRef } from 'react'
import { EmptyState } from '@/components/ui/empty-state'
import { Kbd } from '@/components/ui/kbd'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { TraceView } from '@/lib/view/trace-view'
import { labelOf } from '@/lib/workflow/graph-index'
import { ComparePane } from './compare-pane'
import { positionsOf } from './default-positions'
import { Changed } from './marks'
import { RowPanel } from './row-panel'
import { focusRow, TraceTable } from './trace-table'
import { useCursor } from './use-cursor'
import { marksNow, rowFrom, type TraceMarks, useTraceMarks } from './use-trace-marks'

export function ArtifactsPane({
  run,
  detail,
  fold,
  at,
  onAt,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  /** The token the page stands at; absent while it follows the run. */
  at?: number | undefined
  /** Takes the page to a token: the row that was chosen. */
  onAt?: ((seq: number) => void) | undefined
}) {
  const view = useMemo(() => new TraceView(fold), [fold]).update()
  const [marks, change] = useTraceMarks()
  const { rows } = view
  const { a, b } = positionsOf(view, rowFrom(marks.a, rows.length), rowFrom(marks.b, rows.length))
  const cursor = useCursor(at, (seq) => view.rowAt(seq) + 1 || undefined)
  const opened = rowFrom(marks.row, rows.length)
  const column = columnOf(view, marks.artifact, a, b)
  const comparison = useComparisonFirst(marks, change)

  const goTo = (number: number) => {
    const row = rows[number - 1]
    if (!row) return
    cursor.goTo(number, onAt && row.transition.seq)
    onAt?.(row.transition.seq)
    if (opened !== undefined) change({ row: String(number) })
  }
  const step = (by: number) => {
    const number = Math.min(Math.max(1, (cursor.latest() ?? b ?? rows.length) + by), rows.length)
    goTo(number)
    // The row has the focus then, and ↵ opens it; an open panel keeps it.
    if (opened === undefined) focusRow(number)
  }
  const positionsNow = () => {
    const now = marksNow()
    return positionsOf(view, rowFrom(now.a, rows.length), rowFrom(now.b, rows.length))
  }
  const mark = (which: 'a' | 'b', number = cursor.latest()) => {
    const now = positionsNow()
    if (number !== undefined) change({ a: text(now.a), b: text(now.b), [which]: String(number) })
  }
  const moveB = (by: number) =>
    mark('b', Math.min(Math.max(1, (positionsNow().b ?? cursor.latest() ?? 1) + by), rows.length))
  const open = (number: number, index?: number) => {
    goTo(number)
    const name = index === undefined ? undefined : view.columns[index]?.name
    change({ row: String(number), ...(name !== undefined && { artifact: name }) })
  }
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    a: () => mark('a'),
    b: () => mark('b'),
    '[': () => moveB(-1),
    ']': () => moveB(1),
    s: a !== undefined && b !== undefined ? () => change({ a: text(b), b: text(a) }) : undefined,
    Escape: opened === undefined ? undefined : () => change({ row: undefined }),
  })

  if (rows.length === 0) {
    return (
      <EmptyState title="No transition yet">
        A row comes for each step that the run enters, with what it knew on arriving there.
      </EmptyState>
    )
  }
  const startedAt = fold.startedAt ?? rows[0]?.transition.at ?? 0
  const label = (node: string) => labelOf(fold.index, node)
  const [rowA, rowB] = [a, b].map((number) => (number === undefined ? undefined : rows[number - 1]))
  const openedRow = opened === undefined ? undefined : rows[opened - 1]
  return (
    <div className="relative flex h-full min-h-0 bg-surface">
      <div className="relative flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto">
        <div className="flex min-h-0 shrink-0 flex-col md:max-h-[46%] max-md:max-h-[60dvh]">
          <TraceTable
            run={run}
            view={view}
            labelOf={label}
            startedAt={startedAt}
            a={a}
            b={b}
            cursor={cursor.row}
            at={at}
            column={column}
            narrow={openedRow !== undefined}
            onCursor={goTo}
            onMark={mark}
            onOpen={open}
          />
        </div>
        <KeyLine hasArtifacts={view.hasArtifacts} />
        {rowA && rowB ? (
          <ComparePane
            ref={comparison}
            run={run}
            view={view}
            a={rowA}
            b={rowB}
            column={column}
            layout={marks.diff === 'sides' ? 'sides' : 'unified'}
            startedAt={startedAt}
            mayFork={detail.may.operate}
            labelOf={label}
            onColumn={(index) => change({ artifact: view.columns[index]?.name })}
            onSwap={() => change({ a: text(b), b: text(a) })}
            onLayout={(layout) => change({ diff: layout === 'sides' ? 'sides' : undefined })}
          />
        ) : (
          <p className="flex-1 bg-canvas px-4 py-6 text-ink-3 max-md:flex-none">
            Set A and B on two rows to see what differs between them.
          </p>
        )}
      </div>
      {openedRow && (
        <RowPanel
          key={openedRow.number}
          run={run}
          view={view}
          row={openedRow}
          label={label(openedRow.transition.node)}
          startedAt={startedAt}
          first={marks.artifact === undefined ? undefined : column}
          marks={{ a, b }}
          onMark={mark}
          onClose={() => change({ row: undefined })}
        />
      )}
    </div>
  )
}

/**
 * On a phone the values of a row cover the page, and the comparison is below the table. A link that names A and B is to
 * show what differs between them, whatever its sender had open beside it.
 */
function useComparisonFirst(marks: TraceMarks, change: (change: TraceMarks) => void) {
  const comparison = useRef<HTMLElement>(null)
  const small = useSmallScreen()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is how the page opens; later the person leads
  useEffect(() => {
    if (!small || marks.a === undefined || marks.b === undefined) return
    if (marks.row !== undefined) change({ row: undefined })
    comparison.current?.scrollIntoView({ block: 'start' })
  }, [])
  return comparison
}

const text = (number: number | undefined) => (number === undefined ? undefined : String(number))

/** The column the address names; else one that differs, sooner what changed on arriving at B; else the first. */
function columnOf(
  view: TraceView,
  name: string | undefined,
  a: number | undefined,
  b: number | undefined,
): number {
  const named = view.columns.findIndex((column) => column.name === name)
  if (named !== -1) return named
  const [rowA, rowB] = [view.rows[(a ?? 0) - 1], view.rows[(b ?? 0) - 1]]
  if (!rowA || !rowB) return 0
  const differing = view.columns.flatMap((_, index) => (view.isSame(rowA, rowB, index) ? [] : [index]))
  return differing.find((index) => view.value(rowB, index).changed) ?? differing[0] ?? 0
}

function KeyLine({ hasArtifacts }: { hasArtifacts: boolean }) {
  return (
    <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-5 gap-y-1 border-b px-4 py-1.5 text-t1 text-ink-3">
      <span className="flex items-center gap-2">
        <span className="text-ink">
          <Changed inline />
        </span>
        {hasArtifacts ? 'changed at this transition' : 'other than at the visit before'}
      </span>
      <span>
        {hasArtifacts
          ? 'each row is what the run knew on arriving there'
          : 'no artifacts in this workflow: each row is what its step gave'}
      </span>
      <span className="flex-1" />
      <span className="flex gap-5 max-lg:hidden">
        <span>
          <Kbd>j</Kbd> <Kbd>k</Kbd> move
        </span>
        <span>
          <Kbd>a</Kbd> set A
        </span>
        <span>
          <Kbd>b</Kbd> set B
        </span>
        <span>
          <Kbd>[</Kbd> <Kbd>]</Kbd> move B
        </span>
        <span>
          <Kbd>↵</Kbd> open
        </span>
      </span>
    </div>
  )
}
