import { type KeyObject, sign } from 'node:crypto'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { type Claims, parseClaims } from './claims'
import { type HeadClaims, parseHeadClaims } from './head'
import { HEAD_TYPES, TOKEN_TYPES, type TokenAlg } from './jws'

/** A private key with the name its tokens carry. */
export interface SigningKey {
  kid: string
  alg: TokenAlg
  privateKey: KeyObject
}

/**
 * Signs claims into a compact token, on this thread: best for one run at a time. Claims are checked first, because a
 * token that no one accepts must not get into a ledger. Throws Problem as `parseClaims`, and `key_unusable`.
 */
export function signClaims(claims: Claims, key: SigningKey): string {
  return signInput(claimsInput(claims, key), key)
}

/** What is signed of claims: header and payload of the compact token. Throws Problem as `parseClaims`. */
export function claimsInput(claims: Claims, key: SigningKey): string {
  return signingInput(TOKEN_TYPES[0], parseClaims(claims), key)
}

/** Signs the head of a ledger (head.ts). Throws Problem as `parseHeadClaims`. */
export function signHead(head: HeadClaims, key: SigningKey): string {
  return signInput(signingInput(HEAD_TYPES[0], parseHeadClaims({ ...head }), key), key)
}

/** Signs any other statement of this installation under a `typ` of its own, so that it is never taken for a token. */
export function signJson(typ: string, payload: JsonObject, key: SigningKey): string {
  return signInput(signingInput(typ, payload, key), key)
}

const headers = new WeakMap<SigningKey, Map<string, string>>()

function signingInput(typ: string, payload: Claims | HeadClaims | JsonObject, key: SigningKey): string {
  let byType = headers.get(key)
  if (byType === undefined) {
    byType = new Map()
    headers.set(key, byType)
  }
  let header = byType.get(typ)
  if (header === undefined) {
    header = base64url(JSON.stringify({ typ, alg: key.alg, kid: key.kid }))
    byType.set(typ, header)
  }
  return `${header}.${base64url(JSON.stringify(payload))}`
}

/** Signs header and payload of a compact token, on this thread. Throws Problem `key_unusable`. */
export function signInput(input: string, key: SigningKey): string {
  return `${input}.${sign(algorithmOf(key), Buffer.from(input, 'latin1'), keyInput(key)).toString('base64url')}`
}

/** What node:crypto signs with for this key. Throws Problem `key_unusable` for a key that is not of its algorithm. */
export function algorithmOf(key: SigningKey): 'sha256' | null {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key.privateKey
  if (key.alg === 'ES256' && type === 'ec' && details?.namedCurve === 'prime256v1') return 'sha256'
  if (key.alg === 'EdDSA' && type === 'ed25519') return null
  throw cannotSign(key)
}

function cannotSign(key: SigningKey): Problem {
  return new Problem(
    'key_unusable',
    `The key ${JSON.stringify(key.kid)} cannot sign ${key.alg}; check the key folder`,
  )
}

function keyInput(key: SigningKey): { key: KeyObject; dsaEncoding: 'ieee-p1363' } {
  return { key: key.privateKey, dsaEncoding: 'ieee-p1363' }
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url')
}
