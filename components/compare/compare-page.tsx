'use client'
/*
 * Two runs, visit by visit: what is the same, what differs, what only one has. Both are folded here from their ledgers;
 * a run that is still under way moves on screen. Which visit is looked at, and what of it, is in the address.
 */
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useSearchParams } from 'next/navigation'
import { useCallback, useMemo } from 'react'
import { Position } from '@/components/artifacts/marks'
import { NotHere } from '@/components/shell/not-here'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { Segmented } from '@/components/ui/segmented'
import { Skeleton } from '@/components/ui/skeleton'
import { clip } from '@/lib/base/clip'
import { useRunLedger } from '@/lib/ui/ledger'
import { links } from '@/lib/ui/links'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { type ComparedVisit, comparedSentence, compareRuns } from '@/lib/view/compare-runs'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { TraceView } from '@/lib/view/trace-view'
import { labelOf } from '@/lib/workflow/graph-index'
import { VisitCompared } from './visit-compared'
import { VisitTable } from './visit-table'

interface Opened {
  detail: RunDetail
  fold: RunFold
  view: TraceView
  /** All of its ledger has come. */
  whole: boolean
}

/** A run's details and its ledger, folded; an error when it cannot be had. */
function useOpened(run: string): { opened?: Opened; error?: unknown; again: () => void } {
  const detail = useRunDetail(run)
  const ledger = useRunLedger(run, detail.data)
  const again = () => void (detail.isError ? detail.refetch() : ledger?.read())
  const error = detail.error ?? (ledger?.status === 'failed' ? ledger.error : undefined)
  const fold = ledger?.fold
  // Brought up to date while the ledger comes: all of it at the end would hold the page up.
  const view = useMemo(() => fold && new TraceView(fold), [fold])?.update()
  if (!detail.data || !fold || !view) return { error, again }
  const whole = ledger.status === 'following' || fold.seq >= detail.data.seq
  return { opened: { detail: detail.data, fold, view, whole }, error, again }
}

export function ComparePage({ run, other }: { run: string; other: string }) {
  const a = useOpened(run)
  const b = useOpened(other)
  for (const [which, side] of [['A', a] as const, ['B', b] as const]) {
    if (side.error && !side.opened?.whole) {
      return <ErrorNote title={`Run ${which} could not be read`} error={side.error} onRetry={side.again} />
    }
  }
  if (!a.opened?.whole || !b.opened?.whole) return <Skeleton what="both runs" lines={8} />
  return <Compared run={run} other={other} a={a.opened} b={b.opened} />
}

function Compared({ run, other, a, b }: { run: string; other: string; a: Opened; b: Opened }) {
  const search = useSearchParams()
  const [viewA, viewB] = [a.view, b.view]
  // biome-ignore lint/correctness/useExhaustiveDependencies: the views are brought up to date in place, token by token
  const compared = useMemo(() => compareRuns(viewA, viewB), [viewA, viewB, a.fold.seq, b.fold.seq])
  const change = useCallback((patch: Record<string, string | undefined>) => {
    const next = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(patch)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    window.history.replaceState(null, '', next.size > 0 ? `?${next}` : window.location.pathname)
  }, [])
  const onlyDiffering = search.get('show') === 'differing'
  const visits = onlyDiffering ? compared.visits.filter((visit) => !isSame(visit)) : compared.visits
  const [askedNode, askedVisit] = [search.get('node'), search.get('visit') ?? '1']
  const isAsked = ({ node, visit }: ComparedVisit) => node === askedNode && String(visit) === askedVisit
  const asked = visits.findIndex(isAsked)
  // What differs first is what a person came for.
  const chosen =
    asked !== -1
      ? asked
      : Math.max(
          0,
          visits.findIndex((visit) => !isSame(visit)),
        )
  const current = visits[chosen]
  const choose = (index: number) => {
    const visit = visits[index]
    if (visit) change({ node: visit.node, visit: String(visit.visit), of: undefined })
  }
  const nextDiffering = (by: 1 | -1) => {
    for (let at = chosen + by; visits[at]; at += by)
      if (!isSame(visits[at] as ComparedVisit)) return choose(at)
  }
  useShortcuts({
    j: () => choose(Math.min(chosen + 1, visits.length - 1)),
    k: () => choose(Math.max(chosen - 1, 0)),
    n: () => nextDiffering(1),
    p: () => nextDiffering(-1),
  })
  const label = (node: string) => a.fold.index.nodes.get(node)?.label || labelOf(b.fold.index, node)
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:flex-wrap max-md:gap-y-1 max-md:py-2">
        <Link
          href={links.run(run)}
          className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11"
        >
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          <span className="truncate">{a.detail.row.workflow}</span>
        </Link>
        <h1 className="font-medium">Compare two runs</h1>
        <RunName which="a" run={run} opened={a} />
        <RunName which="b" run={other} opened={b} />
        <span className="flex-1" />
        <Button size="sm" variant="quiet" asChild>
          <Link href={links.compareRuns(other, run)}>Swap</Link>
        </Button>
        <span className="max-md:hidden">
          <PageHelp
            page="Compare two runs"
            keys={[
              ['j k', 'next and previous visit'],
              ['n p', 'next and previous that differs'],
            ]}
          >
            Visits with the same node and number stand on one row. Values are the same when their hashes are.
          </PageHelp>
        </span>
      </div>
      <NotHere
        of={
          askedNode === null || compared.visits.some(isAsked)
            ? undefined
            : {
                what: askedVisit === '1' ? 'step' : `visit ${clip(askedVisit, 12)} of a step`,
                asked: askedNode,
                where: 'in either run',
                instead: 'the first that differs is shown',
              }
        }
      />
      <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-1.5">
        <p role="status" className="min-w-0 flex-1">
          {comparedSentence(compared)}
        </p>
        <Segmented
          label="Visits"
          value={onlyDiffering ? 'differing' : 'all'}
          choices={[
            { value: 'all', word: 'All visits' },
            { value: 'differing', word: 'What differs' },
          ]}
          onChange={(show) => change({ show: show === 'all' ? undefined : show })}
        />
      </div>
      {visits.length === 0 ? (
        <EmptyState title={onlyDiffering ? 'Nothing differs' : 'Neither run has begun'}>
          {onlyDiffering
            ? 'Every visit stands the same, gave the same and found the same artifacts in both runs.'
            : 'Rows come as steps are entered.'}
        </EmptyState>
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col max-md:overflow-y-auto">
          <VisitTable visits={visits} chosen={chosen} a={viewA} b={viewB} labelOf={label} onChoose={choose} />
          {current && (
            <VisitCompared
              key={`${current.visit} ${current.node}`}
              run={run}
              other={other}
              a={viewA}
              b={viewB}
              visit={current}
              label={label(current.node)}
              of={search.get('of') ?? undefined}
              layout={search.get('diff') === 'sides' ? 'sides' : 'unified'}
              onOf={(of) => change({ of, node: current.node, visit: String(current.visit) })}
              onLayout={(layout) => change({ diff: layout === 'sides' ? layout : undefined })}
            />
          )}
        </div>
      )}
    </>
  )
}

const isSame = (visit: ComparedVisit) =>
  visit.a !== undefined && visit.b !== undefined && visit.differs.length === 0

function RunName({
  which,
  run,
  opened: { detail, fold },
}: {
  which: 'a' | 'b'
  run: string
  opened: Opened
}) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Position which={which} />
      <CopyId id={run} what={`id of run ${which.toUpperCase()}`} />
      <Link href={links.run(run)} className="truncate rounded-r1 text-ink-3 hover:text-ink">
        {detail.row.forkOf !== undefined && 'fork, '}
        {fold.frame.headline.words}
      </Link>
    </span>
  )
}
