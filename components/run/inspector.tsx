'use client'
import { RotateCcw } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { Decision } from '@/components/approvals/decision'
import { GiveEvent } from '@/components/approvals/give-event'
import { barePast } from '@/components/approvals/words'
import { ForkedFrom } from '@/components/forks/fork-tree'
import { LiveTime } from '@/components/run-graph/graph-node'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { AgentIcon, NoUndoIcon } from '@/components/ui/icons'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { TabPanel, Tabs } from '@/components/ui/tabs'
import { isJsonObject } from '@/lib/base/json'
import type { Verdict } from '@/lib/hitl/terms'
import { nodeKind } from '@/lib/nodes/registry'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { count, duration, momentOf } from '@/lib/ui/format-time'
import { useRunLedger } from '@/lib/ui/ledger'
import type { Verification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { useNow } from '@/lib/ui/now'
import { useRunDetail, useValue } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { beginsRuns, beginsTalk } from '@/lib/view/child-kinds'
import { consequenceSentence } from '@/lib/view/consequence-words'
import { type NodeFrame, visitShown } from '@/lib/view/frame'
import { agentName, asSentence } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'
import type { StateEntry } from '@/lib/view/state-entry'
import type { VisitView } from '@/lib/view/visit-view'
import type { ChildCounts, RunDetail, WaitsIn } from '@/lib/view/wire'
import { BreakerWait } from './breaker-wait'
import { CheckpointView } from './checkpoint-view'
import { ChildList } from './child-list'
import { LeadsTo } from './leads-to'
import type { ShownRun } from './shown-run'
import { TokenList } from './token-list'
import { Transcript } from './transcript'
import { ValueBlock } from './value-block'
import { WrittenArtifacts } from './written-artifacts'

const tabNames = ['runs', 'input', 'output', 'tokens', 'checkpoint'] as const

/** One visit of one step, under the microscope: what it waits for or what came of it, and the evidence behind tabs. */
export function Inspector({
  run,
  detail,
  fold,
  shown: then,
  past,
  onCause,
  visit,
  began: children,
  waitsIn,
  cameByItself,
  tab,
  onTab,
  onVisit,
  onToken,
  onFlag,
  verification,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  /** The run as it is shown: now, or as it was. */
  shown: ShownRun
  /** It is shown as it was: nothing can be done from here. */
  past: boolean
  /** Shows what led to a failure, by the id of its token. */
  onCause: (jti: string) => void
  visit: VisitView
  /** The runs this visit began. */
  began: ChildCounts | undefined
  /** What a run below this one asks of a person. */
  waitsIn: WaitsIn | undefined
  /** The question on screen came there while the person looked. */
  cameByItself: boolean
  tab: string | undefined
  onTab: (tab: string) => void
  onVisit: (visit: string | undefined) => void
  onToken: (seq: number) => void
  /** Calls what this visit gave wrong; absent when it cannot be. */
  onFlag: (() => void) | undefined
  verification: Verification
}) {
  const frame = then.frame.nodes.get(visit.node)
  const asked = tabNames.find((name) => name === tab)
  const chosen =
    asked === undefined || (asked === 'runs' && !children) ? (children ? 'runs' : 'tokens') : asked
  const began = visit.tokens.length > 0
  useShortcuts({
    i: () => onTab('input'),
    o: () => onTab('output'),
    t: () => onTab('tokens'),
    c: () => onTab('checkpoint'),
  })
  if (!frame) return null
  return (
    <aside aria-label={frame.label} className="flex min-h-0 min-w-0 flex-col overflow-y-auto max-md:flex-1">
      <Head frame={frame} visit={visit} onVisit={onVisit} />
      {waitsIn && (children?.states.waiting ?? 0) > 0 && (
        <AskedBelow waitsIn={waitsIn} cameByItself={cameByItself} />
      )}
      {visit.open && past ? (
        <Asked sentence={visit.open.sentence} role={visit.open.role} />
      ) : visit.open ? (
        <DecisionHere approval={visit.open.id} cameByItself={cameByItself} />
      ) : (
        <Outcome
          run={run}
          detail={detail}
          fold={fold}
          frame={frame}
          visit={visit}
          past={past}
          onCause={onCause}
          onFlag={onFlag}
          began={began}
          leadsTo={<LeadsTo run={run} fold={fold} frame={frame} counts={children} />}
        />
      )}
      <Tabs
        label={`Evidence of ${frame.label}`}
        className="border-t"
        value={chosen}
        onChange={onTab}
        tabs={[
          ...(children
            ? [
                frame.kind === 'prompt_state'
                  ? { value: 'runs', label: 'Turn' }
                  : { value: 'runs', label: 'Runs', count: children.total },
              ]
            : []),
          { value: 'input', label: 'Input' },
          { value: 'output', label: 'Output' },
          { value: 'tokens', label: 'Tokens', count: visit.tokens.length },
          { value: 'checkpoint', label: 'Checkpoint' },
        ]}
      >
        {children && (
          <TabPanel value="runs" className="overflow-visible">
            {beginsTalk(frame.kind) && children.only ? (
              <LoopRun run={run} counts={children} loop={children.only.id} />
            ) : (
              <ChildList run={run} counts={children} alike={frame.kind === 'map'} />
            )}
          </TabPanel>
        )}
        <TabPanel value="input" className="overflow-visible">
          {visit.action ? (
            <ValueBlock run={run} hash={visit.action} what="action" />
          ) : (
            <Nothing>Its input is made when it is its turn, from what the steps before it give.</Nothing>
          )}
        </TabPanel>
        <TabPanel value="output" className="overflow-visible">
          {visit.output ? (
            <ValueBlock run={run} hash={visit.output} what="output" />
          ) : (
            <Nothing>There is an output once the step is done.</Nothing>
          )}
        </TabPanel>
        <TabPanel value="tokens" className="overflow-visible">
          <TokenList rows={visit.tokens} verification={verification} onOpen={onToken} />
        </TabPanel>
        <TabPanel value="checkpoint" className="overflow-visible">
          {visit.checkpoint ? (
            <CheckpointView checkpoint={visit.checkpoint} />
          ) : (
            <Nothing>
              {frame.consequence === 'read_only'
                ? 'None: this step changes nothing, so there is nothing to put back.'
                : 'None yet: its state is sealed just before it acts.'}
            </Nothing>
          )}
        </TabPanel>
      </Tabs>
    </aside>
  )
}

function Nothing({ children }: { children: ReactNode }) {
  return <p className="px-4 py-3 text-ink-3">{children}</p>
}

function Head({
  frame,
  visit,
  onVisit,
}: {
  frame: NodeFrame
  visit: VisitView
  onVisit: (visit: string | undefined) => void
}) {
  const shown = visit.current ? frame : visitShown(visit)
  const failed = visit.state.status === 'done' && visit.state.label === 'error'
  return (
    <div className="flex min-h-10 shrink-0 items-center gap-2 border-b px-4 py-1">
      <h2 className="min-w-0 truncate" title={frame.label}>
        {frame.label}
      </h2>
      {visit.visits > 1 ? (
        <select
          aria-label="Visit"
          className="h-7 rounded-r1 border border-line bg-surface px-1 text-ink-2"
          value={visit.visit}
          onChange={(event) =>
            onVisit(Number(event.target.value) === visit.visits ? undefined : event.target.value)
          }
        >
          {Array.from({ length: visit.visits }, (_, at) => at + 1).map((which) => (
            <option key={which} value={which}>
              visit {which}
            </option>
          ))}
        </select>
      ) : (
        <span className="shrink-0 text-ink-3">visit {visit.visit}</span>
      )}
      <span className="flex-1" />
      <StateMark state={failed ? 'failed' : shown.shown}>
        {failed && !visit.current ? 'error, went on' : isHeldOff(visit) ? 'waits' : shown.word}
        {shown.time && (
          <>
            {' '}
            {'took' in shown.time ? (
              <span className="num">{duration(shown.time.took)}</span>
            ) : (
              <LiveTime time={shown.time} />
            )}
          </>
        )}
      </StateMark>
    </div>
  )
}

/** It stands behind a breaker: for whom it waits is said below, and the step's name wants the room. */
function isHeldOff({ state }: VisitView): boolean {
  return state.status === 'waiting' && state.for === 'breaker'
}

/** The decision card of the inbox, narrow: the same order, the same words, the same keys. */
function DecisionHere({ approval, cameByItself }: { approval: string; cameByItself: boolean }) {
  return (
    <section aria-label="Decision">
      <Decision key={approval} id={approval} compact cameByItself={cameByItself} />
    </section>
  )
}

/** A question of the past: it may have been answered since, so it is told and not asked again. */
function Asked({ sentence, role }: { sentence: string; role: string }) {
  return (
    <div className="border-b px-4 py-3">
      <p className="font-medium">{asSentence(sentence)}</p>
      <p className="mt-1 text-ink-3">
        At this moment it waited for {role}. It can be answered only as the run is now.
      </p>
    </div>
  )
}

/** The question that a run below asks: it can be answered from here as well. */
function AskedBelow({ waitsIn, cameByItself }: { waitsIn: WaitsIn; cameByItself: boolean }) {
  return (
    <section aria-label="Decision" className="border-b">
      <p className="px-4 pt-3 text-ink-3">
        Asked by{' '}
        <Link href={links.run(waitsIn.run)} className="underline decoration-line-strong underline-offset-4">
          {waitsIn.workflow}
        </Link>
        , a run below this step.
      </p>
      <Decision key={waitsIn.approval} id={waitsIn.approval} compact cameByItself={cameByItself} />
    </section>
  )
}

function Outcome({
  run,
  detail,
  fold,
  frame,
  visit,
  past,
  onCause,
  onFlag,
  began,
  leadsTo,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  frame: NodeFrame
  visit: VisitView
  past: boolean
  onCause: (jti: string) => void
  onFlag: (() => void) | undefined
  began: boolean
  leadsTo: ReactNode
}) {
  const kind = nodeKind(frame.kind)
  const decision = visit.approvals.findLast((approval) => approval.state.status === 'decided')
  const mayRollBack = !past && detail.may.rollBack && began && visit.current && takesBack(visit)
  return (
    <div className="px-4 pb-4 pt-3">
      {visit.error && visit.error.code !== 'approval_refused' && (
        <Failure error={visit.error} onCause={onCause} />
      )}
      {visit.state.status === 'waiting' && visit.state.for === 'breaker' && (
        <BreakerWait {...visit.state} shown={frame.breaker?.shown} held={frame.breaker?.held} past={past} />
      )}
      {visit.state.status === 'done' && visit.state.label === 'error' && (
        <WentOn
          run={run}
          output={visit.state.output}
          onward={!(visit.current && frame.word === 'ended with error')}
        />
      )}
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
            <Undo visit={visit} words={beginsRuns(frame.kind) ? kind?.checkpoint?.undo : undefined} />
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
            <Moment at={decision.state.at} />.{' '}
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
      {takesEvent(fold, visit) && <GiveEvent run={run} fold={fold} node={visit.node} />}
      {visit.entry && visit.entry.written.length > 0 && (
        <WrittenArtifacts run={run} written={visit.entry.written} />
      )}
      {(mayRollBack || onFlag) && (
        <div className="mt-3 flex flex-wrap gap-2">
          {mayRollBack && (
            <Button size="sm" asChild>
              <Link href={links.rollback(run, { node: frame.id })} aria-keyshortcuts="r">
                <RotateCcw size={14} strokeWidth={1.5} aria-hidden="true" />
                Roll back to before this
              </Link>
            </Button>
          )}
          {onFlag && (
            <Button size="sm" aria-keyshortcuts="w" onClick={onFlag}>
              This looks wrong…
            </Button>
          )}
        </div>
      )}
    </div>
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

/** A hybrid state at work: its event may come from outside as well. */
function takesEvent(fold: RunFold, visit: VisitView): boolean {
  const config = fold.index.nodes.get(visit.node)?.config
  return visit.current && visit.state.status === 'running' && config?.orchestration === 'hybrid'
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

/** A failure that its author foresaw: the run went on by the edge for it, and here is why. */
function WentOn({ run, output, onward }: { run: string; output: string; onward: boolean }) {
  const value = useValue(run, output)
  const json = value.data?.json
  const why = json !== undefined && isJsonObject(json) ? json : undefined
  return (
    <div role="note" className="mb-2 rounded-r2 border border-failed-line px-3 py-2 [overflow-wrap:anywhere]">
      <p>
        {onward
          ? 'It failed, and the run went on by its edge “error”.'
          : 'It gave an error, and no edge is there to take it; the walk ended here.'}{' '}
        {typeof why?.error === 'string' && <span className="text-failed-ink">{asSentence(why.error)}</span>}
        {why && why.error === undefined && why.ok === false && (
          <span className="text-failed-ink">Not every run it began completed.</span>
        )}
      </p>
      {typeof why?.code === 'string' && (
        <p className="mt-1 text-t1 text-ink-3">
          Code <span className="mono">{why.code}</span>
        </p>
      )}
    </div>
  )
}

/** The run of an agent loop or of a turn, and what its model said and did, read from that run's own ledger. */
function LoopRun({ run, counts, loop }: { run: string; counts: ChildCounts; loop: string }) {
  const detail = useRunDetail(loop)
  const fold = useRunLedger(loop, detail.data)?.fold
  return (
    <>
      <ChildList run={run} counts={counts} alike={false} ranOut={fold?.ranOut} />
      {!fold || fold.seq === 0 ? (
        <Skeleton what="the transcript" lines={4} />
      ) : (
        <Transcript run={loop} fold={fold} />
      )}
    </>
  )
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

/** True when a rollback to before the visit has something to take back, or to reset. */
function takesBack({ state }: VisitView): boolean {
  return state.status !== 'pending' && state.status !== 'rolled_back'
}

/** What came of taking a step back. */
const undoneWords: Record<RollbackStatus, string> = {
  completed: 'Taken back.',
  partial: 'Partly taken back.',
  escalated: 'Not taken back; a person was told.',
  failed: 'Taking it back failed.',
}

/** `words` where the kind says it better than the checkpoint, whose sentence is that of the action. */
function Undo({ visit, words }: { visit: VisitView; words: string | undefined }) {
  const { checkpoint } = visit
  if (!checkpoint) return null
  if (checkpoint.undone) return <>{undoneWords[checkpoint.undone.status]}</>
  return (
    <>
      {words ?? asSentence(checkpoint.description)}{' '}
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

function Failure({
  error,
  onCause,
}: {
  error: NonNullable<VisitView['error']>
  onCause: (jti: string) => void
}) {
  return (
    <div
      role="note"
      className="mb-2 rounded-r2 border border-failed-line bg-failed-wash px-3 py-2 text-failed-ink [overflow-wrap:anywhere]"
    >
      <p>{asSentence(error.description)}</p>
      <p className="mt-1 text-t1">
        Code <span className="mono">{error.code}</span>
      </p>
      <Button size="sm" className="mt-2" onClick={() => onCause(error.jti)}>
        Show what led here
      </Button>
    </div>
  )
}
