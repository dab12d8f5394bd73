/*
 * Transitions: one row for each entry of a node on a walk, and in a topological run for each start of a step. The path
 * of the walk is followed as the fold makes it: where the fold goes back to an earlier place, the rows it leaves behind
 * stay and say by which token they were left.
 *
 *   path    plan ─▶ code ─▶ test ─▶ code          a rollback to `test`, and on
 *   rows    plan    code    test✗   code✗   test  ✗: leftAt
 */
import type { Actor, Fact, FactOf } from '@/lib/engine/facts'
import type { Run, WalkStep } from '@/lib/engine/run'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { lastWhere } from './bounds'
import type { ArtifactSet, FiredBy, Seq, Transition } from './terms'

export class TransitionKeeper {
  readonly all: Transition[] = []
  readonly #index: GraphIndex
  /** The rows of the walk's path, place by place. */
  readonly #path: Transition[] = []
  /** The row of each visit: `visit node`. */
  readonly #byVisit = new Map<string, Transition>()
  /** Who gave a visit its event: a person, or the agent that did it. */
  readonly #givenBy = new Map<string, FiredBy>()
  /** What was written on the way here, as in `Run.artifactWrites`. */
  readonly #written: ArtifactSet[] = []
  readonly #writes = new Map<string, ArtifactSet[]>()
  /** The node and visit of each completion: whom a step of a topological run follows. */
  readonly #placeOf = new Map<string, { node: string; visit: number }>()

  constructor(index: GraphIndex) {
    this.#index = index
  }

  /** Takes a token that was folded, and who did what it says. The transition it made, if it made one. */
  taken(run: Run, seq: Seq, at: number, fact: Fact, who: Actor): Transition | undefined {
    this.#takeWrites(run, seq, fact)
    this.#takeGiven(fact, who)
    const made = run.walk ? this.#entered(run, run.walk.path, seq, at, fact) : this.#began(run, seq, at, fact)
    this.#takeVisit(seq, fact)
    if (!run.walk && 'visit' in fact && completes(fact)) {
      this.#placeOf.set(fact.jti, { node: fact.node, visit: fact.visit })
    }
    return made
  }

  at(seq: Seq): Transition | undefined {
    return this.all[lastWhere(this.all, (one) => one.seq <= seq)]
  }

  writesOf(artifact: string): readonly ArtifactSet[] {
    return this.#writes.get(artifact) ?? []
  }

  #entered(run: Run, path: readonly WalkStep[], seq: Seq, at: number, fact: Fact): Transition | undefined {
    const last = path.at(-1)
    const known = this.#path.at(-1)
    if (!last || (known?.node === last.visit.node && known.visit === last.visit.visit)) return undefined
    while (this.#path.length >= path.length) {
      const left = this.#path.pop()
      if (left) left.leftAt = seq
    }
    const before = this.#path.at(-1)
    const edge = last.edge === undefined ? undefined : run.graph.graph.edges[last.edge]
    const { node, visit } = last.visit
    const made = this.#put({
      seq,
      at,
      from: before && { node: before.node, visit: before.visit },
      event: edge?.when,
      node,
      visit,
      bound: this.#index.nodes.get(node)?.maxVisits,
      firedBy: this.#firedBy(last, before, fact),
      insteadOf: last.insteadOf,
    })
    this.#path.push(made)
    return made
  }

  /** A step of a topological run begins once for each visit. */
  #began(run: Run, seq: Seq, at: number, fact: Fact): Transition | undefined {
    if (fact.type === 'reported') return this.#reported(run, seq, at, fact)
    if (fact.type !== 'task_start' && fact.type !== 'step_carried') return undefined
    const { node, visit } = fact
    if (this.#byVisit.has(keyOf(node, visit))) return undefined
    const parents = this.#index.parents.get(node) ?? []
    const from = fact.par
      .map((jti) => this.#placeOf.get(jti))
      .findLast((one) => one && parents.includes(one.node))
    const agent = fact.type === 'task_start' ? fact.agent : undefined
    const firedBy: FiredBy = agent === undefined ? { by: 'engine' } : { by: 'agent', who: agent }
    return this.#put({ seq, at, from, node, visit, firedBy })
  }

  /** A step that an agent reports begins with its own token, under the token's id. */
  #reported(run: Run, seq: Seq, at: number, { jti, agent }: FactOf<'reported'>): Transition | undefined {
    if (!run.graph.nodes.has(jti) || this.#byVisit.has(keyOf(jti, 1))) return undefined
    const [before] = this.#index.parents.get(jti) ?? []
    const from = before === undefined ? undefined : { node: before, visit: 1 }
    return this.#put({ seq, at, from, node: jti, visit: 1, firedBy: { by: 'agent', who: agent } })
  }

  #put(row: Omit<Transition, 'index'>): Transition {
    const made: Transition = { index: this.all.length, ...row }
    this.all.push(made)
    this.#byVisit.set(keyOf(row.node, row.visit), made)
    return made
  }

  #firedBy(step: WalkStep, before: Transition | undefined, fact: Fact): FiredBy {
    if (fact.type === 'workflow_start') return { by: 'start', who: fact.by }
    if (fact.type === 'rollback_choice') return { by: 'rollback', who: fact.by }
    if (step.insteadOf !== undefined) return { by: 'limit' }
    if (!before) return { by: 'engine' }
    const given = this.#givenBy.get(keyOf(before.node, before.visit))
    if (given !== undefined) return given
    return modelKinds.has(this.#index.nodes.get(before.node)?.kind ?? '') ? { by: 'model' } : { by: 'engine' }
  }

  #takeGiven(fact: Fact, who: Actor): void {
    const gives =
      fact.type === 'event_given' || (fact.type === 'approval_decided' && fact.verdict === 'event')
    if (gives && who !== 'silence') this.#givenBy.set(keyOf(fact.node, fact.visit), { by: 'person', who })
    if (fact.type !== 'task_complete' || who === 'engine') return
    const key = keyOf(fact.node, fact.visit)
    if (!this.#givenBy.has(key)) this.#givenBy.set(key, { by: 'agent', who })
  }

  #takeVisit(seq: Seq, fact: Fact): void {
    if (!('visit' in fact)) return
    const row = this.#byVisit.get(keyOf(fact.node, fact.visit))
    if (!row) return
    if (beginnings.has(fact.type)) row.begins ??= seq
    const fails = fact.type === 'error' && (fact.severity === 'error' || fact.severity === 'critical')
    if (fails || completes(fact)) row.ends = seq
  }

  /** A rollback shortens what was written on the way here; of the rest each token writes at most one. */
  #takeWrites(run: Run, seq: Seq, fact: Fact): void {
    const { artifactWrites } = run
    if (fact.type === 'artifact_set' && artifactWrites.length > this.#written.length) {
      const write = artifactWrites.at(-1)
      if (!write) return
      const set: ArtifactSet = { ...write, seq }
      this.#written.push(set)
      const writes = this.#writes.get(set.artifact)
      if (writes) writes.push(set)
      else this.#writes.set(set.artifact, [set])
    }
    while (this.#written.length > artifactWrites.length) {
      const left = this.#written.pop()
      if (left) left.leftAt = seq
    }
  }
}

/** The first token of a visit of its own. */
const beginnings = new Set<Fact['type']>([
  'task_offered',
  'task_start',
  'approval_asked',
  'step_carried',
  'event_given',
])

function completes(fact: Fact): boolean {
  return fact.type === 'task_complete' || fact.type === 'step_carried'
}

/** Kinds whose label a model chose. */
const modelKinds = new Set(['prompt_state', 'prompt_turn', 'agent_think', 'agent_loop', 'llm_infer'])

function keyOf(node: string, visit: number): string {
  return `${visit} ${node}`
}
