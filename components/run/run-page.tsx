'use client'
/*
 * A run: the graph is the map, the inspector the microscope, the ledger what both are folded from. Selecting in one
 * selects in all, and what is selected is in the URL. On a phone the inspector is the page and the graph a strip above.
 *
 * What is shown is folded here from the ledger's tokens. Until the first page of it has come nothing is claimed about
 * any step; when the stream is lost, the shell says so and the picture keeps its age.
 */
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { isToChoose, RollbackChoice } from '@/components/rollback/rollback-choice'
import { RunGraph } from '@/components/run-graph/run-graph'
import { cx } from '@/components/ui/cx'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { type RunLedger, useRunLedger } from '@/lib/ui/ledger'
import { useVerification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/wire'
import { Inspector } from './inspector'
import { LedgerTable } from './ledger-table'
import { NestedRun } from './nested-run'
import { RunHead } from './run-head'
import { RunSummary } from './run-summary'
import { TokenPanel } from './token-panel'
import { type BelowRun, useBelow } from './use-child-strips'
import { type RunView, useRunView } from './use-run-view'

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

function Loaded({ run, detail, ledger, fold }: Loaded) {
  const router = useRouter()
  const [view, change] = useRunView()
  const [dismissed, setDismissed] = useState(false)
  const [closed, setClosed] = useState<string>()
  const small = useSmallScreen()
  const begun = fold.seq > 0
  const verification = useVerification(run, ledger, fold.seq, ledger.status === 'following')
  const below = useBelow(run, fold)
  // What needs someone is what a person came for, unless they say otherwise.
  const node = selectedNode(view, fold, below, dismissed || !begun)
  const select = (id: string | undefined) => {
    setDismissed(id === undefined)
    change({ node: id, visit: undefined, token: undefined })
  }
  const rollBack = detail.may.rollBack ? fold.rollbackNodeFor(node) : undefined
  const stepOut = () => (view.token ? change({ token: undefined }) : select(undefined))
  useShortcuts({
    Escape: stepOut,
    r: rollBack && begun ? () => router.push(links.rollback(run, { node: rollBack })) : undefined,
    l: () => change({ show: view.show === 'ledger' ? undefined : 'ledger' }),
  })

  const graph = begun && (
    <RunGraph
      index={fold.index}
      frames={fold.frame.nodes}
      edges={fold.frame.edges}
      strips={below.strips}
      selected={node}
      onSelect={select}
      told={fold.frame.sentence}
      label={`Graph of ${detail.row.workflow}`}
      focus={fold.liveNode}
      compact={small}
    />
  )
  const which = view.visit === undefined ? undefined : Number(view.visit)
  const inside = node === undefined ? undefined : insideOf(below, fold, node, which)
  const left = !begun ? (
    <Reading ledger={ledger} expected={detail.seq} />
  ) : view.show === 'ledger' ? (
    <LedgerTable
      rows={fold.rows}
      labelOf={(id) => labelOf(fold, id)}
      selected={view.token === undefined ? undefined : Number(view.token)}
      node={node}
      verification={verification.state}
      onOpen={(row) => change({ token: String(row.seq), ...(row.node ? { node: row.node } : {}) })}
    />
  ) : (
    graph
  )
  return (
    <>
      <RunHead
        detail={detail}
        fold={fold}
        waitsIn={below.summary?.waitsIn}
        verification={verification}
        rollBack={rollBack}
        show={view.show === 'ledger' ? 'ledger' : 'graph'}
        onShow={(show) => change({ show: show === 'ledger' ? 'ledger' : undefined })}
      />
      <StandsStill run={run} detail={detail} fold={fold} />
      {ledger.status === 'failed' && (
        <ErrorNote
          title="The rest of the ledger could not be read"
          error={ledger.error}
          means={`What you see is the run at token ${fold.seq.toLocaleString('en')}.`}
          onRetry={() => void ledger.read()}
        />
      )}
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col md:grid-cols-[minmax(0,1fr)_var(--inspector)]">
        <div
          className={cx(
            'flex min-h-0 min-w-0 flex-col border-r max-md:shrink-0 max-md:border-b max-md:border-r-0',
            view.show === 'ledger' ? 'max-md:h-[45dvh]' : 'max-md:h-36',
          )}
        >
          <div className="min-h-0 flex-1">{left}</div>
          {inside && inside.id !== closed && begun && view.show !== 'ledger' && (
            <NestedRun
              key={inside.id}
              run={inside.id}
              step={labelOf(fold, inside.parent?.node ?? '')}
              onClose={() => setClosed(inside.id)}
            />
          )}
        </div>
        <Side
          run={run}
          detail={detail}
          fold={fold}
          view={view}
          change={change}
          node={node}
          below={below}
          verification={verification.state}
        />
      </div>
    </>
  )
}

/** A run that was taken back waits for a choice; wherever one looks at it, it can be made. */
function StandsStill({ run, detail, fold }: { run: string; detail: RunDetail; fold: RunFold }) {
  const rollback = fold.rollbacks(run).findLast((one) => isToChoose(fold, one))
  if (!rollback) return null
  return <RollbackChoice bar run={run} detail={detail} rollback={rollback} fold={fold} />
}

/** The one run that the selected visit of a step began: it is drawn inside. */
function insideOf(below: BelowRun, fold: RunFold, node: string, which: number | undefined) {
  return below.of(node, which ?? fold.visit(node)?.visit ?? 1)?.only
}

function labelOf(fold: RunFold, node: string): string {
  return fold.index.nodes.get(node)?.label || node
}

function selectedNode(view: RunView, fold: RunFold, below: BelowRun, dismissed: boolean): string | undefined {
  if (view.node !== undefined && fold.index.nodes.has(view.node)) return view.node
  if (dismissed) return undefined
  const waiting = below.summary?.steps.find(
    ({ node, states }) => (states.waiting ?? 0) > 0 && fold.index.nodes.has(node),
  )
  return fold.troubledNode ?? waiting?.node
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

function Side({
  run,
  detail,
  fold,
  view,
  change,
  node,
  below,
  verification,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  view: RunView
  change: (change: RunView) => void
  node: string | undefined
  below: BelowRun
  verification: ReturnType<typeof useVerification>['state']
}) {
  const token = view.token === undefined ? undefined : Number(view.token)
  if (token !== undefined && fold.rows[token - 1]) {
    return (
      <TokenPanel
        fold={fold}
        seq={token}
        verification={verification}
        onOpen={(seq) => change({ token: seq === undefined ? undefined : String(seq) })}
      />
    )
  }
  const visit = node === undefined ? undefined : fold.visit(node, view.visit ? Number(view.visit) : undefined)
  if (!visit) {
    return (
      <RunSummary
        detail={detail}
        fold={fold}
        onSelect={(id, which) => change({ node: id, visit: which === undefined ? undefined : String(which) })}
      />
    )
  }
  return (
    <Inspector
      key={`${visit.node} ${visit.visit}`}
      run={run}
      detail={detail}
      fold={fold}
      visit={visit}
      began={below.of(visit.node, visit.visit)}
      waitsIn={below.summary?.waitsIn}
      tab={view.tab}
      onTab={(tab) => change({ tab })}
      onVisit={(which) => change({ node: visit.node, visit: which })}
      onToken={(seq) => change({ node: visit.node, token: String(seq) })}
      verification={verification}
    />
  )
}
