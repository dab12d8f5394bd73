/*
 * Execution Context Tokens: a JWS in compact form, one a request, in the header `Execution-Context`. A caller's token must
 * be signed by that caller's key, meant for this agent, and fresh; clocks may differ by 30 s. The agent's own two keys, one
 * that signs and one that seals, are made once, mode 0600; only the public half of the first is published.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { Shelf } from './disk'
import { must, Refusal, type Values } from './terms'

export interface Claims {
  iss: string
  jti: string
  wid: string
  exec_act: string
  par: string[]
  ext?: Values
}

/** Who may call; with `iss` only under that name. `jwks`: a URL, a file, or a function that gives the JWK set. */
export interface Caller {
  iss?: string
  jwks: string | (() => unknown)
}

export type Keys = Awaited<ReturnType<typeof openKeys>>
export const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/
const requiredClaims = ['iss', 'aud', 'iat', 'exp', 'jti', 'wid', 'exec_act', 'par']
const codes: Record<string, string> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'ect_signature_invalid',
  ERR_JWKS_NO_MATCHING_KEY: 'ect_key_unknown',
  ERR_JWT_EXPIRED: 'ect_expired',
  ERR_JOSE_ALG_NOT_ALLOWED: 'ect_alg_refused',
}

export function sha256(octets: string | Uint8Array): string {
  return createHash('sha256').update(octets).digest('base64url')
}

export async function openKeys(shelf: Shelf) {
  const signing = await once(shelf, 'signing-1', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(pair.publicKey)
    return { kid: await calculateJwkThumbprint(jwk), public: jwk, private: await exportJWK(pair.privateKey) }
  })
  const sealing = await once(shelf, 'sealing-1', async () => ({
    secret: randomBytes(32).toString('base64url'),
  }))
  const { kid } = signing
  const jwks = { keys: [{ ...signing.public, kid, alg: 'ES256', use: 'sig' }] }
  const secret = Buffer.from(sealing.secret, 'base64url')
  return { kid, signing: await importJWK(signing.private, 'ES256'), sealing: secret, jwks }
}

async function once<T extends object>(shelf: Shelf, name: string, make: () => Promise<T>): Promise<T> {
  const known = await shelf.get<T>('keys', name)
  const keys = known ?? (await make())
  if (!known) await shelf.put('keys', name, keys)
  return keys
}

export class Tokens {
  readonly #callers: { iss?: string; keys: JWTVerifyGetKey }[]

  constructor(
    readonly id: string,
    readonly keys: Keys,
    callers: readonly Caller[],
    readonly now: () => number,
  ) {
    this.#callers = callers.map(({ iss, jwks }) => ({ iss, keys: keySet(jwks) }))
  }

  /** A token of this agent: give at least aud, wid, exec_act and par. */
  sign(claims: Values): Promise<string> {
    const iat = Math.floor(this.now() / 1000)
    const whole = { iss: this.id, iat, exp: iat + 600, jti: randomUUID(), ...claims }
    const header = { alg: 'ES256', typ: 'wimse-exec+jwt', kid: this.keys.kid }
    return new SignJWT(whole).setProtectedHeader(header).sign(this.keys.signing)
  }

  /** The claims of a caller's token that is meant for one of these names. Throws Refusal 403 `ect_…`. */
  async verify(token: string | undefined, audience: string[]): Promise<Claims> {
    must(token, 403, 'ect_malformed', 'There is no Execution-Context header; a compact token was expected.')
    const checks = {
      audience,
      requiredClaims,
      clockTolerance: 30,
      maxTokenAge: 900,
      algorithms: ['ES256', 'EdDSA'],
    }
    try {
      const { iss } = decodeJwt(token)
      const caller = this.#callers.find((one) => one.iss === iss) ?? this.#callers.find((one) => !one.iss)
      must(caller, 403, 'ect_key_unknown', `The caller ${iss} is not known here.`)
      const verified = await jwtVerify(token, caller.keys, { ...checks, currentDate: new Date(this.now()) })
      const claims = verified.payload as unknown as Claims
      const isEct =
        /^(wimse-)?exec\+jwt$/.test(verified.protectedHeader.typ ?? '') && Array.isArray(claims.par)
      must(isEct && uuid.test(claims.jti) && uuid.test(claims.wid), 403, 'ect_malformed', 'This is no ECT.')
      return claims
    } catch (error) {
      if (error instanceof Refusal) throw error
      const { code = '', claim, message } = error as { code?: string; claim?: string; message: string }
      const ofClaim = { aud: 'ect_audience', iat: 'ect_from_future' }[claim ?? '']
      throw new Refusal(
        403,
        codes[code] ?? ofClaim ?? 'ect_malformed',
        `The token does not verify: ${message}.`,
      )
    }
  }
}

function keySet(jwks: Caller['jwks']): JWTVerifyGetKey {
  if (typeof jwks === 'string' && /^https?:/.test(jwks))
    return createRemoteJWKSet(new URL(jwks), { cooldownDuration: 2_000 })
  const read = typeof jwks === 'string' ? async () => JSON.parse(await readFile(jwks, 'utf8')) : jwks
  return async (header, token) => createLocalJWKSet((await read()) as { keys: JWK[] })(header, token)
}
