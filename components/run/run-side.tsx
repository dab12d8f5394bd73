'use client'
import { useCameByItself } from '@/components/approvals/key-guard'
import { CausePanel } from '@/components/timeline/cause-panel'
import { type Moment, seqFrom } from '@/components/timeline/use-moment'
import type { useVerification } from '@/lib/ui/ledger-verify'
import { useNow } from '@/lib/ui/now'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { CausalChain } from '@/lib/view/timeline/terms'
import { labelOf } from '@/lib/workflow/graph-index'
import { Inspector } from './inspector'
import { RunSummary } from './run-summary'
import type { ShownMoment } from './shown-run'
import { TokenPanel } from './token-panel'
import type { BelowRun } from './use-child-strips'
import type { RunView } from './use-run-view'

/** Beside the graph: the token, the cause or the step that was chosen, or else the run itself. */
export function RunSide({
  run,
  detail,
  fold,
  shown,
  goTo,
  chain,
  view,
  change,
  node,
  below,
  reading,
  onFlag,
  verification,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  shown: ShownMoment
  goTo: Moment['goTo']
  chain: CausalChain | undefined
  view: RunView
  change: (change: RunView) => void
  node: string | undefined
  below: BelowRun
  /** The ledger is on its way: what comes up meanwhile has been there all along. */
  reading: boolean
  onFlag: (() => void) | undefined
  verification: ReturnType<typeof useVerification>['state']
}) {
  const past = shown.at !== undefined
  const token = seqFrom(view.token)
  const which = view.visit ? Number(view.visit) : undefined
  // Of a moment before that visit: the one that was the latest then.
  const visit = node === undefined ? undefined : (shown.run.visit(node, which) ?? shown.run.visit(node))
  const waitsIn = past ? undefined : below.summary?.waitsIn
  const question = visit?.open?.id ?? waitsIn?.approval
  const cameByItself = useCameByItself(question, `${reading} ${view.node ?? ''} ${view.visit ?? ''}`)
  if (token !== undefined && fold.rows[token - 1]) {
    return (
      <TokenPanel
        fold={fold}
        seq={token}
        verification={verification}
        onOpen={(seq) => change({ token: seq === undefined ? undefined : String(seq) })}
        onMoment={shown.at === token ? undefined : () => goTo(token)}
      />
    )
  }
  if (chain) {
    return (
      <CausePanel
        chain={chain}
        rows={fold.rows}
        labelOf={(id) => labelOf(fold.index, id)}
        at={shown.at}
        onGo={(link) => {
          goTo(link.seq)
          if (link.node !== undefined) change({ node: link.node, visit: undefined })
        }}
        onBack={() => change({ cause: undefined })}
      />
    )
  }
  if (!visit) {
    return (
      <Summary
        detail={detail}
        fold={fold}
        shown={shown}
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
      shown={shown.run}
      past={past}
      onCause={(jti) => change({ cause: String(fold.seqOf(jti) ?? '') || undefined })}
      visit={visit}
      // What its runs are now is what they were then only of a step that was done then.
      began={past && visit.state.status !== 'done' ? undefined : below.of(visit.node, visit.visit)}
      waitsIn={waitsIn}
      cameByItself={cameByItself}
      tab={view.tab}
      onTab={(tab) => change({ tab })}
      onVisit={(which) => change({ node: visit.node, visit: which })}
      onToken={(seq) => change({ node: visit.node, token: String(seq) })}
      onFlag={onFlag}
      verification={verification}
    />
  )
}

/** Limits count time, so this part moves by itself; how often, is not worth a second's drawing of all the rest. */
function Summary({
  detail,
  fold,
  shown,
  onSelect,
}: {
  detail: RunDetail
  fold: RunFold
  shown: ShownMoment
  onSelect: (node: string, visit?: number) => void
}) {
  const now = useNow()
  const gauges = shown.run === fold ? fold.gauges(now) : fold.at(shown.at ?? fold.seq).gauges
  return <RunSummary detail={detail} fold={fold} shown={shown.run} gauges={gauges} onSelect={onSelect} />
}
