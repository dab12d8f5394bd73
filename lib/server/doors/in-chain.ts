/*
 * Whose chain a checkpoint is of: an agent's that did its step, or a step that `may` takes as well, or signed a token that
 * the checkpoint follows from.
 */
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CheckpointRef, Run } from '@/lib/engine/run'
import type { Installation } from '../installation'
import { isAncestor, isDescendant } from './did-steps'

/** Which of a run's steps, beside the checkpointed one, give an agent a say about it. */
export type Say = (run: Run, node: string, agent: string) => boolean

/** Errors are told from before the step and from behind it, where they show. */
export const tellsOf: Say = (run, node, agent) =>
  isAncestor(run, node, agent) || isDescendant(run, node, agent)

/** The checkpoint, where the agent has a say about it; undefined where it has none, or there is none. */
export async function checkpointOf(
  house: Installation,
  runId: RunId,
  checkpointId: string,
  agent: string,
  may: Say,
): Promise<CheckpointRef | undefined> {
  const seen = await house.book.read(runId, (run) => {
    const checkpoint = run.checkpoints.get(checkpointId)
    const mays = checkpoint !== undefined && may(run, checkpoint.node, agent)
    return { checkpoint, mays, reports: run.reported?.agents.has(agent) === true }
  })
  if (seen.mays) return seen.checkpoint
  // Who only signed tokens that joined the run did none of its steps: then the tokens themselves are asked.
  const signed = seen.reports && seen.checkpoint && (await signedBefore(house, runId, checkpointId, agent))
  return signed ? seen.checkpoint : undefined
}

/** The refusal of whoever has no say; the same for a run, or a checkpoint, that is not there. */
export function outside(agent: string, what: string): Problem {
  return new Problem(
    'rollback_outside_run',
    `${agent} has no part in the run of ${what.slice(0, 100)} that would let it ask; only agents of the same run may.`,
  )
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
