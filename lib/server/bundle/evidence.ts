/*
 * What a bundle proves, in memory: each run folded from its tokens, with every token noted. It is made the same way from
 * a store (gather.ts) and from a file (verify-bundle.ts), so that what an export says and what a verifier finds can be
 * compared, and so that the report is made by one function from either.
 */
import { type Hash, isHash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { meaningOf } from '@/lib/ect/vocabulary'
import { evolve, newRun } from '@/lib/engine/evolve'
import { factOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { Timeline } from '@/lib/view/timeline/timeline'
import { type LedgerRow, ledgerRow } from '@/lib/view/visit-view'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { BundledRun, BundledWorkflow, LeftOut, Reference } from './bundle'

/** One token, as tables show it. `fact` is absent for an act that this version does not know. */
export type Noted = LedgerRow & { fact?: Fact }

/** A value that tokens name: where first, and whether it is one for certain (an unknown claim may only look like it). */
export interface NamedValue {
  run: RunId
  seq: number
  certain: boolean
}

export interface RunEvidence extends BundledRun {
  notes: Noted[]
  seqOf: ReadonlyMap<string, number>
  graph: GraphIndex
  /** The run after its last token. */
  folded: Run
  timeline: Timeline
}

export interface Evidence {
  /** The exported run first, then the runs below it in the order they began, then those it was forked from. */
  runs: RunEvidence[]
  workflows: BundledWorkflow[]
  forkedFrom?: Reference
  begunBy?: Reference
  leftOut: LeftOut[]
  /** Values in the bundle, with their sizes in bytes. */
  values: ReadonlyMap<Hash, { size: number; mediaType: string }>
  /** The state's time, ms since the epoch. */
  at: number
  /** Bytes of a value that is in the bundle. */
  value(hash: Hash): Promise<Uint8Array | undefined>
}

/** Hashes that tokens name, of all runs. */
export class NamedValues {
  readonly values = new Map<Hash, NamedValue>()
  /** What checkpoints sealed, and states of targets: never in the store under these names. */
  readonly sealed = new Map<Hash, NamedValue>()

  note(run: RunId, seq: number, claims: Claims): void {
    const { exec_act: act, ext = {} } = claims
    const meaning = meaningOf(act)
    const seals = meaning === 'checkpoint'
    // The answer to a rollback names a state that was put back: sealed as well.
    const restores = meaning === 'rollback_result'
    if (claims.inp_hash) add(this.values, claims.inp_hash, { run, seq, certain: true })
    if (claims.out_hash && seals) add(this.sealed, claims.out_hash, { run, seq, certain: true })
    else if (claims.out_hash && !restores) add(this.values, claims.out_hash, { run, seq, certain: true })
    this.#gather(ext, run, seq)
  }

  #gather(ext: JsonObject, run: RunId, seq: number): void {
    for (const [claim, value] of Object.entries(ext)) {
      const name = claim.slice(claim.indexOf('.') + 1)
      if (name === 'version' || name.startsWith('state_hash_')) continue
      const certain = name === 'preview' || name === 'edited' || name === 'seen'
      for (const hash of hashesIn(value)) add(this.values, hash, { run, seq, certain })
    }
  }
}

function add(to: Map<Hash, NamedValue>, hash: Hash, named: NamedValue): void {
  const known = to.get(hash)
  if (!known) to.set(hash, named)
  else if (named.certain && !known.certain) known.certain = true
}

/** Claims nest five levels at most. */
function hashesIn(value: unknown): Hash[] {
  if (isHash(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(hashesIn) : []
}

/** Folds one run from its rows, and notes what it names. */
export class RunReader {
  readonly notes: Noted[] = []
  readonly seqOf = new Map<string, number>()
  readonly folded: Run
  readonly timeline: Timeline
  readonly #run: RunId
  readonly #named: NamedValues
  /** Who signs the run's own tokens: the `iss` of its first. */
  #home: string | undefined
  /** The agent that does each visit, by node and visit. */
  readonly #agents = new Map<string, string>()

  constructor(run: RunId, graph: GraphIndex, named: NamedValues) {
    this.#run = run
    this.#named = named
    this.folded = newRun(graph)
    this.timeline = new Timeline(this.folded.graph)
  }

  /** Takes the next row. Throws Problem `ect_malformed` or `ect_claim_invalid` for what is no token. */
  add({ seq, token, hash }: { seq: number; token: string; hash: Hash }): Noted {
    const claims = parseClaims(unverifiedPayload(token))
    this.#home ??= claims.iss
    const fact = knownFact(claims, this.#home)
    const agent = fact && this.#agentOf(fact)
    const row = ledgerRow({ seq, hash }, claims, fact, agent)
    if (fact) evolve(this.folded, fact)
    if (fact?.type === 'reported') Object.assign(row, this.folded.reported?.placeOf.get(fact.jti))
    const noted: Noted = fact ? { ...row, fact } : row
    this.notes.push(noted)
    this.seqOf.set(claims.jti, seq)
    // What an agent signed itself names no value of the run, whatever its claims look like.
    if (claims.iss === this.#home) this.#named.note(this.#run, seq, claims)
    this.timeline.add(this.folded, row, fact)
    return noted
  }

  #agentOf(fact: Fact): string | undefined {
    if (!('visit' in fact)) return undefined
    const visit = `${fact.visit} ${fact.node}`
    if (fact.type === 'task_start' && fact.agent !== undefined) this.#agents.set(visit, fact.agent)
    return this.#agents.get(visit)
  }
}

function knownFact(claims: Claims, home: string): Fact | undefined {
  try {
    return factOf(claims, home)
  } catch {
    return undefined
  }
}
