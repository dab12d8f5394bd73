/** Sealed states beside the ledger: what is purged, and what is sealed anew under another key. Their tokens stay for good. */
import type { RunId } from '@/lib/base/ids'
import type { SealedCheckpoint } from './ports'

export interface CheckpointStore {
  /** Checkpoints past their time whose sealed state is still there, the longest past first. */
  expired(now: number, limit: number): Promise<{ jti: string; runId: RunId }[]>
  /** Destroys sealed states; returns how many there were. */
  drop(jtis: readonly string[]): Promise<number>
  /** Sealed states under any key but this one, in the order of their ids, after that one. */
  notUnder(keyId: string, after: string, limit: number): Promise<SealedCheckpoint[]>
  /** Puts states sealed anew in place of what was sealed under the key named; what changed meanwhile stays. Returns how many. */
  replace(resealed: readonly { before: string; sealed: SealedCheckpoint }[]): Promise<number>
}

/** How much room a workflow has, against flooding (cascade section 9.3). */
export interface CheckpointLimits {
  /** Sealed states of one workflow at a time. */
  live: number
  perMinute: number
}

export const usualCheckpointLimits: CheckpointLimits = { live: 10_000, perMinute: 600 }
