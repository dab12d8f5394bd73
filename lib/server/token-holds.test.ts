import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { mintUuid, runIdOf } from '@/lib/base/ids'
import { keySetOf, type PublicJwk, type VerificationKeys } from '@/lib/ect/keys'
import { signClaims } from '@/lib/ect/sign'
import type { StoredRow } from '@/lib/engine/ports'
import { tokenHoldsIn } from './token-holds'

const iss = 'spiffe://example.com/agent/a'

function newKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk
  const keys = keySetOf([{ kid: 'k1', alg: 'ES256', jwk }])
  return { signing: { kid: 'k1', alg: 'ES256' as const, privateKey }, keys }
}

/** A ledger of one token, which may be another one the next time it is read; and the keys that are known then. */
function house() {
  const wid = mintUuid()
  const jti = mintUuid()
  const { signing, keys } = newKeys()
  const claims = { iss, aud: iss, iat: 1_700_000_000, exp: 1_700_000_600, jti, wid, exec_act: 'act', par: [] }
  const at = { token: signClaims(claims, signing), keys: keys as VerificationKeys, reads: 0 }
  const row = async () => {
    at.reads += 1
    return { token: at.token } as StoredRow
  }
  const holds = tokenHoldsIn({ row }, async () => at.keys)
  return { at, holds: (of = jti) => holds(runIdOf(wid), of), claims, signing }
}

it('reads a token each time it is asked about', async () => {
  const { at, holds } = house()
  expect([await holds(), await holds(), await holds()]).toEqual([true, true, true])
  expect(at.reads).toBe(3)
})

it('believes no other octets for having believed some', async () => {
  const { at, holds, claims, signing } = house()
  expect(await holds()).toBe(true)
  const [header, , signature] = at.token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...claims, exec_act: 'other' })).toString('base64url')
  at.token = `${header}.${forged}.${signature}`
  expect(await holds()).toBe(false)
  at.token = signClaims({ ...claims, jti: mintUuid() }, signing)
  expect(await holds(), 'another token in its place').toBe(false)
})

it('believes nothing for its sake alone: not under another id, not when the keys are others', async () => {
  const { at, holds } = house()
  expect(await holds()).toBe(true)
  expect(await holds(mintUuid())).toBe(false)
  at.keys = newKeys().keys
  expect(await holds()).toBe(false)
})
