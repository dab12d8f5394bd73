/*
 * Sealing anew what lies under former keys, so that a key can be retired. In batches, each durable when the next begins:
 * what is left is found again by the key it names, so a run that was cut short is simply started again. What a server
 * seals or purges meanwhile is never overwritten: a row is replaced only while it is under the key it was opened with.
 */
import type { RandomBytes } from '@/lib/base/chance'
import { open, type SealingKeyRing, seal } from '@/lib/checkpoint/seal'
import type { CheckpointStore } from '@/lib/engine/checkpoint-ports'
import type { SealedCheckpoint } from '@/lib/engine/ports'

/** A state may have 64 MiB, and a batch is in memory whole. */
const resealedAtOnce = 50

export interface Resealed {
  resealed: number
  /** Tokens whose state does not open, and stays as it is. */
  unopened: string[]
}

/** Seals every checkpoint anew that is under a former key; `tell` hears of each batch. */
export async function resealCheckpoints(
  checkpoints: CheckpointStore,
  keys: SealingKeyRing,
  random: RandomBytes,
  tell: (resealed: number) => void = () => undefined,
): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unopened: [] }
  let after = ''
  for (;;) {
    const batch = await checkpoints.notUnder(keys.current.keyId, after, resealedAtOnce)
    const anew = batch.flatMap((point) => {
      const sealed = sealedAnew(point, keys, random)
      if (!sealed) done.unopened.push(point.jti)
      return sealed ? [{ before: point.keyId, sealed }] : []
    })
    if (anew.length > 0) done.resealed += await checkpoints.replace(anew)
    tell(done.resealed)
    after = batch.at(-1)?.jti ?? after
    if (batch.length < resealedAtOnce) return done
  }
}

function sealedAnew(
  point: SealedCheckpoint,
  keys: SealingKeyRing,
  random: RandomBytes,
): SealedCheckpoint | undefined {
  try {
    return { ...point, ...seal(open(point.sealed, point, keys), point, keys, random) }
  } catch {
    return undefined
  }
}
