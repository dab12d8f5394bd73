/*
 * A circuit breaker as a pure machine (cascade section 4, ATD section 6, NOTES 3.5): three states, one rule for each way
 * between them, and nothing that reads a clock. Who keeps circuits (lib/worker/circuits.ts) asks two things of it:
 *
 *   permit    before a call: may it go, is it the one probe, or when may it ask again?
 *   outcome   after a call: what has the circuit become?
 *
 *            calls ≥ minimum and error rate > threshold                  cooldown over: one probe
 *   closed ──────────────────────────────────────────▶ open ─────────────────────────▶ half-open
 *     ▲                                                  ▲                               │   │
 *     │                                                  └── probe failed, or lost: cooldown × 2, at most 300 s
 *     └───────────────────────────── probe succeeded: counters begin anew ───────────────────┘
 *
 * What a person forces lies over that and changes nothing of it: while it lasts the calculated state stands still, and
 * when it lapses, or is lifted, the circuit goes on from where it was. A circuit forced closed lets every call go and
 * forms no judgement; one forced open lets none go, not even a probe.
 */
import type { Calculated, CallCounts, CircuitPolicy, CircuitState, Forced, RefusedBecause } from './terms'

/** What holds where a workflow says nothing (cascade section 4.1). */
export const defaultPolicy: CircuitPolicy = {
  windowS: 60,
  threshold: 0.5,
  minCalls: 5,
  cooldownS: 30,
  maxCooldownS: 300,
  probeTimeoutS: 60,
}

/** Whether a call may go. A `next` is to be made durable first; a refusal with one is to be asked again after that. */
export type Permit =
  | { pass: true; probe?: undefined; next?: undefined }
  | { pass: true; probe: true; next: CircuitState }
  | { pass: false; because: RefusedBecause; retryAt: number; next?: CircuitState }

/** A call that is over. `probe` is the id it was let go under, where it was the probe. */
export interface Outcome {
  ok: boolean
  probe?: string
  /** ms since the epoch. */
  at: number
}

/** Every call of a healthy circuit gets this very object: no allocation on the hot path. */
const passes: Permit = Object.freeze({ pass: true })

/** A circuit that nothing has happened to. */
export function newCircuit(at: number): CircuitState {
  return { calculated: { status: 'closed', since: at } }
}

/** What a person made of it, while that lasts. */
export function forcedNow({ forced }: CircuitState, now: number): Forced | undefined {
  return forced && forced.until > now ? forced : undefined
}

/**
 * May a call go now? `probeId` names the call, should it become the probe; `held`: probes wait for a person's answer.
 * The answer to a call under an open circuit is the same for every caller but one.
 */
export function permit(
  state: CircuitState,
  now: number,
  probeId: string,
  policy: CircuitPolicy,
  held = false,
): Permit {
  const { calculated } = state
  if (state.forced === undefined && calculated.status === 'closed') return passes
  const forced = forcedNow(state, now)
  if (forced)
    return forced.to === 'closed' ? passes : { pass: false, because: 'forced', retryAt: forced.until }
  switch (calculated.status) {
    case 'closed':
      return passes
    case 'open':
      if (now < calculated.until) return { pass: false, because: 'open', retryAt: calculated.until }
      // Nobody knows when the person answers: it is told then. Until then asking again is cheap, and not often.
      if (held) return { pass: false, because: 'held', retryAt: now + policy.cooldownS * 1000 }
      return {
        pass: true,
        probe: true,
        next: { ...state, calculated: probing(calculated, now, probeId, policy) },
      }
    case 'half_open': {
      if (now < calculated.until) return { pass: false, because: 'probing', retryAt: calculated.until }
      // The probe was lost, with its process or on its way: it counts as failed, at the time it ran out.
      const next = failedProbe(state, calculated, calculated.until, policy)
      const retryAt = next.calculated.status === 'open' ? next.calculated.until : now
      return { pass: false, because: 'open', retryAt, next }
    }
  }
}

/**
 * What the circuit becomes by the end of a call; undefined when it stays as it is. `window`: calls that ended within the
 * window, this one included. Only the probe itself says anything about a half-open circuit, and nothing about an open
 * one: calls that began before it opened are late news.
 */
export function outcome(
  state: CircuitState,
  window: CallCounts,
  { ok, probe, at }: Outcome,
  policy: CircuitPolicy,
): CircuitState | undefined {
  const { calculated } = state
  if (calculated.status === 'half_open') {
    if (probe !== calculated.probe) return undefined
    return ok ? closed(state, at) : failedProbe(state, calculated, at, policy)
  }
  if (calculated.status === 'open' || probe !== undefined || forcedNow(state, at)) return undefined
  if (!trips(window, policy)) return undefined
  return { ...state, ...(!ok && { lastFailureAt: at }), calculated: opened(window, at, policy) }
}

/** More than the threshold of at least the least number of calls failed. */
export function trips({ calls, failures }: CallCounts, { minCalls, threshold }: CircuitPolicy): boolean {
  return failures > 0 && calls >= minCalls && failures > threshold * calls
}

/** Failed calls among all, 0 to 1; 0 where there were none. */
export function errorRate({ calls, failures }: CallCounts): number {
  return calls === 0 ? 0 : failures / calls
}

/** A person holds it open or closed until `forced.until`; what was forced before is over. */
export function force(state: CircuitState, forced: Forced): CircuitState {
  return { ...state, forced }
}

/** What a person forced is taken off; undefined when nothing was. */
export function lift(state: CircuitState): CircuitState | undefined {
  if (state.forced === undefined) return undefined
  const { forced: _, ...rest } = state
  return rest
}

function opened({ calls, failures }: CallCounts, at: number, { cooldownS }: CircuitPolicy): Calculated {
  return {
    status: 'open',
    since: at,
    until: at + cooldownS * 1000,
    cooldownS,
    reopened: 0,
    errorRate: errorRate({ calls, failures }),
    calls,
    failures,
  }
}

function probing(
  { cooldownS, reopened }: Extract<Calculated, { status: 'open' }>,
  at: number,
  probe: string,
  { probeTimeoutS }: CircuitPolicy,
): Calculated {
  return { status: 'half_open', since: at, probe, until: at + probeTimeoutS * 1000, cooldownS, reopened }
}

function closed(state: CircuitState, at: number): CircuitState {
  return { ...state, calculated: { status: 'closed', since: at }, lastProbe: { at, ok: true } }
}

function failedProbe(
  state: CircuitState,
  { cooldownS: former, reopened }: Extract<Calculated, { status: 'half_open' }>,
  at: number,
  { maxCooldownS }: CircuitPolicy,
): CircuitState {
  const cooldownS = Math.min(former * 2, Math.max(former, maxCooldownS))
  return {
    ...state,
    calculated: {
      status: 'open',
      since: at,
      until: at + cooldownS * 1000,
      cooldownS,
      reopened: reopened + 1,
      // The one call of a half-open circuit failed.
      errorRate: 1,
      calls: 1,
      failures: 1,
    },
    lastFailureAt: at,
    lastProbe: { at, ok: false },
  }
}
