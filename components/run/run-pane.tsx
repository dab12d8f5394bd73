'use client'
import { ArtifactsPane } from '@/components/artifacts/artifacts-pane'
import { RunGraph } from '@/components/run-graph/run-graph'
import { type Moment, seqFrom } from '@/components/timeline/use-moment'
import type { useVerification } from '@/lib/ui/ledger-verify'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { edgeKey } from '@/lib/view/edge-frame'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { CausalChain } from '@/lib/view/timeline/terms'
import { DecisionsPane } from './decisions-pane'
import { LedgerTable } from './ledger-table'
import type { RunShow } from './run-tabs'
import type { ShownMoment } from './shown-run'
import type { BelowRun } from './use-child-strips'
import type { RunView } from './use-run-view'

/** The way from the root to the symptom is drawn red, all else recedes. */
function toneOf(chain: CausalChain) {
  return (from: string, to: string) => (chain.edges.has(edgeKey(from, to)) ? 'bad' : 'idle')
}

/** What the middle of the page shows of the run: its graph, its artifacts, its ledger or what people decided. */
export function RunPane({
  run,
  detail,
  fold,
  shown,
  show,
  view,
  change,
  goTo,
  node,
  onSelect,
  chain,
  below,
  labelOf,
  verification,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  shown: ShownMoment
  show: RunShow
  view: RunView
  change: (change: RunView) => void
  goTo: Moment['goTo']
  node: string | undefined
  onSelect: (node: string | undefined) => void
  chain: CausalChain | undefined
  below: BelowRun
  labelOf: (node: string) => string
  verification: ReturnType<typeof useVerification>['state']
}) {
  const small = useSmallScreen()
  const past = shown.at !== undefined
  switch (show) {
    case 'ledger':
      return (
        <LedgerTable
          rows={fold.rows}
          labelOf={labelOf}
          selected={seqFrom(view.token)}
          at={shown.at}
          node={node}
          verification={verification}
          onOpen={(row) => change({ token: String(row.seq), ...(row.node ? { node: row.node } : {}) })}
        />
      )
    case 'artifacts':
      return <ArtifactsPane run={run} detail={detail} fold={fold} at={shown.at} onAt={goTo} />
    case 'decisions':
      return <DecisionsPane fold={fold} at={shown.at} labelOf={labelOf} onGo={goTo} />
    case 'graph':
      return (
        <RunGraph
          index={fold.index}
          frames={shown.run.frame.nodes}
          edges={shown.run.frame.edges}
          // Runs below are told of as they are now.
          strips={past ? undefined : below.strips}
          selected={node}
          onSelect={onSelect}
          told={shown.run.frame.sentence}
          label={`Graph of ${detail.row.workflow}`}
          focus={past ? fold.rows[(shown.at ?? 1) - 1]?.node : fold.liveNode}
          compact={small}
          {...(chain && { kept: chain.nodes, toneOf: toneOf(chain) })}
        />
      )
    default:
      return show satisfies never
  }
}
