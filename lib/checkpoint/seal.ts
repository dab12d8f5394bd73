/*
 * Checkpoints: what makes a consequential step something that can be taken back.
 *
 * Before a step changes the world, the state it is about to change is written down: canonical JSON, hashed, sealed,
 * durable. The token (lib/ect) carries only the hash, as `out_hash`; the state itself lies in the store, where nobody
 * who reads the store can read it. This room knows three things about a checkpoint and nothing else:
 *
 *   due.ts      when one must exist, and how many a run may have
 *   seal.ts     how its state is hidden and bound to its place
 *   verify.ts   whether it may still be used
 *
 * A sealed state is AES-256-GCM under one of the installation's sealing keys, named in the envelope, so that keys
 * rotate and old checkpoints still open:
 *
 *   version │ key id length │ key id │ nonce      │ ciphertext │ tag
 *   1 octet │ 1 octet       │ ASCII  │ 12 octets  │ …          │ 16 octets
 *
 * The token's id, the run, the node and the visit are authenticated with it. A state copied onto another step's row
 * does not open there: without that, whoever can write to the store could have a rollback put the wrong bytes back.
 *
 * What never happens here: contents or keys in a refusal, in a token, in a log. A state that does not open is not
 * repaired, guessed or partly returned. No clock and no chance: both arrive as arguments.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { RandomBytes } from '@/lib/base/chance'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'

/** What a sealed state is bound to: it opens only in the place it was sealed for. */
export interface CheckpointPlace {
  /** The checkpoint token's id. */
  jti: string
  runId: string
  node: string
  visit: number
}

/** The keys of the installation's ring that seal and open (lib/ect/keys-file.ts). */
export interface SealingKeyRing {
  current: { keyId: string; key: KeyObject }
  find(keyId: string): { keyId: string; key: KeyObject } | undefined
}

/** A state of this size is no configuration any more; a run with a few of them would fill a small disk. */
export const STATE_MAX_BYTES = 64 * 1024 * 1024

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals a state under the current key. `random` gives the 96-bit nonce: it must never give the same one twice.
 * Throws Problem `too_large`, and a TypeError for what is not JSON.
 */
export function seal(
  state: JsonObject,
  place: CheckpointPlace,
  keys: SealingKeyRing,
  random: RandomBytes,
): { keyId: string; sealed: Uint8Array } {
  const { keyId, key } = keys.current
  const plain = Buffer.from(canonicalJson(state), 'utf8')
  if (plain.length > STATE_MAX_BYTES) {
    throw new Problem(
      'too_large',
      `The state before step ${place.node} is ${plain.length} bytes; a checkpoint holds at most ${STATE_MAX_BYTES}`,
      { node: place.node },
    )
  }
  const nonce = random(NONCE_BYTES)
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`A nonce has ${NONCE_BYTES} octets`)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(boundTo(place, keyId))
  const hidden = Buffer.concat([cipher.update(plain), cipher.final()])
  const name = Buffer.from(keyId, 'latin1')
  const sealed = Buffer.concat([
    Buffer.from([VERSION, name.length]),
    name,
    nonce,
    hidden,
    cipher.getAuthTag(),
  ])
  return { keyId, sealed }
}

/**
 * Opens a sealed state in its place. Throws Problem `checkpoint_tampered` when it was changed, cut, or belongs
 * elsewhere, and `checkpoint_missing` when the key it names is not in the ring.
 */
export function open(sealed: Uint8Array, place: CheckpointPlace, keys: SealingKeyRing): JsonObject {
  const envelope = readEnvelope(sealed, place)
  const known = keys.find(envelope.keyId)
  if (known === undefined) {
    throw new Problem(
      'checkpoint_missing',
      `The state before step ${place.node} is sealed under a key this installation does not have; restore the key folder from a backup`,
      { jti: place.jti },
    )
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', known.key, envelope.nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(place, envelope.keyId))
    decipher.setAuthTag(envelope.tag)
    const plain = Buffer.concat([decipher.update(envelope.hidden), decipher.final()])
    const state: unknown = JSON.parse(plain.toString('utf8'))
    if (isJsonObject(state)) return state
  } catch {
    // GCM does not say what was wrong, and neither do we.
  }
  throw tampered(place, 'does not open: it was changed, or sealed for another step')
}

function readEnvelope(sealed: Uint8Array, place: CheckpointPlace) {
  const octets = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (octets.length < 2 || octets[0] !== VERSION)
    throw tampered(place, 'is not an envelope this version can read')
  const nonceAt = 2 + (octets[1] as number)
  const hiddenAt = nonceAt + NONCE_BYTES
  const tagAt = octets.length - TAG_BYTES
  if (tagAt < hiddenAt) throw tampered(place, 'is cut short')
  return {
    keyId: octets.toString('latin1', 2, nonceAt),
    nonce: octets.subarray(nonceAt, hiddenAt),
    hidden: octets.subarray(hiddenAt, tagAt),
    tag: octets.subarray(tagAt),
  }
}

function boundTo(place: CheckpointPlace, keyId: string): Buffer {
  const { jti, runId, node, visit } = place
  return Buffer.from(canonicalJson(['checkpoint', VERSION, keyId, jti, runId, node, visit]), 'utf8')
}

function tampered(place: CheckpointPlace, what: string): Problem {
  return new Problem('checkpoint_tampered', `The sealed state before step ${place.node} ${what}`, {
    jti: place.jti,
  })
}
