/*
 * One circuit as a process keeps it in memory: the state that its row last had, the calls of its window as this process
 * saw them, and what of them the store has not been told yet. The row is the truth; an entry may be behind it, and the
 * fence (`revision`) finds that out before anything is changed.
 */
import { sha256 } from '@/lib/base/hash'
import { defaultPolicy } from '@/lib/breaker/circuit'
import { LatencyWatch } from '@/lib/breaker/latency'
import type { Caller, CircuitPolicy, CircuitState, Downstream } from '@/lib/breaker/terms'
import { CallWindow, maxWindowS } from '@/lib/breaker/window'
import type { CallSecond, CircuitName, CircuitRecord } from '@/lib/engine/circuit-ports'

export interface Entry {
  name: CircuitName & { caller: Caller; downstream: Downstream }
  state: CircuitState
  revision: number
  lastHash: string
  /** `jti` of the last token of its chain; the empty text before there is one. */
  lastToken: string
  policy: CircuitPolicy
  window: CallWindow
  latency: LatencyWatch
  /** Calls not yet counted in the store, of this second. */
  pending: CallSecond | undefined
  /** Changes are made one at a time. */
  turn: Promise<unknown>
  usedAt: number
}

/** The id of the circuit between a caller and a downstream. */
export function circuitId(caller: string, downstream: string): string {
  return sha256(`${caller}\n${downstream}`)
}

/** Thresholds as a step's author asks for them; the rest as everywhere. */
export function policyOf(
  asked: { threshold?: number; windowS?: number; minCalls?: number } | undefined,
): CircuitPolicy {
  if (!asked) return defaultPolicy
  const { threshold, windowS, minCalls } = asked
  return {
    ...defaultPolicy,
    ...(threshold !== undefined && { threshold }),
    ...(windowS !== undefined && { windowS: Math.min(Math.max(1, Math.round(windowS)), maxWindowS) }),
    ...(minCalls !== undefined && { minCalls }),
  }
}

/** The circuit of a row, with nothing counted yet. */
export function entryOf(
  { id, wid, caller, downstream, state, revision, lastHash }: CircuitRecord,
  lastToken: string,
  policy: CircuitPolicy,
  now: number,
): Entry {
  return {
    name: { id, wid, caller: caller as Caller, downstream: downstream as Downstream },
    state: withoutPolicy(state),
    revision,
    lastHash,
    lastToken,
    policy,
    window: new CallWindow(policy.windowS),
    latency: new LatencyWatch(),
    pending: undefined,
    turn: Promise.resolve(),
    usedAt: now,
  }
}

/** The thresholds of whoever calls now hold; steps of one workflow may ask for different ones. */
export function adopt(entry: Entry, policy: CircuitPolicy): void {
  // What the longer window would have held is known to the store, which is asked where a call fails.
  if (entry.window.seconds !== policy.windowS) entry.window = new CallWindow(policy.windowS)
  entry.policy = policy
}

/** The circuit becomes what its row says, where that is newer. */
export function takeOver(entry: Entry, record: CircuitRecord, lastToken: string): void {
  if (record.revision <= entry.revision) return
  const { calculated } = record.state
  const { calculated: former } = entry.state
  // It has closed elsewhere: counters begin anew here too.
  if (calculated.status === 'closed' && calculated.since > former.since) entry.window.reset()
  entry.state = withoutPolicy(record.state)
  entry.revision = record.revision
  entry.lastHash = record.lastHash
  entry.lastToken = lastToken
}

/** The policy is the caller's, and no part of what the circuit has come to. */
function withoutPolicy({ policy: _, ...state }: CircuitState): CircuitState {
  return state
}
