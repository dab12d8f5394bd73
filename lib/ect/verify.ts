/*
 * Verifying tokens: the door of the room. A token is believed only when it is a compact JWS of the right type, signed
 * with one of two algorithms by a key we know under the `kid` it names, and when its claims keep every limit and suit
 * the moment. What does not pass is refused with one Problem; there is no half-verified token and no silent pass.
 *
 *   text ─▶ decodeJws ─▶ keyFor ─▶ signature ─▶ parseClaims ─▶ moment ─▶ VerifiedToken
 *            shape        kid, alg   back end     limits         exp, iat, aud
 *
 * The payload is opened after the signature, so what a stranger wrote is never parsed as claims. The checks are the
 * same everywhere; only the arithmetic has two back ends: WebCrypto here (browser and server), node:crypto in
 * verify-node.ts (server, three to four times as fast).
 *
 * Whether a token fits its run, parents and chain is a question about a ledger, not about a token: dag.ts,
 * ledger-verify.ts. Whether it was seen before is the store's to say.
 */
import { Problem } from '@/lib/base/problem'
import { encodeBase64url } from './base64url'
import { checkedClaims, checkKeyEnd, type Moment, signatureInvalid } from './checks'
import type { Claims } from './claims'
import { type DecodedJws, decodeJws, TOKEN_TYPES, type TokenAlg } from './jws'
import { keyFor, type VerificationKey, type VerificationKeys } from './keys'

export interface VerifiedToken {
  kid: string
  alg: TokenAlg
  claims: Claims
}

/** The arithmetic that differs between machines. Neither function rejects: a broken key is a signature that fails. */
export interface CryptoBackend {
  checkSignature(jws: DecodedJws, key: VerificationKey): boolean | Promise<boolean>
  /** SHA-256 of ASCII text, base64url. */
  sha256(text: string): string | Promise<string>
}

/**
 * Verifies one token with WebCrypto. Throws Problem `ect_…` (see decodeJws, keyFor, checkedClaims),
 * `ect_signature_invalid` when the signature does not hold.
 */
export async function verifyToken(
  token: unknown,
  keys: VerificationKeys,
  moment: Moment,
): Promise<VerifiedToken> {
  const jws = decodeJws(token, TOKEN_TYPES)
  const key = keyFor(jws.header, keys)
  if (!(await webCrypto.checkSignature(jws, key))) throw signatureInvalid(jws)
  const claims = checkedClaims(jws, moment)
  checkKeyEnd(key, claims, moment)
  return { kid: key.kid, alg: key.alg, claims }
}

const importedKeys = new WeakMap<VerificationKey, Promise<CryptoKey>>()
const ascii = new TextEncoder()

/** WebCrypto, in browsers and in Node. */
export const webCrypto: CryptoBackend = {
  async checkSignature(jws, key) {
    const imported = await importKey(key).catch(() => undefined)
    if (imported === undefined) return false
    const how = key.alg === 'ES256' ? { name: 'ECDSA', hash: 'SHA-256' } : { name: 'Ed25519' }
    return crypto.subtle
      .verify(how, imported, jws.signature, ascii.encode(jws.signingInput))
      .catch(() => false)
  },
  async sha256(text) {
    return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', ascii.encode(text))))
  },
}

/** Says whether this machine can use the key at all. Throws Problem `key_unusable`: an old browser knows no Ed25519. */
export async function checkKeyUsable(key: VerificationKey): Promise<void> {
  await importKey(key).catch(() => {
    throw new Problem('key_unusable', `This machine cannot use the ${key.alg} key ${JSON.stringify(key.kid)}`)
  })
}

function importKey(key: VerificationKey): Promise<CryptoKey> {
  const known = importedKeys.get(key)
  if (known !== undefined) return known
  const how = key.alg === 'ES256' ? { name: 'ECDSA', namedCurve: 'P-256' } : { name: 'Ed25519' }
  const imported = crypto.subtle.importKey('jwk', key.jwk, how, false, ['verify'])
  importedKeys.set(key, imported)
  return imported
}
