'use client'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { BreakerMark } from '@/components/breakers/breaker-mark'
import { percent } from '@/components/breakers/words'
import { Holder } from '@/components/rollback/holder'
import { RunName } from '@/components/run/run-name'
import { Actor } from '@/components/ui/actor'
import { Fact, Sub } from '@/components/ui/facts'
import { RelativeTime } from '@/components/ui/relative-time'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { cascadePatternWords } from '@/lib/view/circuit-wire'
import { breakerWords, partyKind } from '@/lib/view/circuit-words'
import { agentName, asSentence } from '@/lib/view/plain-words'
import type {
  AboutCascade,
  AboutCircuit,
  AboutError,
  AboutRollback,
  QuestionAbout,
} from '@/lib/view/question-wire'
import { afterCallingOff, listed, verdictNames, whyCannot } from './words'

/** Names of agents and breakers that a card lists; the rest are counted. */
const listedAtMost = 8

/**
 * What is so, and what each answer leads to, of a question that is not about a step's own act. In the order a person
 * weighs it: what is wrong, whom it reaches, then the answers.
 */
export function AboutFacts({
  about,
  of,
  answered,
}: {
  about: QuestionAbout
  /** The run that asks. */
  of: Pick<ApprovalCard, 'run' | 'workflow'>
  answered: boolean
}): ReactNode {
  switch (about.what) {
    case 'rollback':
      if (answered) return <RollbackThen about={about} />
      return about.cannot.length > 0 ? <Unprepared about={about} /> : <Critical about={about} of={of} />
    case 'cascade':
      return <Cascade about={about} answered={answered} />
    case 'circuit':
      return <Circuit about={about} answered={answered} />
    case 'error':
      return <AgentError about={about} answered={answered} />
    default:
      return about satisfies never
  }
}

/** Once it is answered: whose answers stood in the way, as far as they still do. What came of it is told below (decided.tsx). */
function RollbackThen({ about }: { about: AboutRollback }) {
  return (
    <>
      {about.cannot.length > 0 && <Cannot about={about} />}
      <OfRollback about={about} />
    </>
  )
}

function Cannot({ about: { cannot } }: { about: AboutRollback }) {
  const rest = cannot.length - listedAtMost
  return (
    <Fact label="In the way">
      <ul>
        {cannot
          .slice(0, listedAtMost)
          .map(
            ({ node, visit, label, agent, here, runs, why, description, conflict, changed, changedBy }) => (
              <li key={`${visit} ${node}`} className="mb-1 last:mb-0">
                {here && !runs ? (
                  'This installation'
                ) : (
                  <Holder part={{ agent: here ? undefined : agent, ...(here && runs && { runs }) }} />
                )}{' '}
                cannot take back “{label}”: {whyCannot(why, changed === true)}.{' '}
                {description && <Sub>{asSentence(description)}</Sub>}
                {changedBy && (
                  <>
                    {' '}
                    <Link
                      href={links.run(changedBy.run, { node: changedBy.node })}
                      className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
                    >
                      See what it did
                    </Link>
                  </>
                )}
                {conflict !== undefined && (
                  <>
                    {' '}
                    <Sub>Rollback</Sub> <span className="mono text-ink-3">{shortId(conflict)}</span>
                  </>
                )}
              </li>
            ),
          )}
        {rest > 0 && <li className="text-ink-3">and {rest} more</li>}
      </ul>
    </Fact>
  )
}

function Unprepared({ about }: { about: AboutRollback }) {
  const { cannot, can, of } = about
  const changed = cannot.filter((one) => one.changed)
  return (
    <>
      <Cannot about={about} />
      <Fact label="Without it">
        {can === 0 ? 'Nothing else is left to take back.' : `${count(can, 'step')} of ${of} are taken back.`}{' '}
        <Sub>
          {listed(cannot.slice(0, 3).map(({ label }) => `“${label}”`))}
          {cannot.length > 3 && ` and ${cannot.length - 3} more`} {cannot.length === 1 ? 'stays' : 'stay'} as{' '}
          {cannot.length === 1 ? 'it is' : 'they are'}, and the ledger says so.
        </Sub>
      </Fact>
      {changed.length > 0 && (
        <Fact label="Put back">
          {listed(changed.slice(0, 3).map(({ label }) => `“${label}”`))}
          {changed.length > 3 && ` and ${changed.length - 3} more`} {changed.length === 1 ? 'is' : 'are'}{' '}
          taken back all the same{can > 0 && `, and the rest with ${changed.length === 1 ? 'it' : 'them'}`}.{' '}
          <Sub>That undoes what was changed since, too; your reason is kept with your name.</Sub>
        </Fact>
      )}
      <Fact label="Called off">
        Nothing is taken back. <Sub>{afterCallingOff(about)}</Sub>
      </Fact>
      <Fact label="Handed on">
        Nothing is taken back. <Sub>The run counts as escalated, for a person to mend it elsewhere.</Sub>
      </Fact>
      <Fact label="Asked again">
        Whoever said no is asked once more.{' '}
        <Sub>What kept it may have passed; nothing changes by asking.</Sub>
      </Fact>
      <OfRollback about={about} />
    </>
  )
}

function Critical({ about, of }: { about: AboutRollback; of: Pick<ApprovalCard, 'run' | 'workflow'> }) {
  const { critical, holders } = about
  return (
    <>
      <Fact label="Run">
        <RunName {...of} />
      </Fact>
      {critical.length > 0 && (
        <Fact label="Reaches">
          <ul>
            {critical.slice(0, listedAtMost).map(({ node, label, agent, run, workflow }) => (
              <li key={`${run} ${node}`}>
                “{label}”
                {run && (
                  <>
                    {' '}
                    of <RunName run={run} workflow={workflow} />
                  </>
                )}
                {agent && (
                  <>
                    , by{' '}
                    <span className="mono" title={agent}>
                      {agentName(agent)}
                    </span>
                  </>
                )}
              </li>
            ))}
          </ul>
          <Sub>
            {critical.length > listedAtMost && `And ${critical.length - listedAtMost} more. `}
            {critical.length === 1 ? 'Its author calls it critical.' : 'Their authors call them critical.'}
          </Sub>
        </Fact>
      )}
      {holders && (
        <Fact label="Held by">
          <Holders {...holders} />
        </Fact>
      )}
      <Fact label={verdictNames.goOn}>
        All of its steps are taken back. <Sub>Nothing has changed yet.</Sub>
      </Fact>
      <Fact label={verdictNames.callOff}>
        Nothing is taken back. <Sub>{afterCallingOff(about)}</Sub>
      </Fact>
      <OfRollback about={about} />
    </>
  )
}

/** Everyone who holds part of what a rollback takes back. */
function Holders({ agents, runs, here }: NonNullable<AboutRollback['holders']>) {
  return (
    <ul>
      {agents.slice(0, listedAtMost).map((agent) => (
        <li key={agent} className="mono" title={agent}>
          {agentName(agent)}
        </li>
      ))}
      {agents.length > listedAtMost && (
        <li className="text-ink-3">and {agents.length - listedAtMost} more agents</li>
      )}
      {runs.map(({ run, workflow }) => (
        <li key={run}>
          <RunName run={run} workflow={workflow} />
          <Sub>, a run below</Sub>
        </li>
      ))}
      {here && <li>this installation</li>}
    </ul>
  )
}

function OfRollback({ about: { by, askedAt, reason } }: { about: AboutRollback }) {
  return (
    <Fact label="Rollback">
      Asked by <Actor id={by} /> <RelativeTime at={askedAt} className="text-ink-3" />
      {reason ? `: ${asSentence(reason)}` : '.'}
    </Fact>
  )
}

const patternSentence: Record<AboutCascade['pattern'], string> = {
  error_clustering: 'Breakers of several callers opened on one downstream',
  depth_first: 'Errors run along a chain of calls, each from the one before',
  breadth_first: 'Steps beside each other fail from one cause',
  latency_spike: 'Answers became far slower than usual',
  resource_exhaustion: 'Something ran out of room',
}

function Cascade({ about, answered }: { about: AboutCascade; answered: boolean }) {
  const { agents, affected, origin, pattern } = about
  const rest = Math.max(affected, agents.length) - Math.min(agents.length, listedAtMost)
  return (
    <>
      <Fact label="Pattern">
        {patternSentence[pattern] ?? cascadePatternWords[pattern]}. <Sub>{asSentence(about.description)}</Sub>
      </Fact>
      <Fact label="Comes from">
        “{origin.label}”{origin.visit > 1 && `, visit ${origin.visit}`}{' '}
        <Sub>
          seen <RelativeTime at={about.seenAt} />
        </Sub>
      </Fact>
      <Fact label="Reaches">
        {count(affected, 'agent or step', 'agents and steps')}
        {agents.length > 0 && (
          <ul className="mt-0.5 flex flex-wrap gap-x-3">
            {agents.slice(0, listedAtMost).map((name) => (
              <li key={name} className="mono" title={name}>
                {name.startsWith('spiffe://') ? agentName(name) : name}
              </li>
            ))}
            {rest > 0 && <li className="text-ink-3">and {rest} more</li>}
          </ul>
        )}
      </Fact>
      {!answered && (
        <Fact label="Answering">
          Changes nothing by itself. <Sub>Taking back has a preview first; the run goes on meanwhile.</Sub>
        </Fact>
      )}
    </>
  )
}

/** Once it is answered, how its breakers stand is told live below (probe-progress.tsx). */
function Circuit({ about, answered }: { about: AboutCircuit; answered: boolean }) {
  const { downstream, circuits } = about
  const waiting = circuits.reduce((sum, circuit) => sum + circuit.waiting, 0)
  return (
    <>
      <Fact label={answered ? 'Failed' : 'Failing'}>
        <span className="mono" title={downstream.id}>
          {downstream.name}
        </span>
        , {article(partyKind(downstream.id))}.{' '}
        <Sub>
          {waiting === 0 ? 'No run waits for it now.' : `${count(waiting, 'run waits', 'runs wait')} for it.`}
        </Sub>
      </Fact>
      {!answered && <CircuitAnswers about={about} />}
    </>
  )
}

function CircuitAnswers({ about: { circuits, held } }: { about: AboutCircuit }) {
  const rest = circuits.length - listedAtMost
  return (
    <>
      <Fact label="Breakers">
        <ul>
          {circuits.slice(0, listedAtMost).map((circuit) => (
            <li key={circuit.id} className="flex flex-wrap items-center gap-x-3">
              <BreakerMark shown={circuit.status} className="min-w-40">
                <Link
                  href={links.breakers({ circuit: circuit.id })}
                  className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
                >
                  {circuit.caller.name}
                </Link>{' '}
                {breakerWords[circuit.status]}
              </BreakerMark>
              {circuit.status === 'open' && (
                <span className="tabular-nums text-ink-2">
                  {circuit.failures !== undefined && circuit.calls !== undefined
                    ? `${circuit.failures} of ${circuit.calls} calls failed`
                    : `${percent(circuit.errorRate)} failed`}
                </span>
              )}
              {circuit.waiting > 0 && (
                <span className="text-ink-3">{count(circuit.waiting, 'run waits', 'runs wait')}</span>
              )}
            </li>
          ))}
          {rest > 0 && <li className="text-ink-3">and {rest} more</li>}
        </ul>
      </Fact>
      <Fact label="One probe">
        One call at a time tries it again, each breaker in its turn; this card then shows whose, and what came
        of it.{' '}
        <Sub>
          If it answers well that breaker closes and its runs go on; if not, no other goes and you are asked
          again.
        </Sub>
      </Fact>
      <Fact label="Keep it open">
        No call goes to it for an hour.{' '}
        <Sub>What waits stays waiting, or is done without, as each workflow says.</Sub>
      </Fact>
      {!held && <Fact label="Now">Its probes are not held any more.</Fact>}
    </>
  )
}

function article(kind: string): string {
  return /^[aeiouAEIOUM]/.test(kind) && kind !== 'model backend' ? `an ${kind}` : `a ${kind}`
}

function AgentError({ about, answered }: { about: AboutError; answered: boolean }) {
  const { agent, checkpoint, errorType, severity, upstream } = about
  return (
    <>
      <Fact label="Agent">
        <span className="mono" title={agent}>
          {agentName(agent)}
        </span>{' '}
        <Sub>
          told of it <RelativeTime at={about.at} />
        </Sub>
      </Fact>
      <Fact label="What failed">
        {asSentence(about.description)}{' '}
        <Sub>
          {severity}, <span className="mono">{errorType}</span>
        </Sub>
      </Fact>
      <Fact label="Of">
        “{checkpoint.label}”{checkpoint.visit > 1 && `, visit ${checkpoint.visit}`}
        {checkpoint.target && <Sub> on {checkpoint.target}</Sub>}
      </Fact>
      {upstream.length > 0 && (
        <Fact label="Follows from">
          {count(upstream.length, 'other error')}{' '}
          <Sub>
            {upstream.slice(0, 3).map((id) => (
              <span key={id} className="mono mr-2" title={id}>
                {shortId(id)}
              </span>
            ))}
          </Sub>
        </Fact>
      )}
      {!answered && (
        <Fact label="Answering">
          Changes nothing by itself. <Sub>Taking back has a preview first.</Sub>
        </Fact>
      )}
    </>
  )
}

/** Where a question leads besides its answers: what shows it, and what takes it back. */
export function waysFrom(card: ApprovalCard): { key?: string; word: string; href: string }[] {
  const { about } = card
  switch (about?.what) {
    case undefined:
      return []
    case 'rollback':
      return [
        {
          key: 'v',
          word: about.cannot.length > 0 ? 'Show the votes' : 'Show the rollback',
          href: links.rollback(card.run, { node: about.node, rollback: about.rollback }),
        },
      ]
    case 'cascade':
      return [
        { word: 'See it on the graph', href: links.run(card.run, { node: about.origin.node }) },
        {
          key: 'r',
          word: 'Roll back from here…',
          href: links.rollback(card.run, { node: about.origin.node, scope: 'sub_dag' }),
        },
      ]
    case 'circuit':
      return [{ key: 'b', word: 'Show the breakers', href: links.breakers({ show: 'troubled' }) }]
    case 'error':
      return [
        {
          key: 'r',
          word: 'Roll back from here…',
          href: links.rollback(card.run, { node: about.checkpoint.node, scope: 'sub_dag' }),
        },
      ]
    default:
      return about satisfies never
  }
}
