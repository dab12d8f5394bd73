/*
 * Execution Context Tokens: a JWS in compact form, one a request, in the header `Execution-Context`. A caller's token must
 * be signed by a key of the caller's, meant for this agent, and fresh; clocks may differ by 30 s. The agent's own keys, one
 * that signs and one that seals, are made once; only the public half of the first is published.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import * as jose from 'jose'
import { must, Refusal, type Values } from './answers'
import type { Claims, Keys, Store } from './terms'

const requiredClaims = ['iss', 'aud', 'iat', 'exp', 'jti', 'wid', 'exec_act', 'par']
const checks = { requiredClaims, clockTolerance: 30, maxTokenAge: 900, algorithms: ['ES256', 'EdDSA'] }
const codes: Record<string, string> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'ect_signature_invalid',
  ERR_JWKS_NO_MATCHING_KEY: 'ect_key_unknown',
  ERR_JWT_EXPIRED: 'ect_expired',
  aud: 'ect_audience',
  iat: 'ect_from_future',
}

export const sha256 = (octets: string | Uint8Array) => createHash('sha256').update(octets).digest('base64url')

/** The bare UUID, with or without `urn:uuid:` before it; undefined when it is none. */
export const uuidIn = (id: unknown) =>
  /^(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(`${id}`)?.[1]

/** The claims as a protocol's extension spells them: `atd.ttl`. */
export const spelled = (protocol: string, claims: Values) =>
  Object.fromEntries(Object.entries(claims).map(([claim, value]) => [`${protocol}.${claim}`, value]))

export async function openKeys(store: Store): Promise<Keys> {
  const { kid, open, secret, sealing } = (await store.get<OwnKeys>('keys', 'own')) ?? (await newKeys(store))
  return { kid, secret, jwk: { ...open, kid, alg: 'ES256', use: 'sig' }, sealing: { kty: 'oct', k: sealing } }
}

type OwnKeys = Awaited<ReturnType<typeof newKeys>>
async function newKeys(store: Store) {
  const pair = await jose.generateKeyPair('ES256', { extractable: true })
  const [open, secret] = [await jose.exportJWK(pair.publicKey), await jose.exportJWK(pair.privateKey)]
  const sealing = randomBytes(32).toString('base64url')
  const made = { kid: await jose.calculateJwkThumbprint(open), open, secret, sealing }
  await store.put('keys', 'own', made)
  return made
}

export function signedBy(iss: string, { kid, secret }: Keys, now: number, claims: Values): Promise<string> {
  const iat = Math.floor(now / 1000)
  const token = new jose.SignJWT({ iss, iat, exp: iat + 600, jti: randomUUID(), ...claims })
  return token.setProtectedHeader({ alg: 'ES256', typ: 'wimse-exec+jwt', kid }).sign(secret)
}

/** The claims of a token by one of these keys, for one of these names. Throws Refusal 403 `ect_…`. */
export async function verified(token: string | undefined, keys: jose.JWTVerifyGetKey, audience: string[], now: number) {
  must(token, 403, 'ect_malformed', 'There is no Execution-Context header; a compact token was expected.')
  const found = await jose.jwtVerify(token, keys, { ...checks, audience, currentDate: new Date(now) }).catch(refuse)
  const { jti, wid, par } = found.payload
  const isTyped = /^(wimse-)?exec\+jwt$/.test(`${found.protectedHeader.typ}`)
  const isEct = isTyped && uuidIn(jti) === jti && uuidIn(wid) === wid && Array.isArray(par)
  must(isEct, 403, 'ect_malformed', 'This is no Execution Context Token.')
  return found.payload as unknown as Claims
}

function refuse(error: { code?: string; claim?: string; message: string }): never {
  const code = codes[error.claim ?? ''] ?? codes[error.code ?? ''] ?? 'ect_malformed'
  throw new Refusal(403, code, `The token does not verify: ${error.message}.`)
}
