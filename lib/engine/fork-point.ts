/*
 * Where a run may be forked: any of its tokens. The run is folded up to that token, and what is done there is what a
 * fork takes as given; everything else is done anew.
 *
 *   original   plan ─▶ implement ─▶ test ─▶ implement (2) … ─▶ test (2) …        token 23: in the middle of implement (2)
 *   fork       plan ─▶ implement ─▶ test ─▶ ▮                                     stands before implement (2)
 *
 * A walk is carried as far as it is done without a gap: a step that was taken back ends it. Visits are counted anew along
 * the way that is carried, because a rollback leaves numbers behind that the fork never comes to.
 */
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { isUntouched } from './artifacts'
import type { CarriedFact } from './commands'
import { evolve, newRun } from './evolve'
import type { Fact } from './facts'
import type { ArtifactWrite, Run, Visit } from './run'
import { visitOf } from './visit-states'

/** A visit of the original that a fork carries, and its number there. */
export interface CarriedVisit {
  node: string
  visit: number
  carriedAs: number
}

export interface ForkPoint {
  /** Tokens that were folded, and the last of them. */
  seq: number
  jti: string
  /** Milliseconds since the epoch: when that token was written. */
  at: number
  /** The original as it was then. */
  run: Run
  /** The node a stepwise run began at. */
  entry?: string
  carried: CarriedFact[]
  visits: CarriedVisit[]
  /** Number of the token that completed a step or wrote an artifact, by its `jti`; 0 for any other. */
  seqOf(jti: string | undefined): number
  /** Tokens it was laid out with before anything was done: its start, and of a fork what it took over or was given. */
  laid: number
}

/** What a fork is laid out with, in one commit. */
const layingOut = new Set<Fact['type']>(['workflow_start', 'step_carried', 'artifact_set', 'join'])

/** Folds a run token by token; `point` is where it can be forked now. */
export class ForkFold {
  readonly run: Run
  /** Numbers of the tokens that completed a step or wrote an artifact, by their `jti`. */
  readonly #seqs = new Map<string, number>()
  readonly #toolCalls = new Map<string, number>()
  /** Completions of steps that a limit cut off: they named no way on, so they are done anew. */
  readonly #cutOff = new Set<string>()
  /** Writings that were there before their step began: what an earlier fork was given. */
  readonly #given = new Set<string>()
  #laid = 0

  constructor(graph: GraphIndex) {
    this.run = newRun(graph)
  }

  add(fact: Fact): void {
    this.#note(fact)
    evolve(this.run, fact)
  }

  /** Undefined before the first token. */
  point(): ForkPoint | undefined {
    const { run } = this
    if (run.lastJti === undefined) return undefined
    const visits = this.#carriedVisits()
    const entry = run.start?.entry
    return {
      seq: run.seq,
      jti: run.lastJti,
      at: run.lastAt,
      run,
      ...(entry !== undefined && { entry }),
      carried: this.#facts(visits),
      visits: [...visits].map(([{ node, visit }, carriedAs]) => ({ node, visit, carriedAs })),
      seqOf: (jti) => this.#seqOf(jti),
      laid: this.#laid,
    }
  }

  #note(fact: Fact): void {
    const seq = this.run.seq + 1
    if (this.#laid === seq - 1 && layingOut.has(fact.type)) this.#laid = seq
    if (fact.type === 'task_complete' || fact.type === 'step_carried') {
      this.#seqs.set(fact.jti, seq)
      if (fact.toolCalls !== undefined) this.#toolCalls.set(fact.jti, fact.toolCalls)
      if (fact.type === 'task_complete' && fact.exhausted !== undefined) this.#cutOff.add(fact.jti)
    } else if (fact.type === 'artifact_set') {
      this.#seqs.set(fact.jti, seq)
      const visit = visitOf(this.run, fact.node, fact.visit)
      if (visit && isUntouched(visit)) this.#given.add(fact.jti)
    }
  }

  /** What is carried, each with its number in the fork. */
  #carriedVisits(): Map<Visit, number> {
    const counts = new Map<string, number>()
    const visits = new Map<Visit, number>()
    for (const visit of this.#finished()) {
      const nth = (counts.get(visit.node) ?? 0) + 1
      counts.set(visit.node, nth)
      visits.set(visit, nth)
    }
    return visits
  }

  /** Visits that are done, in the order of a walk; elsewhere in the order they were completed, which is a topological one. */
  #finished(): Visit[] {
    const isDone = ({ state, doneJti }: Visit) =>
      state.status === 'done' && doneJti !== undefined && !this.#cutOff.has(doneJti)
    const { walk, visits } = this.run
    if (walk) {
      const path = walk.path.map((step) => step.visit)
      const gap = path.findIndex((visit) => !isDone(visit))
      return gap === -1 ? path : path.slice(0, gap)
    }
    return [...visits.values()].filter(isDone).sort((a, b) => this.#seqOf(a.doneJti) - this.#seqOf(b.doneJti))
  }

  /** Completions and the writings of artifacts between them, in the order they were. */
  #facts(visits: ReadonlyMap<Visit, number>): CarriedFact[] {
    const dated: [seq: number, fact: CarriedFact][] = []
    for (const [visit, carriedAs] of visits) {
      const fact = this.#completion(visit, carriedAs)
      if (fact) dated.push([this.#seqOf(visit.doneJti), fact])
    }
    for (const write of this.run.artifactWrites) {
      const carriedAs = this.#writtenAs(write, visits)
      if (carriedAs === undefined) continue
      const { artifact, value, mediaType, mode, node, by } = write
      const body = {
        type: 'artifact_set',
        artifact,
        value,
        mediaType,
        mode,
        node,
        visit: carriedAs,
        by,
      } as const
      dated.push([this.#seqOf(write.jti), body])
    }
    return dated.sort(([a], [b]) => a - b).map(([, fact]) => fact)
  }

  #completion(visit: Visit, carriedAs: number): CarriedFact | undefined {
    const { node, state, doneJti } = visit
    if (state.status !== 'done' || doneJti === undefined) return undefined
    const { output, label, tookMs } = state
    const toolCalls = this.#toolCalls.get(doneJti)
    return {
      type: 'step_carried',
      node,
      visit: carriedAs,
      output,
      ...(label !== undefined && { label }),
      tookMs,
      ...(toolCalls !== undefined && { toolCalls }),
      from: doneJti,
    }
  }

  /** The visit of the fork that a writing belongs to; undefined when it goes with a step that is done anew. */
  #writtenAs({ node, visit, jti }: ArtifactWrite, visits: ReadonlyMap<Visit, number>): number | undefined {
    for (const candidate of this.run.past.get(node) ?? []) {
      if (candidate.visit === visit && visits.has(candidate)) return visits.get(candidate)
    }
    const current = this.run.visits.get(node)
    if (current?.visit !== visit) return undefined
    const carriedAs = visits.get(current)
    if (carriedAs !== undefined || !this.#given.has(jti)) return carriedAs
    let before = 0
    for (const kept of visits.keys()) if (kept.node === node) before++
    return before + 1
  }

  #seqOf(jti: string | undefined): number {
    return this.#seqs.get(jti ?? '') ?? 0
  }
}

/** What is entered next in a run that was laid out so: of a walk its place, elsewhere all that is ready. */
export function goesOnWith(run: Run): Visit[] {
  if (run.walk) {
    const place = run.walk.path.at(-1)?.visit
    return place && place.state.status !== 'done' ? [place] : []
  }
  return run.graph.order.flatMap((node) => (run.ready.has(node) ? (run.visits.get(node) ?? []) : []))
}
