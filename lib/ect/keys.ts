import { isJsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { TokenAlg } from './jws'
import { quote } from './quote'

/** The public half of a key, as RFC 7517 writes it. */
export type PublicJwk =
  | { kty: 'EC'; crv: 'P-256'; x: string; y: string }
  | { kty: 'OKP'; crv: 'Ed25519'; x: string }

export interface VerificationKey {
  kid: string
  alg: TokenAlg
  jwk: PublicJwk
  /** Since when it signs nothing any more, in ms since the epoch; what it signed before goes on verifying. */
  endedAt?: number
}

/** Keys by `kid`. Imported forms are cached per key object, so make a set once and keep it. */
export type VerificationKeys = ReadonlyMap<string, VerificationKey>

/** A JWK set as it is published and stored in bundles. */
export interface Jwks {
  /** `ended_at`: ms since the epoch; only of keys that are kept for what they signed before. */
  keys: (PublicJwk & { kid: string; alg: TokenAlg; use: 'sig'; ended_at?: number })[]
}

const COORDINATE = /^[A-Za-z0-9_-]{43}$/
const KEYS_MAX = 1000

/**
 * Reads a JWK set (RFC 7517). Private members are dropped; keys of other types are left out, as the RFC asks, since
 * a token that names one is refused anyway. Throws Problem `key_unusable` for what is no set, for two keys with one
 * `kid`, and for more than 1,000 keys.
 */
export function parseKeySet(json: unknown): VerificationKeys {
  const list = isJsonObject(json) ? json.keys : undefined
  if (!Array.isArray(list))
    unusable('The key set has no "keys" list; expected a JWK set such as {"keys": [...]}')
  if (list.length > KEYS_MAX) unusable(`The key set has ${list.length} keys; at most ${KEYS_MAX} are read`)
  return keySetOf(list.map(readJwk).filter((key) => key !== undefined))
}

/** A set of keys by `kid`. Throws Problem `key_unusable` when two share one. */
export function keySetOf(keys: readonly VerificationKey[]): VerificationKeys {
  const set = new Map<string, VerificationKey>()
  for (const key of keys) {
    if (set.has(key.kid)) unusable(`Two keys share the kid ${quote(key.kid)}; a kid must name one key`)
    set.set(key.kid, key)
  }
  return set
}

/** The set as RFC 7517 writes it. */
export function jwksOf(keys: VerificationKeys): Jwks {
  return {
    keys: [...keys.values()].map(({ kid, alg, jwk, endedAt }) => ({
      ...jwk,
      kid,
      alg,
      use: 'sig' as const,
      ...(endedAt !== undefined && { ended_at: endedAt }),
    })),
  }
}

/**
 * The key a header names. Throws Problem `ect_key_unknown`, or `ect_alg_refused` when the header's algorithm is not
 * the one the key is for.
 */
export function keyFor(header: { kid: string; alg: TokenAlg }, keys: VerificationKeys): VerificationKey {
  const key = keys.get(header.kid)
  if (key === undefined) {
    throw new Problem(
      'ect_key_unknown',
      `No key is known under the kid ${quote(header.kid)} that the token names`,
      {
        kid: quote(header.kid),
      },
    )
  }
  if (key.alg !== header.alg) {
    throw new Problem(
      'ect_alg_refused',
      `The token says ${header.alg}, but its key ${quote(key.kid)} is for ${key.alg} only`,
    )
  }
  return key
}

function unusable(sentence: string): never {
  throw new Problem('key_unusable', sentence)
}

function readJwk(json: unknown): VerificationKey | undefined {
  if (!isJsonObject(json) || typeof json.kid !== 'string' || json.kid.length === 0) return undefined
  const { kid, kty, crv, x, y, alg, ended_at: ended } = json
  const end = typeof ended === 'number' && Number.isSafeInteger(ended) ? { endedAt: ended } : {}
  if (typeof x !== 'string' || !COORDINATE.test(x)) return undefined
  if (kty === 'OKP' && crv === 'Ed25519' && (alg ?? 'EdDSA') === 'EdDSA') {
    return { kid, alg: 'EdDSA', jwk: { kty, crv, x }, ...end }
  }
  if (kty === 'EC' && crv === 'P-256' && (alg ?? 'ES256') === 'ES256') {
    if (typeof y === 'string' && COORDINATE.test(y))
      return { kid, alg: 'ES256', jwk: { kty, crv, x, y }, ...end }
  }
  return undefined
}
