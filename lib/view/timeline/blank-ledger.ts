/*
 * Facts as a ledger with blank signatures, for what reads tokens and verifies none: tests and benchmarks of screens.
 */
import { hashJson } from '@/lib/base/hash'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { LedgerEntryWire } from '../run-fold'

const iss = 'spiffe://holdpoint.example/holdpoint'
const wid = '00000000-0000-4000-8000-00000000beef'
const header = base64urlOf(JSON.stringify({ typ: 'wimse-exec+jwt', alg: 'ES256', kid: 'blank' }))
const signature = 'A'.repeat(86)
const noHash = hashJson('blank')

/** The ledger of these facts from its first token, as a page gets it. A `string` stands for a token of that unknown act. */
export function blankLedger(facts: readonly (Fact | string)[]): LedgerEntryWire[] {
  let at = 0
  return facts.map((fact, index) => {
    if (typeof fact !== 'string') at = fact.at
    const claims = typeof fact === 'string' ? unknownClaims(fact, at, index) : claimsOf(fact, frame)
    const token = `${header}.${base64urlOf(JSON.stringify(claims))}.${signature}`
    return { seq: index + 1, position: index + 1, token, prevHash: noHash, hash: noHash }
  })
}

const frame = { iss, aud: iss, wid, vocabulary: 'atd' } as const

function unknownClaims(act: string, at: number, index: number) {
  const iat = Math.floor(at / 1000)
  const jti = `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`
  return { iss, aud: iss, iat, exp: iat + 600, jti, wid, exec_act: act, par: [], ext: {} }
}

/** JSON as base64url. What is not ASCII is escaped in it first, which `btoa` alone would not take. */
function base64urlOf(json: string): string {
  const ascii = json.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return btoa(ascii).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
