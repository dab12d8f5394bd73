'use client'
import type { ReactNode } from 'react'
import { barePast } from '@/components/approvals/words'
import { ForkedFrom } from '@/components/forks/fork-tree'
import { Actor } from '@/components/ui/actor'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { AgentIcon, NoUndoIcon } from '@/components/ui/icons'
import { isJsonObject } from '@/lib/base/json'
import type { Verdict } from '@/lib/hitl/terms'
import { nodeKind } from '@/lib/nodes/registry'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { count, momentOf } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import { useValue } from '@/lib/ui/run-queries'
import { decidedOnSeen } from '@/lib/view/act-words'
import { beginsRuns } from '@/lib/view/child-kinds'
import { consequenceSentence } from '@/lib/view/consequence-words'
import type { NodeFrame } from '@/lib/view/frame'
import { agentName } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { StateEntry } from '@/lib/view/state-entry'
import type { VisitView } from '@/lib/view/visit-view'
import { undoWords } from './undo-words'

/** What there is to know of a visit, fact by fact. */
export function VisitFacts({
  run,
  detail,
  fold,
  frame,
  visit,
  began,
  leadsTo,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  frame: NodeFrame
  visit: VisitView
  began: boolean
  leadsTo: ReactNode
}) {
  const kind = nodeKind(frame.kind)
  const decision = visit.approvals.findLast((approval) => approval.state.status === 'decided')
  return (
    <Facts label={96}>
      <Fact label="Does">
        {kind ? kind.title : <span className="mono">{frame.kind}</span>}.{' '}
        <Sub>{consequenceSentence(frame, visit)}</Sub>
      </Fact>
      {leadsTo}
      {frame.agent && (
        <Fact label="Agent">
          <span className="inline-flex items-center gap-1" title={frame.agent}>
            <AgentIcon size={12} className="text-ink-3" />
            <span className="mono">{agentName(frame.agent)}</span>
          </span>
        </Fact>
      )}
      {visit.checkpoint && !frame.irreversible && (
        <Fact label="Undo">
          <Undo run={run} visit={visit} words={beginsRuns(frame.kind) ? kind?.checkpoint?.undo : undefined} />
        </Fact>
      )}
      {frame.irreversible && (
        <Fact label="Undo">
          <span className="flex items-start gap-1.5 text-failed-ink">
            <NoUndoIcon className="mt-0.5 shrink-0 text-failed-mark" />
            None. What it does stays done.
          </span>
        </Fact>
      )}
      {decision?.state.status === 'decided' && (
        <Fact label="Decided">
          <Actor id={decision.state.by} />{' '}
          {decision.state.event === undefined
            ? decision.kind === 'rollback_critical'
              ? barePast({ kind: decision.kind, verdict: decision.state.verdict })
              : verdictPast[decision.state.verdict]
            : `gave “${decision.state.event}”`}{' '}
          <Moment at={decision.state.at} />
          {decision.state.seen !== undefined && `, ${decidedOnSeen}`}.{' '}
          {decision.state.comment && <Sub>“{decision.state.comment}”</Sub>}
        </Fact>
      )}
      {visit.carriedFrom !== undefined && detail.row.forkOf && (
        <TakenOver run={run} of={detail.row.forkOf} frame={frame} visit={visit} />
      )}
      {visit.entry && <EntryFacts entry={visit.entry} />}
      <StateFacts fold={fold} frame={frame} visit={visit} />
      {!began && <Fact label="When">{whenWords(frame, fold)}</Fact>}
    </Facts>
  )
}

/** Where it was done, and of a step that waits for people what they said there. */
function TakenOver({
  run,
  of,
  frame,
  visit,
}: {
  run: string
  of: string
  frame: NodeFrame
  visit: VisitView
}) {
  const asked = frame.kind === 'await_event' || frame.kind === 'pause_for_approval'
  const json = useValue(run, visit.output, asked).data?.json
  const said = json !== undefined && isJsonObject(json) ? json : undefined
  return (
    <>
      <Fact label="Taken over">
        From <ForkedFrom run={run} of={of} />, not done again here.
      </Fact>
      {asked && typeof said?.by === 'string' && (
        <Fact label="Decided there">
          <Actor id={said.by} />{' '}
          {typeof said.event === 'string' ? `gave “${said.event}”` : verdictPast.approve}.{' '}
          {typeof said.comment === 'string' && said.comment !== '' && <Sub>“{said.comment}”</Sub>}
        </Fact>
      )}
    </>
  )
}

/** Which entry of how many, and where the walk was sent here from. */
function EntryFacts({ entry: { entered, most, insteadOf } }: { entry: StateEntry }) {
  return (
    <>
      {entered !== undefined && most !== undefined && (
        <Fact label="Entry">
          Visit <span className="num">{entered}</span> of <span className="num">{most}</span>.
        </Fact>
      )}
      {insteadOf.length > 0 && (
        <Fact label="Sent here">
          Because{' '}
          {insteadOf
            .map(({ label, most }) => `${label} was entered ${most} of ${count(most, 'time')}`)
            .join(', and ')}
          .
        </Fact>
      )}
    </>
  )
}

/** Of a state of a pack: its event and who gave it, and what its turn is bounded by. Of any other step: the edge it took. */
function StateFacts({ fold, frame, visit }: { fold: RunFold; frame: NodeFrame; visit: VisitView }) {
  const label = visit.state.status === 'done' ? visit.state.label : undefined
  const config = fold.index.nodes.get(visit.node)?.config ?? {}
  if (frame.kind !== 'prompt_state' && frame.kind !== 'await_event') {
    if (frame.without !== undefined && visit.current) {
      return (
        <Fact label="Without">
          <span className="mono">{frame.without}</span>.{' '}
          <Sub>Its breaker let no call pass, and the workflow says that the step may be done without it.</Sub>
        </Fact>
      )
    }
    return label === undefined ? null : <Fact label="Took">The edge “{label}”.</Fact>
  }
  const given = visit.tokens
    .map(({ seq }) => fold.facts[seq - 1])
    .find((fact) => fact?.type === 'event_given')
  const bounds = [
    typeof config.max_rounds === 'number' ? count(config.max_rounds, 'round') : '',
    typeof config.max_tool_calls === 'number' ? count(config.max_tool_calls, 'tool call') : '',
  ].filter((one) => one !== '')
  return (
    <>
      {label !== undefined &&
        !(visit.carriedFrom !== undefined && frame.kind === 'await_event') &&
        !visit.approvals.some(({ state }) => state.status === 'decided') && (
          <Fact label="Event">
            <b>{label}</b>
            {given?.type === 'event_given' ? (
              <>
                , given by <Actor id={given.by} /> <Moment at={given.at} />.{' '}
                {given.comment && <Sub>“{given.comment}”</Sub>}
              </>
            ) : frame.kind === 'prompt_state' && visit.carriedFrom === undefined ? (
              <Sub>, by its own prompt {String(config.prompt ?? '')}</Sub>
            ) : (
              '.'
            )}
          </Fact>
        )}
      {bounds.length > 0 && <Fact label="Turn">At most {bounds.join(' and ')}.</Fact>}
    </>
  )
}

/** When a step's turn comes, or that it does not come. */
function whenWords({ shown }: NodeFrame, fold: RunFold): string {
  const walks = fold.index.graph.order === 'stepwise'
  if (shown === 'skipped')
    return walks
      ? 'The run came to its end another way.'
      : 'Never in this run: a step before it failed, or the run is over.'
  return walks ? 'If the run comes this way.' : 'When every step before it is done.'
}

const verdictPast = {
  approve: 'approved it',
  refuse: 'refused it',
  took_effect: 'said that it took effect',
  not_taken: 'said that it did not take effect',
  acknowledge: 'took note',
  event: 'gave its event',
  go_on_without: 'let the rollback go on without it',
  abort: 'called the rollback off',
  escalate: 'handed it on',
  ask_again: 'had those asked again that said no',
  overwrite: 'had it put back all the same',
  release: 'let probes go on',
  hold: 'kept the probes held',
} satisfies Record<Verdict, string>

/** What came of taking a step back. */
const undoneWords: Record<RollbackStatus, string> = {
  completed: 'Taken back.',
  partial: 'Partly taken back.',
  escalated: 'Not taken back; a person was told.',
  failed: 'Taking it back failed.',
}

/** `words` where the kind says it better than the action. */
function Undo({ run, visit, words }: { run: string; visit: VisitView; words: string | undefined }) {
  const { action, checkpoint } = visit
  const isAsked = checkpoint !== undefined && !checkpoint.undone && words === undefined
  const read = useValue(run, action, isAsked)
  // For a moment nothing, rather than one sentence and then another.
  if (read.isLoading) return null
  if (!checkpoint) return null
  if (checkpoint.undone) return <>{undoneWords[checkpoint.undone.status]}</>
  return (
    <>
      {words ?? undoWords(read.data?.json, checkpoint.undo)}{' '}
      <Sub>
        Sealed <Moment at={checkpoint.at} />
      </Sub>
    </>
  )
}

function Moment({ at }: { at: number }) {
  const now = useNow(60_000)
  return (
    <span className="num" suppressHydrationWarning>
      {momentOf(at, now)}
    </span>
  )
}
