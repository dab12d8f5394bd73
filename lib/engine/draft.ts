import { hashJson } from '@/lib/base/hash'
import type { Json } from '@/lib/base/json'
import type { At, Decision } from './commands'
import type { FactBody } from './facts'
import type { Run, Visit } from './run'
import { startJti } from './start-token'

/** NOTES 1: a token names at most 100 parents. */
export const maxParents = 100

/** Collects the facts of one decision: gives each its id, its time and its parents. */
export class Draft {
  readonly decision: Decision = { facts: [], values: [] }
  private readonly at: At

  constructor(at: At) {
    this.at = at
  }

  /** When it is decided, in ms since the epoch. */
  get now(): number {
    return this.at.now
  }

  /** Adds a fact that follows from `par` and returns its `jti`. More than 100 parents are grouped by `join` facts. */
  add(body: FactBody, par: string[], jti = this.at.mint()): string {
    this.decision.facts.push({ ...body, jti, at: this.at.now, par: this.grouped(par) })
    return jti
  }

  /** Keeps a value that a fact of this decision speaks of, and returns its hash. */
  keep(json: Json): string {
    const hash = hashJson(json)
    this.decision.values.push({ hash, json })
    return hash
  }

  private grouped(par: string[]): string[] {
    const unique = [...new Set(par)]
    if (unique.length <= maxParents) return unique
    const groups: string[] = []
    for (let from = 0; from < unique.length; from += maxParents) {
      groups.push(this.add({ type: 'join' }, unique.slice(from, from + maxParents)))
    }
    return this.grouped(groups)
  }
}

/** The tokens a node's next token follows from: its parents' completions, or the start, and what came last in its visit. */
export function parentsOfStep(run: Run, visit: Visit): string[] {
  if (run.walk) {
    const from = visit.enteredFrom ?? startJti(run)
    return visit.lastJti === undefined ? [from] : [visit.lastJti, from]
  }
  const done = (run.graph.parents.get(visit.node) ?? [])
    .map((parent) => run.visits.get(parent)?.doneJti)
    .filter((jti) => jti !== undefined)
  const from = done.length > 0 ? done : [startJti(run)]
  return visit.lastJti === undefined ? from : [visit.lastJti, ...from]
}
