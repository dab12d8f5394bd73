/* What travels between the server and screens about breakers. Times are ms since the epoch, durations say their unit. */
import type { CascadePattern, CircuitStatus } from '@/lib/breaker/terms'

/**
 * `GET /api/v1/circuits`: every circuit that had a call within the hour, is not closed, or is forced; and what agents told
 * of their own within a day (`reported`). Those that need somebody come first: open, half-open, forced, then by error rate.
 */
export interface CircuitList {
  items: CircuitRow[]
  /** Probes that are held while a person is asked, one for each downstream. */
  holds: CircuitHoldView[]
  /** How often a circuit opened within the last 24 hours. */
  openedIn24h?: number
  /** When all this was so. */
  at: number
}

/** One who calls, or is called, as screens name it. */
export interface CircuitParty {
  /** `workflow:failover`, `spiffe://example.com/agent/b`, `backend:default`, `mcp:github`, `host:10.0.0.2:443`. */
  id: string
  kind: 'workflow' | 'agent' | 'backend' | 'mcp' | 'host'
  /** The workflow's name, the agent's registered name, or what follows the kind. */
  name: string
}

export interface CircuitRow {
  id: string
  caller: CircuitParty
  downstream: CircuitParty
  /** What the circuit came to by itself. */
  status: CircuitStatus
  /** What holds: the same, or what a person forced. */
  shown: CircuitStatus | 'forced_open' | 'forced_closed'
  /** Since when it is `status`. */
  since: number
  /** Calls that ended within the window, and calls that were refused within it. */
  counts: { calls: number; failures: number; rejected: number }
  /** Failures of the window's calls, 0 to 1; of an open circuit what opened it. */
  errorRate: number
  threshold: number
  windowS: number
  minCalls: number
  /** Open: when one probe may go. Half-open: when the probe counts as failed. */
  until?: number
  /** Open: whole seconds from `at` until then; 0 when the next call is the probe. */
  cooldownRemainingS?: number
  /** Open and half-open: the present cooldown, and how often it opened again without having closed. */
  cooldownS?: number
  reopened?: number
  /** Open: calls of the window that opened it. */
  opened?: { calls: number; failures: number }
  lastFailureAt?: number
  lastProbe?: { at: number; ok: boolean }
  forced?: { to: 'open' | 'closed'; by: string; reason: string; since: number; until: number }
  /** Its probes wait for a person's answer; never of one that lets calls pass. */
  held: boolean
  /** Runs that wait behind it: how many, and the ids of the first 20. */
  waiting: { count: number; runs: string[] }
  /** The last five minutes in 30 parts of 10 s, oldest first; the last one is under way. */
  series: CircuitBucket[]
  /** 99 of 100 calls of the last minutes took no longer, and what is usual; absent with too few calls. */
  latency?: { p99Ms: number; usualMs: number }
  /**
   * An agent outside, its `caller`, told of it: it is shown here and decided there. When that was by its own token, the run
   * that the token joined, and its `jti`. Calls are not counted here then, and thresholds are those that hold where nobody
   * says otherwise.
   */
  reported?: { at: number; run: string; token: string }
}

export interface CircuitBucket {
  /** When it begins. */
  at: number
  calls: number
  failures: number
  rejected: number
  /** Mean and longest of the calls. */
  meanMs: number
  maxMs: number
}

export interface CircuitHoldView {
  downstream: CircuitParty
  run: string
  /** Empty until the question stands. */
  approval: string
  heldAt: number
}

/** `GET /api/v1/circuits/{id}?cursor=`: the circuit and its history, newest first. */
export interface CircuitDetail {
  row: CircuitRow
  /** Not closed: what a probe by a person would ask; absent where nothing can be asked without a side effect. */
  question?: CircuitQuestion
  /** `wid` of its own chain. */
  wid: string
  history: CircuitChangeView[]
  /** Pass as `cursor` for older changes. */
  next?: string
  at: number
}

/** The state of what an operation acts on: asked of the agent, about the step whose call opened the circuit. */
export interface CircuitQuestion {
  node: string
  operation: string
}

/** One token of the circuit's chain. */
export interface CircuitChangeView {
  seq: number
  jti: string
  at: number
  what: 'opened' | 'probed' | 'closed' | 'forced' | 'lifted'
  /** Compact token. */
  token: string
  hash: string
  errorRate?: number
  calls?: number
  failures?: number
  cooldownS?: number
  until?: number
  reopened?: number
  /** Forced: to what. Forced and lifted: who, and why. Probed: who had the probe go, where a person did. */
  to?: 'open' | 'closed'
  by?: string
  reason?: string
  /** The run whose call it was, and the step. */
  run?: string
  node?: string
}

/** `POST /api/v1/circuits/{id}/force`, role operator, with `Idempotency-Key`; answers with the CircuitRow. */
export interface ForceCircuit {
  to: 'open' | 'closed'
  /** 1 to 500 characters. */
  reason: string
  /** From 1 to 10,080 (a week). */
  minutes: number
}

/** `POST /api/v1/circuits/{id}/lift`, role operator, with `Idempotency-Key`; answers with the CircuitRow. */
export interface LiftCircuit {
  reason: string
}

/** `POST /api/v1/circuits/{id}/probe`, role operator, with `Idempotency-Key`: one probe now, and what came of it. */
export interface CircuitProbed {
  ok: boolean
  sentence: string
  circuit: CircuitRow
}

/** `event: circuits` of the live stream: a breaker changed, or a hold came or went. Ask again for what you show. */
export interface StreamCircuits {
  /** Rises with every change. */
  mark: number
}

/** Words for patterns, as sentences use them. */
export const cascadePatternWords: Record<CascadePattern, string> = {
  error_clustering: 'several breakers on one downstream',
  depth_first: 'errors along a chain of calls',
  breadth_first: 'siblings failing together',
  latency_spike: 'answers far slower than usual',
  resource_exhaustion: 'out of room',
}
