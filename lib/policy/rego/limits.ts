/*
 * How much a policy may use. A policy is short and its input small; these bounds are far above both, and keep a
 * hostile or careless one from holding up a run.
 */
import { RegoFailed } from './refusal'

export interface Limits {
  /** Statements tried and members looked at. */
  steps: number
  /** Members of collections, and characters of texts, made along the way. */
  size: number
  /** Rules and comprehensions inside one another. */
  depth: number
}

export const defaultLimits: Limits = { steps: 1_000_000, size: 20_000_000, depth: 200 }

/** Counts what an evaluation uses; past a bound it throws RegoFailed. */
export class Meter {
  #steps = 0
  #size = 0
  #depth = 0

  constructor(readonly limits: Limits) {}

  step(count = 1): void {
    this.#steps += count
    if (this.#steps > this.limits.steps)
      throw new RegoFailed('eval_bound', `The policy took more than ${this.limits.steps} steps`)
  }

  /** Notes that something of this size was made. */
  keep(size: number): void {
    this.#size += size
    if (this.#size > this.limits.size)
      throw new RegoFailed(
        'eval_bound',
        `The policy made more than ${this.limits.size} members and characters`,
      )
  }

  enter(): void {
    this.#depth += 1
    if (this.#depth > this.limits.depth)
      throw new RegoFailed(
        'eval_bound',
        `Rules and comprehensions nest deeper than ${this.limits.depth} levels`,
      )
  }

  leave(): void {
    this.#depth -= 1
  }
}
