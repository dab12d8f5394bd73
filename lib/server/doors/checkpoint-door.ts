/** A checkpoint's token, and what the checkpoint is worth now (cascade section 6.3). Never what it holds. */
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { verifyCheckpoint } from '@/lib/checkpoint/verify'
import type { CheckpointRef } from '@/lib/engine/run'
import type { Installation } from '../installation'

export interface CheckpointAnswer {
  checkpoint_id: string
  /** Compact token, as it stands in the ledger. */
  ect: string
  verification: { signature_valid: boolean; out_hash_matches: boolean; expired: boolean }
}

/** The checkpoint as it is told of. Throws Problem `not_found` when the run has none of that id. */
export async function checkpointAnswer(
  { ports, book, store }: Installation,
  runId: RunId,
  checkpointId: string,
): Promise<CheckpointAnswer> {
  const ref = await book.read(runId, (run): CheckpointRef | undefined => run.checkpoints.get(checkpointId))
  const row = ref && (await store.ledger.row(runId, ref.jti))
  if (!ref || !row)
    throw new Problem('not_found', `This run has no checkpoint "${checkpointId.slice(0, 60)}"`)
  const verdict = verifyCheckpoint({
    jti: ref.jti,
    node: ref.node,
    at: ref.at,
    ttlS: ref.ttlS,
    outHash: ref.snapshot,
    signatureValid: await ports.tokenHolds(runId, ref.jti),
    state: await openedState(ports, ref.jti),
    now: ports.timer.now(),
  })
  return {
    checkpoint_id: ref.jti,
    ect: row.token,
    verification: {
      signature_valid: verdict.signatureValid,
      out_hash_matches: verdict.outHashMatches,
      expired: verdict.expired,
    },
  }
}

async function openedState({ ledger, vault }: Installation['ports'], jti: string) {
  const sealed = await ledger.checkpoint(jti)
  try {
    return sealed && vault.open(sealed)
  } catch {
    return 'unopened'
  }
}
