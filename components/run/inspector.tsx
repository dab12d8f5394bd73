'use client'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { Decision } from '@/components/approvals/decision'
import { LiveTime } from '@/components/run-graph/graph-node'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { TabPanel, Tabs } from '@/components/ui/tabs'
import { duration } from '@/lib/ui/format-time'
import { useRunLedger } from '@/lib/ui/ledger'
import type { Verification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { beginsTalk } from '@/lib/view/child-kinds'
import { type NodeFrame, visitShown } from '@/lib/view/frame'
import { asSentence } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'
import type { ChildCounts, RunDetail, WaitsIn } from '@/lib/view/run-wire'
import type { VisitView } from '@/lib/view/visit-view'
import { CheckpointView } from './checkpoint-view'
import { ChildList } from './child-list'
import { LeadsTo } from './leads-to'
import type { ShownRun } from './shown-run'
import { TokenList } from './token-list'
import { Transcript } from './transcript'
import { ValueBlock } from './value-block'
import { Outcome } from './visit-outcome'

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
