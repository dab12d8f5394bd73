import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { checkedClaims, checkKeyEnd, type Moment, signatureInvalid } from './checks'
import { type DecodedJws, decodeJws, TOKEN_TYPES } from './jws'
import { keyFor, type VerificationKey, type VerificationKeys } from './keys'
import type { CryptoBackend, VerifiedToken } from './verify'

/** Verifies one token on the server, synchronously; the same checks and refusals as `verifyToken` (verify.ts). */
export function verifyTokenSync(token: unknown, keys: VerificationKeys, moment: Moment): VerifiedToken {
  const jws = decodeJws(token, TOKEN_TYPES)
  const key = keyFor(jws.header, keys)
  if (!checkSignatureSync(jws, key)) throw signatureInvalid(jws)
  const claims = checkedClaims(jws, moment)
  checkKeyEnd(key, claims, moment)
  return { kid: key.kid, alg: key.alg, claims }
}

/** True when the signature holds. A key that cannot be used verifies nothing. */
export function checkSignatureSync(jws: DecodedJws, key: VerificationKey): boolean {
  const { algorithm, input } = verifyInput(jws, key)
  return (
    input !== undefined && verify(algorithm, Buffer.from(jws.signingInput, 'latin1'), input, jws.signature)
  )
}

/** node:crypto in the thread pool: a long ledger is checked on all cores, and the server goes on answering. */
export const nodeCrypto: CryptoBackend = {
  checkSignature(jws, key) {
    const { algorithm, input } = verifyInput(jws, key)
    if (input === undefined) return false
    return new Promise((resolve) => {
      verify(algorithm, Buffer.from(jws.signingInput, 'latin1'), input, jws.signature, (error, holds) =>
        resolve(error === null && holds),
      )
    })
  },
  sha256: (text) => createHash('sha256').update(text).digest('base64url'),
}

type VerifyInput = { key: KeyObject; dsaEncoding: 'ieee-p1363' }
const keyObjects = new WeakMap<VerificationKey, VerifyInput | null>()

function verifyInput(
  jws: DecodedJws,
  key: VerificationKey,
): { algorithm: 'sha256' | null; input?: VerifyInput } {
  const algorithm = jws.header.alg === 'ES256' ? ('sha256' as const) : null
  let input = keyObjects.get(key)
  if (input === undefined) {
    input = importKey(key)
    keyObjects.set(key, input)
  }
  return input === null ? { algorithm } : { algorithm, input }
}

function importKey(key: VerificationKey): VerifyInput | null {
  try {
    const object = createPublicKey({ key: key.jwk as unknown as JsonWebKey, format: 'jwk' })
    return { key: object, dsaEncoding: 'ieee-p1363' }
  } catch {
    return null
  }
}
