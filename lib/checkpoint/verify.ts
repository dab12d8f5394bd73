import { type Hash, hashJson } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { expiresAt } from './due'

/** What a checkpoint is worth now. */
export type Verification = 'ok' | 'expired' | 'tampered' | 'missing'

export interface CheckpointVerdict {
  verification: Verification
  signatureValid: boolean
  outHashMatches: boolean
  expired: boolean
  /** Present unless `ok`: the refusal to throw or to show. */
  problem?: Problem
}

/**
 * Whether a checkpoint may be used for a rollback (cascade section 6.6): its token verifies, the state is there and
 * hashes to `out_hash`, and its `ttl` has not passed. `state` is undefined when it was purged or never stored, and
 * 'unopened' when `open` refused it. `at` and `now` are ms.
 */
export function verifyCheckpoint(checkpoint: {
  jti: string
  node: string
  at: number
  ttlS: number
  /** The token's `out_hash`. */
  outHash: Hash
  /** Does the checkpoint's token verify (lib/ect)? */
  signatureValid: boolean
  state: JsonObject | 'unopened' | undefined
  now: number
}): CheckpointVerdict {
  const { state, signatureValid, now, jti, node } = checkpoint
  const ends = expiresAt(checkpoint.at, checkpoint.ttlS)
  const expired = now >= ends
  const outHashMatches = typeof state === 'object' && hashJson(state) === checkpoint.outHash
  const facts = { signatureValid, outHashMatches, expired }
  const refused = (
    verification: Verification,
    code: ConstructorParameters<typeof Problem>[0],
    sentence: string,
  ) => ({
    ...facts,
    verification,
    problem: new Problem(code, sentence, { jti, node }),
  })
  if (!signatureValid) {
    return refused('tampered', 'checkpoint_tampered', `The checkpoint token of step ${node} does not verify`)
  }
  // Expiry before absence: past its time the state is purged, and why it is gone is the better answer.
  if (expired) {
    const agoS = Math.floor((now - ends) / 1000)
    return refused('expired', 'checkpoint_expired', `The checkpoint of step ${node} expired ${agoS} s ago`)
  }
  if (state === undefined) {
    return refused(
      'missing',
      'checkpoint_missing',
      `The state sealed before step ${node} is no longer stored`,
    )
  }
  if (!outHashMatches) {
    const sentence = `The state sealed before step ${node} is not the one its token vouches for ("out_hash" differs)`
    return refused('tampered', 'checkpoint_tampered', sentence)
  }
  return { ...facts, verification: 'ok' }
}
