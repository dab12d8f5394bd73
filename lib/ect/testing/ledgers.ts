import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { chainHashSync, firstPrevHashSync } from '../chain-node'
import type { Claims } from '../claims'
import type { TokenAlg } from '../jws'
import { keySetOf, type PublicJwk, type VerificationKey, type VerificationKeys } from '../keys'
import type { LedgerEntry } from '../ledger-verify'
import { type SigningKey, signClaims, signHead } from '../sign'

/** 2026-11-21T09:14:31Z, in seconds. */
export const NOW_S = 1_795_252_471
export const NOW_MS = NOW_S * 1000

export const WID = '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1'

export interface TestKey {
  signing: SigningKey
  verification: VerificationKey
  keys: VerificationKeys
}

export function testKey(alg: TokenAlg = 'ES256', kid = `test-${alg}`): TestKey {
  const pair =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  const verification = { kid, alg, jwk: pair.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk }
  return { signing: { kid, alg, privateKey: pair.privateKey }, verification, keys: keySetOf([verification]) }
}

export function claims(over: Partial<Claims> = {}): Claims {
  return {
    iss: 'spiffe://example.com/agent/a',
    aud: 'https://holdpoint.example',
    iat: NOW_S,
    exp: NOW_S + 600,
    jti: randomUUID(),
    wid: WID,
    exec_act: 'hp:task_start',
    par: [],
    ...over,
  }
}

/** A chained ledger of one run: each token follows the one before. */
export function ledgerOf(key: TestKey, list: readonly Claims[]): LedgerEntry[] {
  let prevHash = firstPrevHashSync(WID)
  return list.map((one, at) => {
    const token = signClaims(one, key.signing)
    const hash = chainHashSync(prevHash, token)
    const entry = { seq: at + 1, token, prevHash, hash, jti: one.jti }
    prevHash = hash
    return entry
  })
}

/** The claims of a run of `length` tokens that begins, works, and, when `ends`, ends. */
export function runOf(length: number, ends = false): Claims[] {
  const list: Claims[] = []
  for (let at = 0; at < length; at++) {
    const before = list.at(-1)
    const act =
      at === 0 ? 'atd:workflow_start' : ends && at === length - 1 ? 'atd:workflow_complete' : 'hp:task_start'
    list.push(claims({ exec_act: act, par: before === undefined ? [] : [before.jti], iat: NOW_S + at }))
  }
  return list
}

export function headAt(key: TestKey, rows: readonly LedgerEntry[], seq = rows.length) {
  const row = rows[seq - 1] as LedgerEntry
  return { seq, jws: signHead({ wid: WID, seq, hash: row.hash, iat: NOW_S }, key.signing) }
}

/** The refusal of a call, sync or async: its code and its words. */
export async function refusal(call: () => unknown): Promise<{ code: string; words: string }> {
  try {
    await call()
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return { code, words: message }
  }
  throw new Error('It was accepted')
}
