import type { CheckpointStore } from '@/lib/engine/checkpoint-ports'
import type { SealedCheckpoint } from '@/lib/engine/ports'

/** Sealed states in memory, as SQLite keeps them; without caps. */
export function memoryCheckpoints(checkpoints: Map<string, SealedCheckpoint>): CheckpointStore {
  return {
    expired: async (now, limit) =>
      [...checkpoints.values()]
        .filter((point) => point.expiresAt < now)
        .sort((a, b) => a.expiresAt - b.expiresAt)
        .slice(0, limit)
        .map(({ jti, runId }) => ({ jti, runId })),
    drop: async (jtis) => jtis.filter((jti) => checkpoints.delete(jti)).length,
    notUnder: async (keyId, after, limit) =>
      [...checkpoints.values()]
        .filter((point) => point.keyId !== keyId && point.jti > after)
        .sort((a, b) => (a.jti < b.jti ? -1 : 1))
        .slice(0, limit),
    async replace(resealed) {
      const held = resealed.filter(({ before, sealed }) => checkpoints.get(sealed.jti)?.keyId === before)
      for (const { sealed } of held) checkpoints.set(sealed.jti, { ...sealed })
      return held.length
    },
  }
}
