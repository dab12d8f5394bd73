/*
 * Which values a run speaks of. Values are shared between runs by their hash, so whoever may see a run sees those its
 * tokens name, and no others: what it was begun with, what its steps did and gave, what people were shown, its artifacts.
 *
 * The tokens are asked, not the fold: a fold forgets what a rollback left behind, and there is none of a run that has
 * tokens of a later version. What was read of a ledger is kept for a while, because a screen asks for many values.
 */

import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { LedgerStore } from '@/lib/engine/ports'

/** So few at once, that other requests come in between: reading them takes about 15 ms. */
const rowsPerRead = 1_000
/** Runs whose names are kept; a long one has some 5 MB of them. */
const runsKept = 16

/** What the tokens of one run name, as far as they were read. */
class Names {
  readonly #ledger: Rows
  readonly #run: RunId
  readonly #hashes = new Set<Hash>()
  #seq = 0
  /** Who signs the run's own tokens: what others signed names no value of it. */
  #home: string | undefined
  #reading: Promise<void> | undefined

  constructor(ledger: Rows, run: RunId) {
    this.#ledger = ledger
    this.#run = run
  }

  async has(hash: Hash): Promise<boolean> {
    if (this.#hashes.has(hash)) return true
    // Whoever asks while somebody reads may have asked for what came after that: it reads again, which costs one look.
    await this.#reading?.catch(() => {})
    if (this.#hashes.has(hash)) return true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
    return this.#hashes.has(hash)
  }

  async #read(): Promise<void> {
    for (;;) {
      const rows = await this.#ledger.rows(this.#run, this.#seq, rowsPerRead)
      for (const { seq, token } of rows) {
        const claims = parseClaims(unverifiedPayload(token))
        this.#home ??= claims.iss
        for (const hash of namedBy(claims, this.#home)) this.#hashes.add(hash)
        this.#seq = seq
      }
      if (rows.length < rowsPerRead) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

type Rows = Pick<LedgerStore, 'rows'>

const namesOf = new WeakMap<Rows, Map<RunId, Names>>()

/** True when the run's ledger names that value. */
export function speaksOf(
  { store: { ledger } }: { store: { ledger: Rows } },
  run: RunId,
  hash: Hash,
): Promise<boolean> {
  const kept = namesOf.get(ledger) ?? new Map<RunId, Names>()
  namesOf.set(ledger, kept)
  const names = kept.get(run) ?? new Names(ledger, run)
  // The one asked last is dropped last.
  kept.delete(run)
  kept.set(run, names)
  const [oldest] = kept.keys()
  if (kept.size > runsKept && oldest !== undefined) kept.delete(oldest)
  return names.has(hash)
}

/** The values that a token names; none of an act that this version does not know. */
function namedBy(claims: Claims, home: string): Hash[] {
  try {
    return valuesOf(factOf(claims, home)).filter((hash) => hash !== undefined)
  } catch (error) {
    if (isProblem(error, 'ect_claim_invalid')) return []
    throw error
  }
}

/** Snapshots and hashes of an outside state are not among them: what they are of is sealed, or was never here. */
function valuesOf(fact: Fact): (Hash | undefined)[] {
  switch (fact.type) {
    case 'workflow_start':
      return [fact.input]
    case 'task_offered':
    case 'task_start':
      return [fact.action]
    case 'task_complete':
    case 'step_carried':
      return [fact.output]
    case 'artifact_set':
      return [fact.value]
    case 'approval_asked':
      return [fact.action, fact.preview]
    case 'approval_decided':
      return [fact.action, fact.edited, fact.seen]
    case 'rollback_request':
      return [fact.plan]
    case 'rollback_decided':
      return [fact.without]
    // What the agent signed of it; its state is not in there, only the hashes.
    case 'rollback_act_result':
      return [fact.evidence]
    case 'rollback_result':
      return [fact.cascaded]
    case 'cascade_detected':
      return [fact.blastRadius]
    default:
      return []
  }
}
