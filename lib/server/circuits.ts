/* Breakers as screens and programs see them: rows from the store, counts of everybody's calls, names from the registry. */
import { z } from 'zod'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { defaultPolicy, errorRate, forcedNow } from '@/lib/breaker/circuit'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CallSecond, CircuitHold, CircuitRecord, CircuitToken } from '@/lib/engine/circuit-ports'
import type { Actor } from '@/lib/engine/facts'
import type {
  CircuitBucket,
  CircuitChangeView,
  CircuitDetail,
  CircuitHoldView,
  CircuitList,
  CircuitParty,
  CircuitRow,
  ForceCircuit,
  LiftCircuit,
} from '@/lib/view/circuit-wire'
import { eventOfClaims } from '@/lib/worker/circuit-tokens'
import { cursorFor, placeOf } from './http/paging'
import type { Installation } from './installation'
import { openedWithinDay } from './opened-breakers'

/** A list is read whole: as many as one page of people's attention holds many times over. */
const maxCircuits = 2_000
const bucketS = 10
const buckets = 30
const seriesS = bucketS * buckets
const listedForS = 3_600
const runsNamed = 20
const changesPerPage = 50

/** Every circuit that had a call within the hour, is not closed, or is forced. */
export async function listCircuits(house: Installation): Promise<CircuitList> {
  const { store } = house
  const at = house.ports.timer.now()
  const since = Math.floor(at / 1000) - listedForS
  const [records, seconds, names, holds, waiting] = await Promise.all([
    store.circuits.list(maxCircuits),
    store.circuits.calls(since),
    agentNames(house),
    heldProbes(house),
    store.circuits.waitingCounts(),
  ])
  const byCircuit = new Map<string, CallSecond[]>()
  for (const one of seconds) {
    const known = byCircuit.get(one.circuit)
    if (known) known.push(one)
    else byCircuit.set(one.circuit, [one])
  }
  const waitingOf = new Map(waiting.map(({ circuit, runs }) => [circuit, runs]))
  const held = new Set(holds.map(({ downstream }) => downstream))
  const items: CircuitRow[] = []
  for (const record of records) {
    const { state } = record
    const calls = byCircuit.get(record.id) ?? []
    const isQuiet = calls.length === 0 && state.calculated.status === 'closed' && !forcedNow(state, at)
    if (isQuiet) continue
    const count = waitingOf.get(record.id) ?? 0
    const runs = count > 0 ? await store.circuits.waiting(record.id, runsNamed) : []
    const seen = { calls, names, held: held.has(record.downstream), waiting: { count, runs }, at }
    items.push(rowOf(house, record, seen))
  }
  items.sort((a, b) => urgency(a) - urgency(b) || b.errorRate - a.errorRate || (a.id < b.id ? -1 : 1))
  const openedIn24h = await openedWithinDay(store.circuits, records, at)
  return { items, holds: holds.map((hold) => holdView(hold, names)), openedIn24h, at }
}

const cursorShape = z.number().int().positive()

/** One circuit with its history, newest first. Throws Problem `not_found`, `cursor_invalid`. */
export async function circuitDetail(
  house: Installation,
  id: string,
  cursor?: string,
): Promise<CircuitDetail> {
  const { circuits } = house.store
  const record = await recordOf(house, id)
  const before = cursor === undefined ? undefined : placeOf(cursor, cursorShape)
  const tokens = await circuits.tokens(id, {
    limit: changesPerPage + 1,
    ...(before !== undefined && { before }),
  })
  const shown = tokens.slice(0, changesPerPage)
  const last = shown.at(-1)
  return {
    row: await circuitRow(house, id),
    wid: record.wid,
    history: shown.map(changeView),
    ...(tokens.length > changesPerPage && last && { next: cursorFor(last.seq) }),
    at: house.ports.timer.now(),
  }
}

/** One circuit as lists show it. Throws Problem `not_found`. */
export async function circuitRow(house: Installation, id: string): Promise<CircuitRow> {
  const { circuits } = house.store
  const record = await recordOf(house, id)
  const at = house.ports.timer.now()
  const [calls, names, holds, waiting, runs] = await Promise.all([
    circuits.calls(Math.floor(at / 1000) - listedForS, id),
    agentNames(house),
    heldProbes(house),
    circuits.waitingCounts(),
    circuits.waiting(id, runsNamed),
  ])
  const count = waiting.find(({ circuit }) => circuit === id)?.runs ?? 0
  const held = holds.some(({ downstream }) => downstream === record.downstream)
  return rowOf(house, record, { calls, names, held, waiting: { count, runs }, at })
}

/** Throws Problem `not_found`. */
export async function forceCircuit(
  house: Installation,
  id: string,
  by: Actor,
  { to, reason, minutes }: ForceCircuit,
): Promise<void> {
  mustBeOurs(await recordOf(house, id))
  await house.circuits.force(id, { to, by, reason, until: house.ports.timer.now() + minutes * 60_000 })
  house.log.info({ circuit: id, by, to, minutes }, `Forced the circuit ${id} ${to}`)
}

/** Throws Problem `not_found`, `run_moved_on`. */
export async function liftCircuit(
  house: Installation,
  id: string,
  by: Actor,
  { reason }: LiftCircuit,
): Promise<void> {
  mustBeOurs(await recordOf(house, id))
  await house.circuits.lift(id, { by, reason })
  house.log.info({ circuit: id, by }, `Lifted what was forced on the circuit ${id}`)
}

/** Downstreams whose probes wait for a person's answer. */
async function heldProbes({ store }: Installation): Promise<CircuitHold[]> {
  const { holds } = await store.circuits.news(Number.MAX_SAFE_INTEGER)
  return holds.filter(({ releasedAt }) => releasedAt === undefined)
}

async function recordOf({ store }: Installation, id: string): Promise<CircuitRecord> {
  const record = await store.circuits.get(id)
  if (record) return record
  throw new Problem('not_found', `There is no circuit ${JSON.stringify(id.slice(0, 60))} here`)
}

function mustBeOurs({ caller }: CircuitRecord): void {
  if (!isReported(caller)) return
  throw new Problem(
    'bad_request',
    `${caller} keeps this circuit itself and only tells of it; force it there, or hold a circuit of a workflow`,
  )
}

function isReported(caller: string): boolean {
  return caller.startsWith('spiffe://')
}

interface Seen {
  /** Of the last hour, oldest first. */
  calls: readonly CallSecond[]
  names: ReadonlyMap<string, string>
  held: boolean
  waiting: CircuitRow['waiting']
  at: number
}

function rowOf(
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
    held,
    waiting,
    series: seriesOf(calls, at),
    ...(spike && { latency: { p99Ms: Math.round(spike.p99Ms), usualMs: Math.round(spike.usualMs) } }),
    ...(isReported(caller) && { reported: true }),
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

function urgency({ shown, held }: CircuitRow): number {
  return held ? -1 : order[shown]
}

function holdView(
  { downstream, runId, approval, heldAt }: CircuitHold,
  names: Seen['names'],
): CircuitHoldView {
  return { downstream: partyOf(downstream, names), run: runId, approval, heldAt }
}

async function agentNames({ agents }: Installation): Promise<Map<string, string>> {
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

function changeView({ seq, jti, at, token, hash }: CircuitToken): CircuitChangeView {
  const { type, at: _, ...said } = eventOfClaims(parseClaims(unverifiedPayload(token)))
  const { windowS: _w, lastFailureAt: _l, probe: _p, ...shown } = said as Record<string, Json>
  return { seq, jti, at, token, hash, what: spokenOf[type], ...shown }
}
