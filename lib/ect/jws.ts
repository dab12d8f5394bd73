/*
 * The outside of a token: a JWS in compact form, taken apart without trusting it. Nothing is believed here but the
 * header's shape; which key, whether it verifies, and what the payload says come after (verify.ts, checks.ts).
 *
 *   eyJ0eXAi….eyJpc3Mi….MEUCIQ…
 *   ╰ header ╯╰ payload ╯╰ signature ╯     each canonical base64url; header and payload are what was signed
 *
 * The two algorithms are the whole list. `none` and every symmetric algorithm are refused by name before a key is
 * looked up, so that a public key can never serve as an HMAC secret.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { decodeBase64url } from './base64url'
import { quote } from './quote'

export type TokenAlg = 'ES256' | 'EdDSA'

/** Written, and the newer spelling that is read too (NOTES 1). */
export const TOKEN_TYPES = ['wimse-exec+jwt', 'exec+jwt'] as const
export const HEAD_TYPES = ['hp-head+jwt'] as const

/** Twice what the longest token within the limits of claims.ts needs. */
export const TOKEN_MAX_CHARS = 32_768
const KID_MAX_CHARS = 256
const SIGNATURE_BYTES = 64

export interface JwsHeader {
  typ: string
  alg: TokenAlg
  kid: string
}

export interface DecodedJws {
  header: JwsHeader
  /** `header.payload`, ASCII: what the signature is over. */
  signingInput: string
  signature: Uint8Array<ArrayBuffer>
  /** Where the payload begins in `signingInput`. */
  payloadAt: number
}

/**
 * Takes a compact JWS apart and checks its header; `types` are the accepted `typ`. The payload stays closed until the
 * signature holds: `payloadOf` opens it.
 *
 * Throws Problem `ect_malformed`, `ect_typ_refused`, `ect_alg_refused` or `ect_key_unknown` (no `kid`).
 */
export function decodeJws(token: unknown, types: readonly string[]): DecodedJws {
  if (typeof token !== 'string') malformed(`The token is ${quote(token)}; expected compact JWS text`)
  if (token.length > TOKEN_MAX_CHARS) {
    malformed(`The token is ${token.length} characters long; at most ${TOKEN_MAX_CHARS} are read`)
  }
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  if (first < 1 || second < 0 || token.indexOf('.', second + 1) >= 0) {
    malformed('The token does not have the three parts header.payload.signature of a compact JWS')
  }
  const header = checkHeader(headerOf(token.slice(0, first)), types)
  const signature = decodeBase64url(token.slice(second + 1))
  if (signature === undefined) malformed('The signature is not canonical base64url without padding')
  if (signature.length !== SIGNATURE_BYTES) {
    malformed(
      `The signature is ${signature.length} bytes long; ${header.alg} signatures have ${SIGNATURE_BYTES}`,
    )
  }
  return { header, signingInput: token.slice(0, second), signature, payloadAt: first + 1 }
}

/** The payload as JSON. Call it once the signature holds. Throws Problem `ect_malformed`. */
export function payloadOf(jws: DecodedJws): JsonObject {
  return jsonOf(jws.signingInput.slice(jws.payloadAt), 'payload')
}

/**
 * The payload of a token without any check of who signed it: for showing a token that failed, and for folding rows
 * that were verified when they were appended. Throws Problem as `decodeJws` does.
 */
export function unverifiedPayload(token: string, types: readonly string[] = TOKEN_TYPES): JsonObject {
  return payloadOf(decodeJws(token, types))
}

function malformed(sentence: string): never {
  throw new Problem('ect_malformed', sentence)
}

/** The headers of a ledger are one and the same text, a few at most where keys were rotated. */
const headersKept = 32
const headers = new Map<string, JsonObject>()

function headerOf(part: string): JsonObject {
  const known = headers.get(part)
  if (known !== undefined) return known
  const header = jsonOf(part, 'header')
  if (headers.size >= headersKept) headers.clear()
  headers.set(part, header)
  return header
}

function checkHeader(json: JsonObject, types: readonly string[]): JwsHeader {
  const { typ, alg, kid } = json
  if (alg !== 'ES256' && alg !== 'EdDSA') {
    throw new Problem(
      'ect_alg_refused',
      `"alg" is ${quote(alg)}; only ES256 and EdDSA signatures are accepted`,
      {
        alg: quote(alg),
      },
    )
  }
  if (typeof typ !== 'string' || !types.includes(typ)) {
    throw new Problem('ect_typ_refused', `"typ" is ${quote(typ)}; expected ${types.join(' or ')}`)
  }
  if (json.crit !== undefined) {
    malformed('The header carries "crit"; no critical header extension is understood here, so leave it out')
  }
  if (typeof kid !== 'string' || kid.length === 0 || kid.length > KID_MAX_CHARS) {
    throw new Problem(
      'ect_key_unknown',
      `"kid" is ${quote(kid)}; the header must name the key that signed it`,
    )
  }
  return { typ, alg, kid }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function jsonOf(part: string, name: 'header' | 'payload'): JsonObject {
  const octets = decodeBase64url(part)
  if (octets === undefined) malformed(`The ${name} is not canonical base64url without padding`)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(octets))
  } catch {
    malformed(`The ${name} is not JSON in UTF-8`)
  }
  if (!isJsonObject(value)) malformed(`The ${name} is ${quote(value)}; expected a JSON object`)
  return value
}
