/* Rows of breakers as screens show them: ours from the store and everybody's calls, agents' own as they told of them. */
import type { Json } from '@/lib/base/json'
import { defaultPolicy, errorRate, forcedNow } from '@/lib/breaker/circuit'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import type {
  CallSecond,
  CircuitHold,
  CircuitRecord,
  CircuitToken,
  ReportedCircuit,
} from '@/lib/engine/circuit-ports'
import type {
  CircuitBucket,
  CircuitChangeView,
  CircuitHoldView,
  CircuitParty,
  CircuitRow,
} from '@/lib/view/circuit-wire'
import { eventOfClaims } from '@/lib/worker/circuit-tokens'
import type { Installation } from './installation'

const bucketS = 10
const buckets = 30
const seriesS = bucketS * buckets

/** What is known of a circuit beside its row. */
export interface Seen {
  /** Of the last hour, oldest first. */
  calls: readonly CallSecond[]
  names: ReadonlyMap<string, string>
  /** Probes of its downstream wait for a person's answer. */
  held: boolean
  waiting: CircuitRow['waiting']
  at: number
}

export function rowOf(
  house: Installation,
  record: CircuitRecord,
  { calls, names, held, waiting, at }: Seen,
): CircuitRow {
  const { id, caller, downstream, state } = record
  const { calculated, lastProbe } = state
  const { threshold, windowS, minCalls } = state.policy ?? defaultPolicy
  const forced = forcedNow(state, at)
  const closedAt = calculated.status === 'closed' ? calculated.since : 0
  const counts = countsOf(calls, Math.floor(at / 1000) - windowS, closedAt)
  const lastFailed = calls.findLast(({ failed }) => failed > 0)
  const failedAt = Math.max(state.lastFailureAt ?? 0, (lastFailed?.second ?? 0) * 1000)
  const spike = house.circuits.latencyOf(id)
  return {
    id,
    caller: partyOf(caller, names),
    downstream: partyOf(downstream, names),
    status: calculated.status,
    shown: forced ? (forced.to === 'open' ? 'forced_open' : 'forced_closed') : calculated.status,
    since: calculated.since,
    counts,
    errorRate: calculated.status === 'open' ? calculated.errorRate : errorRate(counts),
    threshold,
    windowS,
    minCalls,
    ...(calculated.status !== 'closed' && {
      until: calculated.until,
      cooldownS: calculated.cooldownS,
      reopened: calculated.reopened,
    }),
    ...(calculated.status === 'open' && {
      cooldownRemainingS: Math.max(0, Math.ceil((calculated.until - at) / 1000)),
      opened: { calls: calculated.calls, failures: calculated.failures },
    }),
    ...(failedAt > 0 && { lastFailureAt: failedAt }),
    ...(lastProbe && { lastProbe }),
    ...(forced && { forced }),
    held: held && isProbeNext(calculated.status, forced?.to),
    waiting,
    series: seriesOf(calls, at),
    ...(spike && { latency: { p99Ms: Math.round(spike.p99Ms), usualMs: Math.round(spike.usualMs) } }),
  }
}

/** Only of such a breaker a probe can be held: calls pass a closed one, question or not. */
function isProbeNext(status: CircuitRow['status'], forcedTo: 'open' | 'closed' | undefined): boolean {
  return status !== 'closed' && forcedTo !== 'closed'
}

/** A breaker that an agent told of: how it stands by its token, and nothing of calls that went past us. */
export function reportedRow(told: ReportedCircuit, names: Seen['names'], at: number): CircuitRow {
  const { id, caller, downstream, status, errorRate, cooldownS, until, runId, jti } = told
  const { threshold, windowS, minCalls } = defaultPolicy
  return {
    id,
    caller: partyOf(caller, names),
    downstream: partyOf(downstream, names),
    ...{ status, shown: status, since: told.at, errorRate, threshold, windowS, minCalls },
    counts: { calls: 0, failures: 0, rejected: 0 },
    ...(status === 'open' && {
      ...{ until, cooldownS, reopened: 0 },
      cooldownRemainingS: Math.max(0, Math.ceil((until - at) / 1000)),
    }),
    held: false,
    waiting: { count: 0, runs: [] },
    series: seriesOf([], at),
    reported: { at: told.at, run: runId, token: jti },
  }
}

/** What counts for the circuit: calls within the window, and of a closed one not from before it closed (`closedAt`, else 0). */
function countsOf(calls: readonly CallSecond[], from: number, closedAt: number): CircuitRow['counts'] {
  const counts = { calls: 0, failures: 0, rejected: 0 }
  const first = Math.max(from, Math.ceil(closedAt / 1000))
  for (const one of calls) {
    if (one.second >= from) counts.rejected += one.rejected
    if (one.second < first) continue
    counts.calls += one.calls
    counts.failures += one.failed
  }
  return counts
}

function seriesOf(calls: readonly CallSecond[], at: number): CircuitBucket[] {
  const last = Math.floor(at / 1000 / bucketS) * bucketS
  const first = last - seriesS + bucketS
  const series = Array.from({ length: buckets }, (_, index) => ({
    at: (first + index * bucketS) * 1000,
    calls: 0,
    failures: 0,
    rejected: 0,
    meanMs: 0,
    maxMs: 0,
  }))
  const totals = new Float64Array(buckets)
  for (const one of calls) {
    const index = Math.floor((one.second - first) / bucketS)
    const bucket = series[index]
    if (!bucket) continue
    bucket.calls += one.calls
    bucket.failures += one.failed
    bucket.rejected += one.rejected
    bucket.maxMs = Math.max(bucket.maxMs, one.maxMs)
    totals[index] = (totals[index] as number) + one.totalMs
  }
  for (const [index, bucket] of series.entries()) {
    if (bucket.calls > 0) bucket.meanMs = Math.round((totals[index] as number) / bucket.calls)
  }
  return series
}

const order: Record<CircuitRow['shown'], number> = {
  open: 0,
  half_open: 1,
  forced_open: 2,
  forced_closed: 3,
  closed: 4,
}

export function urgency({ shown, held }: CircuitRow): number {
  return held ? -1 : order[shown]
}

export function holdView(
  { downstream, runId, approval, heldAt }: CircuitHold,
  names: Seen['names'],
): CircuitHoldView {
  return { downstream: partyOf(downstream, names), run: runId, approval, heldAt }
}

export async function agentNames({ agents }: Installation): Promise<Map<string, string>> {
  return new Map((await agents.list()).map(({ id, name }) => [id, name]))
}

const kinds = ['workflow', 'backend', 'mcp', 'host'] as const

function partyOf(id: string, names: Seen['names']): CircuitParty {
  const kind = kinds.find((one) => id.startsWith(`${one}:`))
  if (kind) return { id, kind, name: id.slice(kind.length + 1) }
  return { id, kind: 'agent', name: names.get(id) ?? id.slice(id.lastIndexOf('/') + 1) }
}

const spokenOf = {
  circuit_open: 'opened',
  circuit_probe: 'probed',
  circuit_close: 'closed',
  circuit_forced: 'forced',
  circuit_lifted: 'lifted',
} as const

export function changeView({ seq, jti, at, token, hash }: CircuitToken): CircuitChangeView {
  const { type, at: _, ...said } = eventOfClaims(parseClaims(unverifiedPayload(token)))
  const { windowS: _w, lastFailureAt: _l, probe: _p, ...shown } = said as Record<string, Json>
  return { seq, jti, at, token, hash, what: spokenOf[type], ...shown }
}
