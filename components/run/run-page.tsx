'use client'
/*
 * A run: the graph is the map, the timeline the film, the inspector the microscope, the ledger what all are folded from.
 * Selecting in one selects in all, and what is selected is in the URL. On a phone the inspector is the page, with the
 * graph a strip above it and the film a line to move along.
 *
 * The page follows the run, or stands at one of its tokens (`?at=23`). Then all of it shows the run as it was: graph,
 * inspector, limits, ledger, the run inside. What acts on a run acts on it as it is now, and is not offered from there.
 *
 * What is shown is folded here from the ledger's tokens. Until the first page of it has come nothing is claimed about
 * any step; when the stream is lost, the shell says so and the picture keeps its age.
 */
import { useRouter } from 'next/navigation'
import { memo, useCallback, useContext, useDeferredValue, useMemo, useState } from 'react'
import { useFlagging } from '@/components/rollback/flag-dialog'
import { isToChoose, RollbackChoice } from '@/components/rollback/rollback-choice'
import { NotHere } from '@/components/shell/not-here'
import { RunTimeline } from '@/components/timeline/run-timeline'
import { type Moment, MomentContext, seqFrom, useMoment } from '@/components/timeline/use-moment'
import { cx } from '@/components/ui/cx'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { type RunLedger, useRunLedger } from '@/lib/ui/ledger'
import { useVerification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { StoppedClock } from '@/lib/ui/now'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { CausalChain } from '@/lib/view/timeline/terms'
import { labelOf } from '@/lib/workflow/graph-index'
import { NestedRun } from './nested-run'
import { notInRun } from './not-in-run'
import { RunHead } from './run-head'
import { RunPane } from './run-pane'
import { RunSide } from './run-side'
import { type RunShow, RunTabs, showFrom } from './run-tabs'
import { selectedNode } from './selected-node'
import type { ShownMoment } from './shown-run'
import { useBelow } from './use-child-strips'
import { useRunView } from './use-run-view'

/** The page of one run. */
export function RunPage({ run }: { run: string }) {
  const detail = useRunDetail(run)
  const ledger = useRunLedger(run, detail.data)
  if (detail.isError && !detail.data) {
    return (
      <ErrorNote
        title="This run could not be read"
        error={detail.error}
        means="It goes on without this page."
        onRetry={() => void detail.refetch()}
      />
    )
  }
  if (!detail.data || !ledger?.fold) return <Skeleton what="the run" lines={6} row={44} />
  return <Loaded run={run} detail={detail.data} ledger={ledger} fold={ledger.fold} />
}

interface Loaded {
  run: string
  detail: RunDetail
  ledger: RunLedger
  fold: RunFold
}

/**
 * The moment of the page. A link may name a token that has not come yet: while the ledger is being read the page waits
 * for it (`coming`), and after that it shows the run as it is.
 *
 * The playhead moves at once; the rest of the page is drawn after it, in pieces, and only for the latest moment.
 */
function Loaded({ run, detail, ledger, fold }: Loaded) {
  const [view, change] = useRunView()
  const { at: asked, goTo } = useMoment(view.at, (at) => change({ at }))
  const coming = asked !== undefined && asked > fold.seq && ledger.status === 'reading'
  const at = asked !== undefined && asked <= fold.seq ? asked : undefined
  const moment = useMemo<Moment>(() => ({ at, goTo }), [at, goTo])
  const drawn = useDeferredValue(at)
  return (
    <MomentContext value={moment}>
      <RunScreen
        run={run}
        detail={detail}
        ledger={ledger}
        version={ledger.version}
        fold={fold}
        coming={coming}
        at={drawn}
        goTo={goTo}
      />
    </MomentContext>
  )
}

interface Screen extends Loaded {
  /** The ledger grows in place; this says so. */
  version: number
  coming: boolean
  /** The token the page stands at; undefined while it follows the run. */
  at: number | undefined
  goTo: Moment['goTo']
}

const RunScreen = memo(function RunScreen({ run, detail, ledger, fold, coming, at, goTo }: Screen) {
  const router = useRouter()
  const [view, change] = useRunView()
  const [dismissed, setDismissed] = useState(false)
  const [closed, setClosed] = useState<string>()
  const small = useSmallScreen()
  const shown: ShownMoment = {
    run: at === undefined ? fold : fold.at(at),
    at,
    asOf: at === undefined ? undefined : fold.timeline.timeOf(at),
  }
  const standsAt = useContext(StoppedClock)
  const clock = shown.asOf ?? standsAt
  const begun = fold.seq > 0 && !coming
  const past = shown.at !== undefined
  const verification = useVerification(run, ledger, fold.seq, ledger.status === 'following')
  const below = useBelow(run, fold)
  const chain = useChain(fold, view.cause)
  const show = showFrom(view.show)
  // A table of values wants the width; what it opens it shows itself.
  const wide = show === 'artifacts'
  // What needs someone is what a person came for, unless they say otherwise.
  const node = selectedNode({ view, fold, below, at: shown.at, dismissed: dismissed || !begun })
  const missing = notInRun(view, {
    hasNode: (id) => fold.index.nodes.has(id),
    hasVisit: (id, visit) => fold.visit(id, visit) !== undefined,
    seq: fold.seq,
    reading: ledger.status === 'reading',
    artifacts: fold.timeline.artifacts,
    shown: node === undefined ? undefined : labelOf(fold.index, node),
  })
  const select = (id: string | undefined) => {
    setDismissed(id === undefined)
    change({ node: id, visit: undefined, token: undefined, cause: undefined })
  }
  // Found by a search through the graph: not worth it for every moment that is passed by.
  const rollBack = detail.may.rollBack && !past ? fold.rollbackNodeFor(node) : undefined
  const stepOut = () => {
    if (view.token) return change({ token: undefined })
    if (view.cause) return change({ cause: undefined })
    if (at !== undefined) return goTo(undefined)
    select(undefined)
  }
  const onShow = (next: RunShow) => change({ show: next === 'graph' ? undefined : next })
  const flagging = useFlagging({
    run,
    detail,
    fold,
    node: begun ? node : undefined,
    visit: view.visit === undefined ? undefined : Number(view.visit),
    past,
  })
  useShortcuts({
    Escape: stepOut,
    w: flagging.ask,
    r: rollBack && begun ? () => router.push(links.rollback(run, { node: rollBack })) : undefined,
    l: () => onShow(show === 'ledger' ? 'graph' : 'ledger'),
  })

  const which = view.visit === undefined ? undefined : Number(view.visit)
  const label = useCallback((id: string) => labelOf(fold.index, id), [fold])
  const visit = which ?? (node === undefined ? undefined : shown.run.visit(node)?.visit)
  const inside = node === undefined ? undefined : below.of(node, visit ?? 1)?.only
  const chosen = useMemo(() => ({ node, visit }), [node, visit])
  return (
    <>
      <StoppedClock value={clock}>
        <RunHead
          detail={detail}
          fold={fold}
          shown={shown.run}
          at={shown.at}
          asOf={shown.asOf}
          onNow={() => goTo(undefined)}
          waitsIn={below.summary?.waitsIn}
          verification={verification}
          rollBack={rollBack}
          onFlag={flagging.ask}
          show={show}
          onShow={onShow}
        />
      </StoppedClock>
      <NotHere of={missing} />
      {flagging.dialog}
      <RunTabs tabs={tabsOf(fold)} show={show} onShow={onShow} />
      {!past && <StandsStill run={run} detail={detail} fold={fold} />}
      {ledger.status === 'failed' && (
        <ErrorNote
          title="The rest of the ledger could not be read"
          error={ledger.error}
          means={`What you see is the run at token ${fold.seq.toLocaleString('en')}.`}
          onRetry={() => void ledger.read()}
        />
      )}
      <div
        className={cx(
          'grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col',
          // What was at work then is not at work now.
          past && '[&_.motion-turn]:animate-none',
          !wide && 'md:grid-cols-[minmax(0,1fr)_var(--inspector)]',
        )}
      >
        <div
          className={cx(
            'flex min-h-0 min-w-0 flex-col max-md:border-r-0',
            wide ? 'max-md:flex-1' : 'border-r max-md:shrink-0',
          )}
        >
          <StoppedClock value={clock}>
            <div
              className={cx(
                'min-h-0 flex-1 max-md:border-b',
                !wide && 'max-md:flex-none',
                !wide && (show === 'graph' ? 'max-md:h-36' : 'max-md:h-[45dvh]'),
              )}
            >
              {begun ? (
                <RunPane
                  run={run}
                  detail={detail}
                  fold={fold}
                  shown={shown}
                  show={show}
                  view={view}
                  change={change}
                  goTo={goTo}
                  node={node}
                  onSelect={select}
                  chain={chain}
                  below={below}
                  labelOf={label}
                  verification={verification.state}
                />
              ) : (
                <Reading ledger={ledger} expected={detail.seq} />
              )}
            </div>
            {inside && inside.id !== closed && begun && show === 'graph' && (
              <NestedRun
                key={inside.id}
                run={inside.id}
                step={labelOf(fold.index, inside.parent?.node ?? '')}
                asOf={shown.asOf}
                onClose={() => setClosed(inside.id)}
              />
            )}
          </StoppedClock>
          {begun && (
            <RunTimeline
              run={run}
              fold={fold}
              live={fold.status !== 'ended'}
              mayFork={detail.may.operate}
              chosen={chosen}
              onChoose={(id, visit) => change({ node: id, visit: String(visit), token: undefined })}
              artifact={view.artifact}
              onArtifact={(artifact) => change({ artifact })}
              labelOf={label}
              compact={small}
              // There the brackets move what is compared.
              brackets={show !== 'artifacts'}
            />
          )}
        </div>
        {!wide && (
          <StoppedClock value={clock}>
            <RunSide
              run={run}
              detail={detail}
              fold={fold}
              shown={shown}
              goTo={goTo}
              chain={chain}
              view={view}
              change={change}
              node={node}
              below={below}
              reading={ledger.status === 'reading'}
              onFlag={flagging.ask}
              verification={verification.state}
            />
          </StoppedClock>
        )}
      </div>
    </>
  )
})

function useChain(fold: RunFold, cause: string | undefined): CausalChain | undefined {
  const seq = seqFrom(cause)
  const known = seq !== undefined && seq <= fold.seq
  return useMemo(() => (known ? fold.causes(seq) : undefined), [fold, seq, known])
}

function tabsOf(fold: RunFold) {
  return [
    { show: 'graph' as const, word: 'Graph' },
    { show: 'artifacts' as const, word: 'Artifacts', count: fold.timeline.artifacts.length },
    { show: 'ledger' as const, word: 'Ledger', count: fold.seq },
    { show: 'decisions' as const, word: 'Decisions', count: fold.timeline.marks('person').length },
  ]
}

/** A run that was taken back waits for a choice; wherever one looks at it, it can be made. */
function StandsStill({ run, detail, fold }: { run: string; detail: RunDetail; fold: RunFold }) {
  const rollback = fold.rollbacks(run).findLast((one) => isToChoose(fold, one))
  if (!rollback) return null
  return <RollbackChoice bar run={run} detail={detail} rollback={rollback} fold={fold} />
}

/** While the first tokens are on their way, and for a run whose first token is not written yet. */
function Reading({ ledger, expected }: { ledger: RunLedger; expected: number }) {
  if (ledger.status === 'reading') return <Skeleton what="the ledger" lines={6} />
  return (
    <p className="p-4 text-ink-3">
      {expected === 0 ? 'The run is accepted; its first token is about to be written.' : ''}
    </p>
  )
}
