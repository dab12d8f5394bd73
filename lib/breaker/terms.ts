/** The words of breakers, shared across rooms: types alone. Times are ms since the epoch, durations say their unit. */

/**
 * What is called, as breakers and pools name it: an agent by its SPIFFE id, a model's backend, an MCP server, a host with
 * its port.
 */
export type Downstream = `spiffe://${string}` | `backend:${string}` | `mcp:${string}` | `host:${string}`

/** Who calls: a workflow of this installation by its name, or an agent that reports its own circuits by its SPIFFE id. */
export type Caller = `workflow:${string}` | `spiffe://${string}`

/** Cascade section 4.1; ATD section 6. */
export interface CircuitPolicy {
  /** The window slides over so many seconds. */
  windowS: number
  /** The circuit opens when more than this share of the window's calls failed, 0 to 1. */
  threshold: number
  /** Fewer calls in the window open nothing. */
  minCalls: number
  cooldownS: number
  maxCooldownS: number
  /** A probe that has not come back by then has failed. */
  probeTimeoutS: number
}

export type CircuitStatus = 'closed' | 'open' | 'half_open'

/** What the circuit itself has come to (NOTES 3.5). */
export type Calculated =
  | { status: 'closed'; since: number }
  | {
      status: 'open'
      since: number
      /** When one probe may go. */
      until: number
      cooldownS: number
      /** Times it opened again without having closed. */
      reopened: number
      errorRate: number
      calls: number
      failures: number
    }
  | {
      status: 'half_open'
      since: number
      /** Which call is the probe, and when it counts as failed. */
      probe: string
      until: number
      cooldownS: number
      reopened: number
    }

/** What a person made of it, shown apart from what was calculated. */
export interface Forced {
  to: 'open' | 'closed'
  by: string
  reason: string
  since: number
  /** It lapses by itself then. */
  until: number
}

export interface CircuitState {
  calculated: Calculated
  forced?: Forced
  lastFailureAt?: number
  /** When the latest probe was over, and how. */
  lastProbe?: { at: number; ok: boolean }
  /** The thresholds that its latest caller asked for. */
  policy?: CircuitPolicy
}

/** Calls within a window. */
export interface CallCounts {
  calls: number
  failures: number
}

/** Why a call was refused here, before anything was sent. */
export type RefusedBecause =
  /** The circuit is open. */
  | 'open'
  /** Another call is the one probe. */
  | 'probing'
  /** A person holds it open. */
  | 'forced'
  /** Probes are held while a person is asked about the downstream. */
  | 'held'

/** A call that was refused at the door; the structured error of NOTES 4. */
export interface CallRefusal {
  circuit: string
  caller: Caller
  downstream: Downstream
  because: RefusedBecause
  errorRate: number
  windowS: number
  cooldownS: number
  /** When to ask again. */
  retryAt: number
  /** The token that the circuit's last change is, in the circuit's own chain. */
  change: string
}

/** A change of a circuit, as the run whose call made it records it. */
export interface CircuitChange {
  circuit: string
  caller: Caller
  downstream: Downstream
  to: CircuitStatus
  errorRate: number
  calls: number
  failures: number
  windowS: number
  cooldownS: number
  /** Open: when a probe may go. Half-open: when the probe counts as failed. Closed: when it closed. */
  until: number
  reopened: number
  /** Its token in the circuit's own chain. */
  change: string
}

/** Cascade section 5. */
export type CascadePattern =
  | 'error_clustering'
  | 'depth_first'
  | 'breadth_first'
  | 'latency_spike'
  | 'resource_exhaustion'
