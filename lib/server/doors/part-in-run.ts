/*
 * Who belongs to a run (NOTES 3.8): an agent that did one of its steps, was asked to, or signed tokens in it. What it
 * may ask follows from where that was: a rollback from the checkpointed step or before it; telling of an error also
 * from behind it, where errors show.
 */
import { type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CheckpointRef, Run } from '@/lib/engine/run'
import type { Installation } from '../installation'
import type { Caller } from './caller'
import { isAncestor, isDescendant } from './did-steps'

export interface CheckpointPlace {
  runId: RunId
  checkpoint: CheckpointRef
}

/** The refusal of whoever has no part in it; the same for a run, or a checkpoint, that is not there. */
export function outside(caller: Caller, what: string): Problem {
  return new Problem(
    'rollback_outside_run',
    `${caller.agent.id} has no part in the run of ${what.slice(0, 100)} that would let it ask; only agents of the same run may.`,
  )
}

/**
 * The run that a request is about: the token's own; without one, the run that the checkpoint was sealed in. Undefined
 * when there is no such run.
 */
export async function runOf(
  house: Installation,
  { signed }: Caller,
  checkpointId: string,
): Promise<RunId | undefined> {
  const { ledger } = house.store
  const runId = signed ? runIdOf(signed.claims.wid) : (await ledger.checkpoint(checkpointId))?.runId
  return runId !== undefined && (await ledger.header(runId)) ? runId : undefined
}

/** The checkpoint, if the caller did its step or one before it. Throws Problem `rollback_outside_run`. */
export async function placeAsAncestor(
  house: Installation,
  caller: Caller,
  checkpointId: string,
): Promise<CheckpointPlace> {
  return placeWhere(house, caller, checkpointId, isAncestor)
}

/** The checkpoint, if the caller's steps and the checkpoint's stand in one chain. Throws Problem `rollback_outside_run`. */
export async function placeInChain(
  house: Installation,
  caller: Caller,
  checkpointId: string,
): Promise<CheckpointPlace> {
  const inChain = (run: Run, node: string, agent: string) =>
    isAncestor(run, node, agent) || isDescendant(run, node, agent)
  return placeWhere(house, caller, checkpointId, inChain)
}

async function placeWhere(
  house: Installation,
  caller: Caller,
  checkpointId: string,
  mayAsk: (run: Run, node: string, agent: string) => boolean,
): Promise<CheckpointPlace> {
  const runId = await runOf(house, caller, checkpointId)
  const refusal = outside(caller, `checkpoint ${checkpointId}`)
  if (runId === undefined) throw refusal
  const agent = caller.agent.id
  const { checkpoint, may, reports } = await house.book.read(runId, (run) => {
    const checkpoint = run.checkpoints.get(checkpointId)
    const may = checkpoint !== undefined && mayAsk(run, checkpoint.node, agent)
    return { checkpoint, may, reports: run.reported?.agents.has(agent) === true }
  })
  if (!checkpoint) throw refusal
  // Who only signed tokens that joined the run did none of its steps: then the tokens themselves are asked.
  if (!may && !(reports && (await signedBefore(house, runId, checkpointId, agent)))) throw refusal
  return { runId, checkpoint }
}

/** NOTES 1: where a walk through ancestors stops. */
const maxAncestors = 10_000

/** Is a token of the agent among those that the checkpoint follows from? */
async function signedBefore(
  { store }: Installation,
  runId: RunId,
  checkpointId: string,
  agent: string,
): Promise<boolean> {
  const reached = new Set([checkpointId])
  // A Set is walked in the order it grows, so it serves as the queue too.
  for (const jti of reached) {
    const row = await store.ledger.row(runId, jti)
    if (!row) continue
    const { iss, par } = unverifiedPayload(row.token)
    if (iss === agent) return true
    for (const parent of Array.isArray(par) ? par : []) {
      if (typeof parent === 'string' && reached.size < maxAncestors) reached.add(parent)
    }
  }
  return false
}
