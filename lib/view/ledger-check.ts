import { unverifiedPayload } from '@/lib/ect/jws'
import { type Jwks, parseKeySet } from '@/lib/ect/keys'
import { type LedgerHead, type LedgerVerdict, verifyLedger } from '@/lib/ect/ledger-verify'
import { checkKeyUsable } from '@/lib/ect/verify'
import type { LedgerEntryWire } from './run-fold'

export interface LedgerCheck {
  /** The run id the page speaks of: the ledger must be that run's. */
  run: string
  entries: readonly LedgerEntryWire[]
  heads: readonly LedgerHead[]
  /** The installation's published keys (RFC 7517). */
  keys: Jwks
  /** Of agents whose own tokens joined the run, by their `iss`. */
  agents?: readonly { id: string; keys: Jwks['keys'] }[]
}

export type CheckVerdict =
  | { holds: true; tokens: number; heads: number; lastHash: string; kids: string[] }
  | { holds: false; tokens: number; failure: { seq: number; code: string; sentence: string } }

/**
 * Checks a run's ledger: every signature, limit and link, the chain, and the signed heads. Never throws for what the
 * ledger says; the first entry that does not hold is named. Throws Problem `key_unusable` when this browser cannot verify.
 */
export async function checkLedger(
  { run, entries, heads, keys, agents: listed = [] }: LedgerCheck,
  onProgress?: (done: number, total: number) => void,
): Promise<CheckVerdict> {
  const first = entries[0]
  if (!first) return { holds: true, tokens: 0, heads: 0, lastHash: '', kids: [] }
  const wid = widOf(first.token)
  if (runIdOf(wid) !== run) {
    const sentence = `The first token belongs to the run ${runIdOf(wid)}, not to ${run}`
    return { holds: false, tokens: 0, failure: { seq: 1, code: 'ledger_broken', sentence } }
  }
  const known = parseKeySet(keys)
  // Said by its name: an old browser that knows no Ed25519 would call every signature wrong.
  const agents = new Map(listed.map(({ id, keys: theirs }) => [id, parseKeySet({ keys: theirs })]))
  for (const set of [known, ...agents.values()]) for (const key of set.values()) await checkKeyUsable(key)
  const verdict = await verifyLedger({ wid, rows: entries, heads, keys: known }, { onProgress, agents })
  return verdict.holds ? { ...verdict, kids: [...known.keys()] } : refusal(verdict)
}

function refusal(verdict: Extract<LedgerVerdict, { holds: false }>): CheckVerdict {
  const { seq, code, sentence } = verdict.failure
  return { holds: false, tokens: verdict.tokens, failure: { seq, code, sentence } }
}

function widOf(token: string): string {
  try {
    return String(unverifiedPayload(token).wid)
  } catch {
    return ''
  }
}

/** As lib/base/ids.ts spells it; that file mints ids as well and stays on the server. */
function runIdOf(wid: string): string {
  return `run_${wid.replaceAll('-', '')}`
}
