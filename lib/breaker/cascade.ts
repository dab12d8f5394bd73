/*
 * Cascades: is a failure propagating? (cascade section 5.) Five patterns, told from what arrives one at a time:
 *
 *   error_clustering     several circuits on one downstream opened within the window: what they share is down
 *   depth_first          errors one after another along `par`: a chain of calls fails from its end upwards
 *   breadth_first        siblings, begun from the same token, failing within the window: what is under them is down
 *   latency_spike        answers of a downstream far slower than usual
 *   resource_exhaustion  a pool, the memory or the event loop is full
 *
 * What arrives is plain data; what comes out says the pattern, who is affected, and the tokens it rests on. Each token
 * costs the same however many there were before it: of every token only how far the failures behind it reach is kept,
 * and the oldest are forgotten past a bound. The same pattern at the same origin is said once, and again only when it
 * has grown to twice as many as were told of, or past the number that asks for a person.
 */
import type { CascadePattern, CircuitStatus } from './terms'

/** What the watch is told of. `at` is ms since the epoch; `token` is the `jti` of the token that says so. */
export type CascadeInput =
  /** A token of a run's DAG. Every token of the run may be told of: those that are no failure carry the chain on. */
  | {
      kind: 'token'
      run: string
      token: string
      at: number
      /** Ids of the tokens it follows from, also of other runs. */
      par: readonly string[]
      /** The step it belongs to; absent: none. */
      node?: string
      /** Who did the step: an agent's id, else the step's own name. Affected agents are named by it. */
      agent?: string
      /**
       * `began`: the step was begun from `par`, which tells who its siblings are. `failed`: an error of severity `error` or
       * `critical`. `done`: it succeeded, which ends a chain of failures. `other`: whatever else.
       */
      says: 'began' | 'failed' | 'done' | 'other'
    }
  /** A circuit changed, whoever's it is. */
  | {
      kind: 'circuit'
      token: string
      at: number
      circuit: string
      caller: string
      downstream: string
      status: CircuitStatus
    }
  /** Answers of a downstream became slow (lib/breaker/latency.ts). `token`: of the call's step, where there is one. */
  | { kind: 'latency'; at: number; downstream: string; p99Ms: number; usualMs: number; token?: string; caller?: string }
  /** A pool, the memory or the event loop is full. `name`: the pool's name, `memory`, `event_loop`. */
  | { kind: 'exhausted'; at: number; name: string; token?: string; affected?: readonly string[] }

export interface CascadeSeen {
  pattern: CascadePattern
  /** Where it seems to come from: a downstream, a step's agent, a pool. */
  origin: string
  /** The run and the step of it, for patterns of a DAG. */
  run?: string
  node?: string
  /** Names of the affected, the first to be met first; at most 200 of `affectedCount`. */
  affected: string[]
  affectedCount: number
  /** Tokens it rests on, at most 100. */
  restsOn: string[]
  description: string
  at: number
}

export interface CascadeThresholds {
  /** Circuits on one downstream within `windowMs` (NOTES 3.12). */
  circuits: number
  /** Steps in a chain of failures. */
  depth: number
  /** Siblings that failed within `windowMs`. */
  siblings: number
  windowMs: number
  /** More affected than this asks for a person (cascade section 5.3). */
  escalateAbove: number
}

export const cascadeThresholds: CascadeThresholds = {
  circuits: 3,
  depth: 2,
  siblings: 3,
  windowMs: 60_000,
  escalateAbove: 3,
}
