/*
 * What a bundle says in its own words beside the ledgers, and that a verifier holds against them: the decisions of
 * people, and the figures that the report gives. Each claim names the token that bears it out.
 */
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { Fact, FactOf } from '@/lib/engine/facts'
import { actsOfPeople } from '@/lib/view/acts-of-people'
import type { Evidence, Noted, RunEvidence } from './evidence'

type Deciding = (typeof actsOfPeople)[number]

/** Members of those facts that a decision repeats. */
const repeated = [
  ...['node', 'visit', 'verdict', 'event', 'comment', 'reason', 'action', 'edited', 'seen', 'approval'],
  ...['rollback', 'scope', 'overwrite', 'choice'],
] as const

/** One decision: who, what, when and why. Members as the fact of its token has them. */
export interface DecisionClaim {
  run: RunId
  seq: number
  jti: string
  type: Deciding
  at: number
  by: string
  /** What was asked: the sentence with verb and target, and whom. */
  asked?: { jti: string; sentence: string; role: string }
  [member: string]: unknown
}

export interface ReportClaims {
  run: RunId
  /** The state it shows, ms since the epoch. */
  at: number
  runs: {
    run: RunId
    tokens: number
    lastHash: Hash
    status: string
    terminal?: string
    startedAt?: number
    endedAt?: number
  }[]
  artifacts: { run: RunId; seq: number; jti: string; artifact: string; mode: string; value: Hash }[]
  errors: { run: RunId; seq: number; jti: string; severity: string; code: string; node: string }[]
  rollbacks: { run: RunId; rollback: string; status: string }[]
  decisions: number
  values: { count: number; bytes: number }
  leftOut: number
}

/** The decisions of all runs, in the order of the runs and of their ledgers. */
export function decisionsOf({ runs }: Pick<Evidence, 'runs'>): DecisionClaim[] {
  return runs.flatMap((run) => {
    const asked = new Map<string, FactOf<'approval_asked'>>()
    return run.notes.flatMap((note): DecisionClaim[] => {
      if (note.fact?.type === 'approval_asked') asked.set(note.fact.approval, note.fact)
      return isDeciding(note.fact) ? [decisionOf(run.run, note, note.fact, asked)] : []
    })
  })
}

function isDeciding(fact: Fact | undefined): fact is FactOf<Deciding> {
  return fact !== undefined && (actsOfPeople as readonly string[]).includes(fact.type)
}

function decisionOf(
  run: RunId,
  { seq, jti }: Noted,
  fact: FactOf<Deciding>,
  questions: ReadonlyMap<string, FactOf<'approval_asked'>>,
): DecisionClaim {
  const members: Record<string, unknown> = { ...fact }
  const said = Object.fromEntries(
    repeated.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
  )
  const question = 'approval' in fact ? questions.get(fact.approval) : undefined
  const asked = question && { jti: question.jti, sentence: question.sentence, role: question.role }
  return { run, seq, jti, type: fact.type, at: fact.at, by: fact.by, ...said, ...(asked && { asked }) }
}

/** What the report claims, for programs. */
export function reportClaims(evidence: Evidence): ReportClaims {
  const { runs, values, leftOut, at } = evidence
  const of = <T>(read: (run: RunEvidence, note: Noted, fact: Fact) => T | undefined): T[] =>
    runs.flatMap((run) => run.notes.flatMap((note) => (note.fact && read(run, note, note.fact)) ?? [])) as T[]
  return {
    run: (runs[0] as RunEvidence).run,
    at,
    runs: runs.map(standingOf),
    artifacts: of(({ run }, { seq, jti }, fact) => {
      if (fact.type !== 'artifact_set') return undefined
      const { artifact, mode, value } = fact
      return { run, seq, jti, artifact, mode, value }
    }),
    errors: of(({ run }, { seq, jti }, fact) => {
      if (fact.type !== 'error') return undefined
      const { severity, code, node } = fact
      return { run, seq, jti, severity, code, node }
    }),
    rollbacks: runs.flatMap(({ run, folded }) =>
      [...folded.rollbacks.values()].map(({ id, status }) => ({
        ...{ run, rollback: id, status: status ?? 'executing' },
      })),
    ),
    decisions: decisionsOf(evidence).length,
    values: { count: values.size, bytes: [...values.values()].reduce((sum, { size }) => sum + size, 0) },
    leftOut: leftOut.length,
  }
}

function standingOf({ run, tokens, lastHash, folded }: RunEvidence): ReportClaims['runs'][number] {
  const { state, start } = folded
  const ended = state.status === 'ended' ? { terminal: state.terminal, endedAt: state.at } : {}
  return { run, tokens, lastHash, status: state.status, ...(start && { startedAt: start.at }), ...ended }
}
