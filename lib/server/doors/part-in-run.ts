/*
 * Who belongs to a run (NOTES 3.8): an agent that did one of its steps, was asked to, or signed tokens in it. What it
 * may ask follows from where that was: a rollback from the checkpointed step or before it; telling of an error also
 * from behind it, where errors show.
 */
import { type RunId, runIdOf } from '@/lib/base/ids'
import type { CheckpointRef } from '@/lib/engine/run'
import type { Installation } from '../installation'
import type { Caller } from './caller'
import { isAncestor } from './did-steps'
import { checkpointOf, outside, type Say, tellsOf } from './in-chain'

export interface CheckpointPlace {
  runId: RunId
  checkpoint: CheckpointRef
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
  return placeWhere(house, caller, checkpointId, tellsOf)
}

async function placeWhere(
  house: Installation,
  caller: Caller,
  checkpointId: string,
  may: Say,
): Promise<CheckpointPlace> {
  const runId = await runOf(house, caller, checkpointId)
  const checkpoint = runId && (await checkpointOf(house, runId, checkpointId, caller.agent.id, may))
  if (!runId || !checkpoint) throw outside(caller.agent.id, `checkpoint ${checkpointId}`)
  return { runId, checkpoint }
}
