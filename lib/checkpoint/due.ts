import { Problem } from '@/lib/base/problem'

/** Seconds a checkpoint serves unless its step says otherwise (ATD section 4.2). */
export const DEFAULT_TTL_S = 86_400
/** Checkpoints a run may have unless its budget says otherwise: a runaway loop must not fill the disk. */
export const DEFAULT_MAX_CHECKPOINTS = 10_000

/** What an action does to the world, as its node kind says. */
export type ConsequenceOfAction = 'read_only' | 'reversible' | 'irreversible'

/**
 * True when a checkpoint must be durable before the action begins (ATD section 4.1). Irreversible actions get one too:
 * its token is where the step declares that it cannot be undone.
 */
export function isCheckpointDue(consequence: ConsequenceOfAction): boolean {
  return consequence !== 'read_only'
}

/** Throws Problem `checkpoint_limit` when a run that has `taken` checkpoints may not take another. */
export function checkCheckpointRoom(taken: number, max: number = DEFAULT_MAX_CHECKPOINTS): void {
  if (taken < max) return
  throw new Problem(
    'checkpoint_limit',
    `The run has taken ${taken} checkpoints and may take ${max}; raise the workflow's budget or look for a loop`,
    { taken, max },
  )
}

/** When a checkpoint taken at `at` (ms) stops serving, in ms. Without a `ttlS` of its own it serves a day. */
export function expiresAt(at: number, ttlS: number = DEFAULT_TTL_S): number {
  return at + ttlS * 1000
}
