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
import { partyName } from '@/lib/base/party-name'
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
  | {
      kind: 'latency'
      at: number
      downstream: string
      p99Ms: number
      usualMs: number
      token?: string
      caller?: string
    }
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

/** Tokens of all runs whose chains are remembered; a chain that goes on after so many others is a new one. */
const tokensKept = 50_000
const stepsKept = 10_000
const downstreamsKept = 5_000
const saidKept = 5_000
const maxNames = 200
const maxRestsOn = 100
/** What one token may be looked up for: the bound of the token format. */
const maxParents = 100

/** A failure and the one behind it, as far as they hang together. */
interface Link {
  who: string
  node: string
  token: string
  /** Different steps up to here. */
  depth: number
  /** Absent at the root, and now and then on the way: a chain without end must not be kept whole. */
  before: Link | undefined
  root: { who: string; node: string; token: string }
}

/** Failures within the window by who failed, newest last. */
interface Group {
  failed: Map<string, { token: string; at: number }>
}

/** Told of tokens and changes one by one, it says when a failure is propagating. Memory is bounded, cost per token flat. */
export class CascadeWatch {
  readonly #thresholds: CascadeThresholds
  /** The nearest failure behind each token; absent: none. */
  readonly #behind = new Bounded<string, Link>(tokensKept)
  /** Parents of each step's first token, by run and step. */
  readonly #begunFrom = new Bounded<string, readonly string[]>(stepsKept)
  /** Failed siblings, by run and the token that they began from. */
  readonly #siblings = new Bounded<string, Group>(stepsKept)
  /** Circuits that opened, by downstream. */
  readonly #circuits = new Bounded<string, Group & { callers: Map<string, string> }>(downstreamsKept)
  readonly #said = new Bounded<string, number>(saidKept)

  constructor(thresholds: Partial<CascadeThresholds> = {}) {
    this.#thresholds = { ...cascadeThresholds, ...thresholds }
  }

  /** What this news makes of it; mostly nothing. One token can be the last straw of two patterns. */
  add(input: CascadeInput): CascadeSeen[] {
    switch (input.kind) {
      case 'token':
        return this.#token(input)
      case 'circuit':
        return this.#circuit(input)
      case 'latency':
        return this.#tell({
          pattern: 'latency_spike',
          origin: input.downstream,
          affected: [input.downstream, ...(input.caller === undefined ? [] : [input.caller])],
          restsOn: input.token === undefined ? [] : [input.token],
          description: `${partyName(input.downstream)} answers in ${Math.round(input.p99Ms)} ms, where ${Math.round(input.usualMs)} ms are usual (99th percentile)`,
          at: input.at,
        })
      case 'exhausted':
        return this.#tell({
          pattern: 'resource_exhaustion',
          origin: input.name,
          affected: [...new Set([input.name, ...(input.affected ?? [])])],
          restsOn: input.token === undefined ? [] : [input.token],
          description: `${partyName(input.name)} has no room left, and work waits for it`,
          at: input.at,
        })
    }
  }

  #token(input: Extract<CascadeInput, { kind: 'token' }>): CascadeSeen[] {
    const { run, token, node, says } = input
    const before = this.#nearest(input.par)
    if (says === 'began' && node !== undefined) this.#begunFrom.set(`${run} ${node}`, input.par)
    if (says !== 'failed') {
      // A success ends what stood behind it.
      if (before && says !== 'done') this.#behind.set(token, before)
      return []
    }
    const who = input.agent ?? node ?? token
    const step = `${run} ${node ?? who}`
    // The same step failing again is a retry, and no way for a failure to spread.
    const same = before?.node === step
    const depth = same ? before.depth : (before?.depth ?? 0) + 1
    const link: Link = {
      who,
      node: step,
      token,
      depth,
      before: same ? before.before : depth % maxNames === 0 ? undefined : before,
      root:
        same && before.depth === 1
          ? { who, node: step, token }
          : (before?.root ?? { who, node: step, token }),
    }
    this.#behind.set(token, link)
    return [...this.#deep(link, input), ...this.#broad(who, step, input)]
  }

  #nearest(par: readonly string[]): Link | undefined {
    let nearest: Link | undefined
    for (const parent of par.slice(0, maxParents)) {
      const link = this.#behind.get(parent)
      if (link && link.depth > (nearest?.depth ?? 0)) nearest = link
    }
    return nearest
  }

  #deep(link: Link, { run, at }: Extract<CascadeInput, { kind: 'token' }>): CascadeSeen[] {
    if (link.depth < this.#thresholds.depth) return []
    // Before the walk back: most tokens of a long chain are no news.
    if (!this.#isNews(`depth_first ${link.root.token}`, link.depth)) return []
    const names = new Set<string>()
    const restsOn: string[] = []
    for (let one: Link | undefined = link; one && restsOn.length < maxRestsOn; one = one.before) {
      names.add(one.who)
      restsOn.push(one.token)
    }
    const first = link.root
    if (names.size < this.#thresholds.depth) return []
    const affected = [...names].reverse()
    return this.#tell({
      pattern: 'depth_first',
      origin: first.who,
      key: first.token,
      run,
      node: first.node.slice(first.node.indexOf(' ') + 1),
      affected,
      restsOn: restsOn.reverse(),
      description: `A failure of ${partyName(first.who)} went up a chain of ${affected.length}: ${sentenceOf(affected)}`,
      at,
    })
  }

  #broad(
    who: string,
    step: string,
    { run, node, at, token }: Extract<CascadeInput, { kind: 'token' }>,
  ): CascadeSeen[] {
    const parents = this.#begunFrom.get(step) ?? []
    let widest: { parent: string; group: Group } | undefined
    for (const parent of parents.slice(0, maxParents)) {
      const key = `${run} ${parent}`
      const group: Group = this.#siblings.get(key) ?? { failed: new Map() }
      this.#siblings.set(key, group)
      this.#join(group, node ?? who, token, at)
      if (!widest || group.failed.size > widest.group.failed.size) widest = { parent, group }
    }
    if (!widest || widest.group.failed.size < this.#thresholds.siblings) return []
    const steps = [...widest.group.failed.keys()]
    return this.#tell({
      pattern: 'breadth_first',
      origin: widest.parent,
      key: `${run} ${widest.parent}`,
      run,
      node: steps[0],
      affected: steps,
      restsOn: [...widest.group.failed.values()].map((failed) => failed.token),
      description: `${steps.length} steps that began together failed together: ${sentenceOf(steps)}`,
      at,
    })
  }

  #circuit({ token, at, circuit, caller, downstream, status }: Extract<CascadeInput, { kind: 'circuit' }>) {
    const group = this.#circuits.get(downstream) ?? { failed: new Map(), callers: new Map() }
    if (status === 'closed') {
      group.failed.delete(circuit)
      group.callers.delete(circuit)
      return []
    }
    if (status === 'half_open') return []
    this.#circuits.set(downstream, group)
    this.#join(group, circuit, token, at)
    for (const known of group.callers.keys()) if (!group.failed.has(known)) group.callers.delete(known)
    group.callers.set(circuit, caller)
    if (group.failed.size < this.#thresholds.circuits) return []
    const callers = [...new Set(group.callers.values())]
    return this.#tell({
      pattern: 'error_clustering',
      origin: downstream,
      affected: [downstream, ...callers],
      restsOn: [...group.failed.values()].map((opened) => opened.token),
      description: `${group.failed.size} breakers on ${partyName(downstream)} opened within ${Math.round(this.#thresholds.windowMs / 1000)} s: it is what ${sentenceOf(callers.map(partyName))} share`,
      at,
    })
  }

  /** The oldest stand first: what has left the window is dropped until one is met that has not. */
  #join({ failed }: Group, who: string, token: string, at: number): void {
    failed.delete(who)
    for (const [oldest, { at: failedAt }] of failed) {
      if (failedAt > at - this.#thresholds.windowMs && failed.size < maxNames) break
      failed.delete(oldest)
    }
    failed.set(who, { token, at })
  }

  /** Said once, and again when it has grown: to twice as many, or past the number that asks for a person. */
  #tell({ key, ...seen }: Omit<CascadeSeen, 'affectedCount'> & { key?: string }): CascadeSeen[] {
    const affectedCount = seen.affected.length
    const name = `${seen.pattern} ${key ?? seen.origin}`
    if (!this.#isNews(name, affectedCount)) return []
    this.#said.set(name, affectedCount)
    return [
      {
        ...seen,
        affected: seen.affected.slice(0, maxNames),
        affectedCount,
        restsOn: seen.restsOn.slice(-maxRestsOn),
      },
    ]
  }

  #isNews(name: string, affectedCount: number): boolean {
    const told = this.#said.get(name)
    const { escalateAbove } = this.#thresholds
    if (told === undefined || affectedCount >= 2 * told) return true
    return told <= escalateAbove && affectedCount > escalateAbove
  }
}

/**
 * A map that forgets what was touched longest ago, half of it at a time: taking the oldest entry out of one map for each
 * that is put in makes it look past ever more holes.
 */
class Bounded<K, V> {
  readonly #half: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(most: number) {
    this.#half = Math.ceil(most / 2)
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: K, value: V): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
  }
}

function sentenceOf(names: readonly string[]): string {
  const shown = names.slice(0, 4).map(partyName)
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
