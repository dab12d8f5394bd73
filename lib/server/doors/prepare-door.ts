/*
 * Phase 1 at this installation's door (cascade section 6.5): can the checkpoint be taken back? Looks, as a rollback
 * would, and changes nothing but that the vote is remembered: asked again, the same answer is given, byte for byte.
 */
import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { Run } from '@/lib/engine/run'
import { rollbackScopes } from '@/lib/rollback/scope'
import type { CannotPrepare, RollbackScope } from '@/lib/rollback/terms'
import { makePlan, verified } from '@/lib/worker/plan'
import type { Installation } from '../installation'
import { mustAskFor } from './agrees'
import { answered } from './answered'
import { type Caller, mayCoordinate, takeToken } from './caller'
import { hasPart } from './did-steps'
import { outside } from './in-chain'
import { placeAsAncestor, runOf } from './part-in-run'
import { rollbackIdOf, rollbackUrn } from './rollback-ids'

export interface PrepareAsk {
  /** As the caller wrote it. */
  rollbackId: string
  /** As the ledger knows it, and as the caller wrote it. */
  checkpointId: string
  checkpointAs: string
  scope: RollbackScope
}

interface Vote {
  rollback_id: string
  checkpoint_id: string
  status: 'prepared' | 'cannot_prepare'
  reason?: Exclude<CannotPrepare, 'unreachable'>
  conflicting_rollback_id?: string
  /** Where the reason alone does not say it. */
  description?: string
}

const scopeOf = ({ agent }: Caller) => `agent:${agent.id} cascade prepare`

/** The vote. Throws Problem `rollback_outside_run`, `rollback_id_reused`, `ect_replayed`. */
export async function prepareAtDoor(house: Installation, caller: Caller, ask: PrepareAsk): Promise<Response> {
  const key = { scope: scopeOf(caller), key: ask.rollbackId, requestHash: hashJson(ask) }
  const known = await house.answers.answer(key.scope, key.key)
  if (known && known.requestHash !== key.requestHash) {
    throw new Problem(
      'rollback_id_reused',
      `The rollback id ${ask.rollbackId.slice(0, 80)} was used to prepare another checkpoint; a new rollback needs a new id.`,
    )
  }
  if (known) return answered(spoken(known))
  const body = JSON.stringify({ ask, vote: await voteOn(house, caller, ask) })
  const vote = { ...key, status: 200, body }
  await house.answers.remember(vote)
  // Two of the same at once: the one that was kept is both's answer.
  return answered(spoken((await house.answers.answer(key.scope, key.key)) ?? vote))
}

function spoken({ body }: { body: string }): string {
  return JSON.stringify((JSON.parse(body) as { vote: Vote }).vote)
}

/** What was prepared under this id, within the last week. */
export async function preparedVote(
  house: Installation,
  caller: Caller,
  rollbackId: string,
): Promise<PrepareAsk | undefined> {
  const kept = await house.answers.answer(scopeOf(caller), rollbackId)
  return kept && (JSON.parse(kept.body) as { ask: PrepareAsk }).ask
}

async function voteOn(house: Installation, caller: Caller, ask: PrepareAsk): Promise<Vote> {
  mustAskFor(caller, ask)
  const named = { rollback_id: ask.rollbackId, checkpoint_id: ask.checkpointAs }
  const cannot = (reason: Vote['reason'], more: Partial<Vote> = {}): Vote => ({
    ...named,
    status: 'cannot_prepare',
    reason,
    ...more,
  })
  if (await isUnknownInItsRun(house, caller, ask.checkpointId)) {
    await takeToken(house, caller)
    return cannot('unknown_checkpoint')
  }
  const { runId, checkpoint } = await placeAsAncestor(house, caller, ask.checkpointId)
  await takeToken(house, caller)
  if (checkpoint.purged) return cannot('expired')
  if (!checkpoint.reversible) return cannot('irreversible')
  const { verification } = await verified(house.ports, runId, checkpoint)
  if (verification === 'expired') return cannot('expired')
  if (verification !== 'ok') return cannot('hash_mismatch')
  const rival = await rivalOf(house, runId, rollbackIdOf(ask.rollbackId, caller.agent.id), ask.scope)
  if (rival !== undefined) return cannot('conflict', { conflicting_rollback_id: rollbackUrn(rival) })
  const plan = await makePlan(house.ports, runId, {
    checkpoint: checkpoint.jti,
    scope: ask.scope,
    mayCoordinate: mayCoordinate(caller),
  })
  if (plan.forbidden) return cannot('conflict', { description: plan.forbidden.sentence })
  const own = plan.steps.find(({ checkpointId }) => checkpointId === checkpoint.jti)
  // Agents are told of no other run than the one they have a part in.
  if (own?.changedSince) {
    return cannot('hash_mismatch', {
      description: `What "${own.label}" changed was changed by somebody else since`,
    })
  }
  return { ...named, status: 'prepared' }
}

/** A caller of the run names a checkpoint that is none of it: said plainly. Who is no part of the run is told nothing. */
async function isUnknownInItsRun(
  house: Installation,
  caller: Caller,
  checkpointId: string,
): Promise<boolean> {
  const runId = await runOf(house, caller, checkpointId)
  if (runId === undefined) throw outside(caller.agent.id, `checkpoint ${checkpointId}`)
  return house.book.read(runId, (run) => !run.checkpoints.has(checkpointId) && hasPart(run, caller.agent.id))
}

/** A rollback under way that a new one of this scope would lose against: it is as broad or broader (cascade section 6.8). */
function rivalOf(
  house: Installation,
  runId: RunId,
  own: string,
  scope: RollbackScope,
): Promise<string | undefined> {
  const breadth = (of: RollbackScope) => rollbackScopes.indexOf(of)
  return house.book.read(runId, (run: Run) => {
    if (run.state.status !== 'rolling_back' || run.state.rollback === own) return undefined
    const under = run.rollbacks.get(run.state.rollback)
    return under && breadth(under.scope) >= breadth(scope) ? under.id : undefined
  })
}
