/*
 * A run in a browser: its ledger rows as they arrive, folded with the same `evolve` as on the server. It refuses gaps
 * and passes over what it has, so that a page and a live stream can both feed it and nothing is missed or doubled.
 *
 * Rows are decoded here without checking who signed them: that is ledger-check.ts, which runs in a worker and says so
 * on screen. A token this version does not know is kept and shown under its own name; the fold goes on without it.
 *
 * The facts are kept, and with them keyframes: `at(seq)` is the run at any past token, by the same fold.
 */
import type { JsonObject } from '@/lib/base/json'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { decodeJws, TOKEN_TYPES, unverifiedPayload } from '@/lib/ect/jws'
import { broaderScopes } from '@/lib/engine/broader-scopes'
import { evolveShared } from '@/lib/engine/copy-run'
import { newRun } from '@/lib/engine/evolve'
import { factOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { Run, Visit } from '@/lib/engine/run'
import { resumesAt } from '@/lib/engine/walk'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { type Dependent, dependentsOf } from './dependents'
import { frameOf, type RunFrame } from './frame'
import { ranOut } from './ran-out'
import { rollbackViewOf } from './rollback-view'
import type { RollbackView } from './rollback-wire'
import type { LedgerPage } from './run-wire'
import { lastWhere } from './timeline/bounds'
import { causesOf } from './timeline/causes'
import { gaugesOf } from './timeline/gauges'
import { Keyframes } from './timeline/keyframes'
import { RunAt, type RunSource } from './timeline/run-at'
import type { CausalChain, Gauge } from './timeline/terms'
import { Timeline } from './timeline/timeline'
import { type LedgerRow, ledgerRow, type VisitView, visitView } from './visit-view'

/** Tokens that are folded at once while a ledger is read: a page can be used in between. */
export const tokensAtOnce = 500

export type LedgerEntryWire = LedgerPage['rows'][number]

/** A token taken apart for reading. */
export interface OpenedToken {
  header: { typ: string; alg: string; kid: string }
  claims: JsonObject
}

/** A step of a walk. */
export type WalkedStep = Pick<Visit, 'node' | 'visit' | 'state' | 'carriedFrom'>

/** How many moments of the past are kept as they were made: two that are compared, and those beside them. */
const momentsKept = 8

export class RunFold {
  readonly index: GraphIndex
  /** The ledger as it came: what a verifier wants. */
  readonly entries: LedgerEntryWire[] = []
  readonly rows: LedgerRow[] = []
  /** What each token says, the first at 0; nothing for a token of an unknown kind. */
  readonly facts: (Fact | undefined)[] = []
  /** The film strip of the run; it grows with the tokens. */
  readonly timeline: Timeline
  readonly #run: Run
  readonly #keyframes: Keyframes
  readonly #rowsOf = new Map<string, LedgerRow[]>()
  /** Moments that were asked for last, oldest first: asked for again, they are the same objects. */
  readonly #moments = new Map<number, RunAt>()
  readonly #seqOf = new Map<string, number>()
  /** The agent that does, or did last, each visit of a node. */
  readonly #agents = new Map<string, string>()
  /** Who signs the run's own tokens: the `iss` of the first. */
  #home: string | undefined
  #frame: { at: number; frame: RunFrame } | undefined
  /** The frame of the past that was made last: what did not change since is taken from it. */
  #pastFrame: RunFrame | undefined

  constructor(graph: WorkflowGraph) {
    this.#run = newRun(indexGraph(graph))
    // Of what agents report, the graph grows with the run.
    this.index = this.#run.graph
    this.#keyframes = new Keyframes(this.index, this.facts)
    this.timeline = new Timeline(this.index)
  }

  /** Sequence number of the last token held; 0 before the first. */
  get seq(): number {
    return this.entries.length
  }

  /** Where a live stream goes on from; undefined before the first token. */
  get position(): number | undefined {
    return this.entries.at(-1)?.position
  }

  /** Folds the entries that are new. False when one is missing before them: fetch from `seq` on. */
  add(entries: readonly LedgerEntryWire[]): boolean {
    for (const entry of entries) {
      if (entry.seq <= this.seq) continue
      if (entry.seq !== this.seq + 1) return false
      this.#addOne(entry)
    }
    return true
  }

  #addOne(entry: LedgerEntryWire): void {
    const { claims, fact } = this.#read(entry.token)
    const row = ledgerRow(entry, claims, fact, fact && this.#agentOf(fact), this.#run)
    this.entries.push(entry)
    this.rows.push(row)
    this.facts.push(fact)
    this.#seqOf.set(claims.jti, entry.seq)
    if (fact) evolveShared(this.#run, fact)
    // Where a token from outside belongs is for the fold to say.
    if (fact?.type === 'reported') Object.assign(row, this.#run.reported?.placeOf.get(fact.jti))
    this.#keepRow(row)
    this.timeline.add(this.#run, row, fact)
    this.#keyframes.passed(entry.seq, this.#run)
  }

  #read(token: string): { claims: Claims; fact: Fact | undefined } {
    const claims = parseClaims(unverifiedPayload(token))
    this.#home ??= claims.iss
    try {
      return { claims, fact: factOf(claims, this.#home) }
    } catch {
      return { claims, fact: undefined }
    }
  }

  #keepRow(row: LedgerRow): void {
    if (row.node === undefined) return
    const rows = this.#rowsOf.get(row.node)
    if (rows) rows.push(row)
    else this.#rowsOf.set(row.node, [row])
  }

  #agentOf(fact: Fact): string | undefined {
    if (!('visit' in fact)) return undefined
    const visit = `${fact.visit} ${fact.node}`
    if (fact.type === 'task_start' && fact.agent !== undefined) this.#agents.set(visit, fact.agent)
    return this.#agents.get(visit)
  }

  /** The run as screens draw it, now. The same object until another token comes. */
  get frame(): RunFrame {
    if (this.#frame?.at !== this.seq) {
      this.#frame = { at: this.seq, frame: frameOf(this.#run, this.#frame?.frame) }
    }
    return this.#frame.frame
  }

  /**
   * The run as it was after that token (0: before the first), in the words and by the fold of the live one. Positions
   * beyond the ends are the ends. The same object while it is among the last few that were asked for.
   */
  at(seq: number): RunAt {
    const position = Math.min(Math.max(0, Math.trunc(seq)), this.seq)
    const known = this.#moments.get(position)
    if (known) return known
    const moment = new RunAt(this.#source, position)
    this.#moments.set(position, moment)
    const [oldest] = this.#moments.keys()
    if (this.#moments.size > momentsKept && oldest !== undefined) this.#moments.delete(oldest)
    return moment
  }

  readonly #source: RunSource = {
    runAt: (seq) => (seq === this.seq ? this.#run : this.#keyframes.at(seq)),
    rowsOf: (node, seq) => {
      const rows = this.#rowsOf.get(node) ?? []
      return rows.slice(0, lastWhere(rows, (row) => row.seq <= seq) + 1)
    },
    frameLike: (run, seq) => {
      if (seq === this.seq) return this.frame
      this.#pastFrame = frameOf(run, this.#pastFrame ?? this.#frame?.frame)
      return this.#pastFrame
    },
  }

  /** The workflow's limits and what the run has used of them at `now`, ms since the epoch. */
  gauges(now: number): Gauge[] {
    return gaugesOf(this.#run, now)
  }

  /** From what that token shows to what it came from, within this run. */
  causes(seq: number): CausalChain | undefined {
    return causesOf({ index: this.index, rows: this.rows, facts: this.facts, seqOf: this.#seqOf }, seq)
  }

  visit(node: string, which?: number): VisitView | undefined {
    return visitView(this.#run, this.#rowsOf.get(node) ?? [], node, which)
  }

  /** Hash of what the run was begun with. */
  get input(): string | undefined {
    return this.#run.start?.input
  }

  /** The steps of a walk in the order they were made; empty where nothing walks. */
  get walked(): readonly WalkedStep[] {
    return (this.#run.walk?.path ?? []).map(({ visit: { node, visit, state, carriedFrom } }) => ({
      node,
      visit,
      state,
      ...(carriedFrom !== undefined && { carriedFrom }),
    }))
  }

  /** What the agent's loop that this run is has run out of: "out of steps after 4". */
  get ranOut(): string | undefined {
    return ranOut(this.#run)
  }

  /** Where a walk goes on after that rollback; `first` where it began. Undefined where nothing walks. */
  resumesAt(
    rollback: Pick<RollbackView, 'scope' | 'node'>,
  ): { node: string; visit: number; first: boolean } | undefined {
    const { walk } = this.#run
    const at = walk ? resumesAt(walk, rollback) : -1
    const step = walk?.path[at]
    return step && { node: step.visit.node, visit: step.visit.visit, first: at === 0 }
  }

  /** What may be done to the run now: `running`, `paused`, `rolled_back`, `ended`, … */
  get status(): Run['state']['status'] {
    return this.#run.state.status
  }

  get startedAt(): number | undefined {
    return this.#run.start?.at
  }

  get dryRun(): boolean {
    return this.#run.start?.dryRun ?? false
  }

  /** Rollbacks of this run, oldest first. */
  rollbacks(run: string): RollbackView[] {
    return [...this.#run.rollbacks.values()].map((rollback) => rollbackViewOf(this.#run, run, rollback))
  }

  /** Scopes that would take back more than that rollback does. */
  broaderScopes(rollback: RollbackView): RollbackScope[] {
    return broaderScopes(this.#run, rollback)
  }

  /** The steps that were made from what that one gave. */
  dependents(node: string): Dependent[] {
    return dependentsOf(this.#run, node)
  }

  /**
   * The step a rollback is most likely meant for: the given one if it left a checkpoint, else the nearest before it
   * that did (what failed is seldom what did the harm), else the latest of the run, else the first step.
   */
  rollbackNodeFor(node: string | undefined): string | undefined {
    const sealed = new Set<string>()
    for (const checkpoint of this.#run.checkpoints.values())
      if (!checkpoint.undone) sealed.add(checkpoint.node)
    const queue = node === undefined ? [] : [node]
    for (let at = 0; at < queue.length; at++) {
      const next = queue[at] as string
      if (sealed.has(next)) return next
      for (const parent of this.index.parents.get(next) ?? []) if (!queue.includes(parent)) queue.push(parent)
    }
    return [...sealed].at(-1) ?? node ?? this.index.order[0]
  }

  /** The step that needs someone: the first that waits for a person, else the first that failed or was escalated. */
  get troubledNode(): string | undefined {
    const frames = [...this.frame.nodes.values()]
    const found =
      frames.find((frame) => frame.shown === 'waiting') ??
      frames.find((frame) => frame.shown === 'failed' || frame.shown === 'escalated')
    return found?.id
  }

  /** Where to look first: the step that needs someone, else the first that runs. */
  get liveNode(): string | undefined {
    return this.troubledNode ?? [...this.frame.nodes.values()].find(({ shown }) => shown === 'running')?.id
  }

  /** Sequence number of the token with that id, when it is in this run. */
  seqOf(jti: string): number | undefined {
    return this.#seqOf.get(jti)
  }

  /** Header and claims of a token, as they stand in it. */
  open(seq: number): OpenedToken | undefined {
    const entry = this.entries[seq - 1]
    if (!entry) return undefined
    return { header: decodeJws(entry.token, TOKEN_TYPES).header, claims: unverifiedPayload(entry.token) }
  }
}
