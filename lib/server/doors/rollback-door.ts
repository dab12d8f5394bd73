/*
 * Rollbacks over the cascade and AERR endpoints (cascade section 6, AERR section 7): one core, whatever the request
 * looked like.
 *
 *   who asks ─▶ the same request before? ─▶ its first answer, byte for byte
 *                   │ no
 *                   ▼
 *   in the run, and an ancestor ─▶ replay ─▶ plan ─▶ asked for, with the answer's key, in one commit ─▶ wait ─▶ answer
 *
 * A rollback is known by the id its agent gave it, and the run's own id is that UUID again: a request that comes after
 * its answer was forgotten, or after a crash in between, finds the rollback in the ledger and asks for no second one.
 * An answer is final once it was given: what is over, or what a person was asked about, is kept as it was told.
 */
import { type Hash, hashJson } from '@/lib/base/hash'
import type { RollbackId, RunId } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import type { Rollback } from '@/lib/engine/run'
import { overallStatus } from '@/lib/rollback/outcome'
import type { RollbackScope, RollbackStatus } from '@/lib/rollback/terms'
import { readJson } from '@/lib/worker/run-book'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { mustAskFor } from './agrees'
import { answered } from './answered'
import { askRollback } from './ask-rollback'
import { awaitRollback } from './await-rollback'
import { type Caller, mayCoordinate, takeToken } from './caller'
import { placeAsAncestor, runOf } from './part-in-run'
import { preparedVote } from './prepare-door'
import { rollbackIdOf, rollbackUrn } from './rollback-ids'

export type Protocol = 'cascade' | 'aerr'

export interface RollbackAsk {
  /** As the caller wrote it. */
  rollbackId: string
  /** As the ledger knows it, and as the caller wrote it. */
  checkpointId: string
  checkpointAs: string
  /** Absent: as it was prepared; else the sub-DAG (NOTES 3.7). */
  scope?: RollbackScope
  reason: string
}

/** What a rollback came to, in no protocol's words. */
export interface RollbackTold {
  status: RollbackStatus
  /** State of the asked checkpoint's target before and after, where it could be read. */
  before?: Hash
  after?: Hash
  /** By agent, without the asked checkpoint itself. */
  cascaded: { agent: string; status: RollbackStatus }[]
  failedAgents: string[]
}

/**
 * Asks for the rollback, waits, and answers in the words that `spoken` gives it. Throws Problem `rollback_outside_run`,
 * `rollback_id_reused`, `rollback_conflict`, `ect_replayed`, and the refusals of `checkExecutable`.
 */
export async function rollbackAtDoor(
  house: Installation,
  caller: Caller,
  protocol: Protocol,
  ask: RollbackAsk,
  spoken: (told: RollbackTold) => object,
): Promise<Response> {
  const scope = `agent:${caller.agent.id} ${protocol} rollback`
  const requestHash = hashJson(ask)
  const given = await house.answers.answer(`${scope} answer`, ask.rollbackId)
  if (given) {
    mustBeSame(given.requestHash, requestHash, ask)
    return answered(given.body)
  }
  const rollback = rollbackIdOf(ask.rollbackId, caller.agent.id)
  const runId =
    (await askedBefore(house, caller, scope, requestHash, ask, rollback)) ??
    (await askNow(house, caller, scope, requestHash, ask, rollback))
  const standing = await awaitRollback(house, runId, rollback, { orAsked: true })
  if (standing.stands === 'under_way') {
    const { rollbackId: rollback_id, checkpointAs: checkpoint_id } = ask
    return json(
      { rollback_id, status: 'executing', checkpoint_id },
      { status: 202, headers: { 'retry-after': '5' } },
    )
  }
  if (standing.rollback.supersededBy !== undefined) throw taken(standing.rollback.supersededBy)
  const told = await toldOf(house, runId, standing.rollback, ask.checkpointId, standing.stands === 'asked')
  const body = JSON.stringify(spoken(told))
  await house.answers.remember({
    scope: `${scope} answer`,
    key: ask.rollbackId,
    requestHash,
    status: 200,
    body,
  })
  const kept = await house.answers.answer(`${scope} answer`, ask.rollbackId)
  return answered(kept?.body ?? body)
}

function mustBeSame(known: Hash, asked: Hash, { rollbackId }: RollbackAsk): void {
  if (known === asked) return
  throw new Problem(
    'rollback_id_reused',
    `The rollback id ${rollbackId.slice(0, 80)} was used for another request; a new rollback needs a new id.`,
  )
}

/** The run in which this rollback was asked for already, by the same agent. */
async function askedBefore(
  house: Installation,
  caller: Caller,
  scope: string,
  requestHash: Hash,
  ask: RollbackAsk,
  rollback: RollbackId,
): Promise<RunId | undefined> {
  const first = await house.answers.answer(scope, ask.rollbackId)
  if (first) {
    mustBeSame(first.requestHash, requestHash, ask)
    return (JSON.parse(first.body) as { run: RunId }).run
  }
  // Answers are forgotten after a week; the ledger never is.
  const runId = await runOf(house, caller, ask.checkpointId)
  if (runId === undefined) return undefined
  const by = await house.book.read(runId, (run) => run.rollbacks.get(rollback)?.by)
  if (by === undefined) return undefined
  if (by === `agent:${caller.agent.id}`) return runId
  throw new Problem(
    'rollback_id_reused',
    `The rollback id ${ask.rollbackId.slice(0, 80)} is another one's in this run; a new rollback needs a new id.`,
  )
}

async function askNow(
  house: Installation,
  caller: Caller,
  keyedBy: string,
  requestHash: Hash,
  ask: RollbackAsk,
  rollback: RollbackId,
): Promise<RunId> {
  const { runId, checkpoint } = await placeAsAncestor(house, caller, ask.checkpointId)
  const vote = await preparedVote(house, caller, ask.rollbackId)
  if (vote && vote.checkpointId !== ask.checkpointId) mustBeSame('', requestHash, ask)
  const scope = ask.scope ?? vote?.scope ?? 'sub_dag'
  mustAskFor(caller, { ...ask, scope })
  await takeToken(house, caller)
  const wish = { checkpoint: checkpoint.jti, scope, mayCoordinate: mayCoordinate(caller) }
  const first = {
    scope: keyedBy,
    key: ask.rollbackId,
    requestHash,
    status: 202,
    body: JSON.stringify({ run: runId, rollback }),
  }
  const asked = { rollback, reason: ask.reason, by: `agent:${caller.agent.id}` }
  try {
    await askRollback(house, runId, wish, asked, first)
  } catch (error) {
    // The same request, sent twice at once: the other one asked for it.
    const theirs = await house.answers.answer(keyedBy, ask.rollbackId)
    if (theirs?.requestHash !== requestHash) throw conflictInUrn(error)
  }
  return runId
}

function conflictInUrn(error: unknown): unknown {
  if (!isProblem(error, 'rollback_conflict')) return error
  const id = error.data.conflicting_rollback_id
  return typeof id === 'string' ? taken(id, error.message) : error
}

function taken(id: string, sentence?: string): Problem {
  return new Problem(
    'rollback_conflict',
    sentence ??
      `The broader rollback ${rollbackUrn(id)} took this one over; its answer is the one that counts.`,
    { conflicting_rollback_id: rollbackUrn(id) },
  )
}

async function toldOf(
  house: Installation,
  runId: RunId,
  rollback: Rollback,
  checkpointId: string,
  isAsked: boolean,
): Promise<RollbackTold> {
  const byAgent = new Map<string, RollbackStatus[]>()
  const agents = await agentsOf(house, runId, rollback)
  for (const [id, { status = 'escalated' }] of rollback.acts) {
    if (id === checkpointId) continue
    const agent = agents.get(id) ?? house.id
    byAgent.set(agent, [...(byAgent.get(agent) ?? []), status])
  }
  const cascaded = [...byAgent].map(([agent, statuses]) => ({ agent, status: overallStatus(statuses) }))
  const own = rollback.acts.get(checkpointId)
  const lost = [...rollback.acts].filter(([, act]) => act.status !== 'completed')
  return {
    status: isAsked ? 'escalated' : (rollback.status ?? 'failed'),
    before: own?.stateHashBefore,
    after: own?.stateHashAfter,
    cascaded,
    failedAgents: [...new Set(lost.map(([id]) => agents.get(id) ?? house.id))],
  }
}

/** Who held each checkpoint, as the plan has it; this installation, where no agent did. */
async function agentsOf(house: Installation, runId: RunId, rollback: Rollback): Promise<Map<string, string>> {
  const plan = (await readJson(house.store.ledger, rollback.plan)) as
    | { steps?: { checkpointId?: string; node: string; visit: number; agent?: string }[] }
    | undefined
  const holders = await house.book.read(
    runId,
    (run) => new Map([...run.claimants].map(([node, who]) => [node, [...who].at(-1)])),
  )
  const agents = new Map<string, string>()
  for (const { checkpointId, node, visit, agent } of plan?.steps ?? []) {
    const holder = agent ?? holders.get(node)
    if (holder !== undefined) agents.set(checkpointId ?? `${node}/${visit}`, holder)
  }
  return agents
}
