/* Breakers as screens and programs see them: rows from the store, counts of everybody's calls, names from the registry. */
import { z } from 'zod'
import { widOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { forcedNow } from '@/lib/breaker/circuit'
import type { CallSecond, CircuitHold, CircuitRecord, ReportedCircuit } from '@/lib/engine/circuit-ports'
import type { Actor } from '@/lib/engine/facts'
import type {
  CircuitChangeView,
  CircuitDetail,
  CircuitList,
  CircuitRow,
  ForceCircuit,
  LiftCircuit,
} from '@/lib/view/circuit-wire'
import { questionOf } from './circuit-question'
import { agentNames, changeView, holdView, reportedRow, rowOf, urgency } from './circuit-rows'
import { cursorFor, placeOf } from './http/paging'
import type { Installation } from './installation'
import { openedWithinDay } from './opened-breakers'

/** A list is read whole: as many as one page of people's attention holds many times over. */
const maxCircuits = 2_000
const listedForS = 3_600
/** What an agent told of its own breaker is shown for a day: it may never tell of it again. */
const reportedForMs = 86_400_000
const maxReported = 500
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
  const told = await store.circuits.reported(at - reportedForMs, maxReported)
  const byCircuit = new Map<string, CallSecond[]>()
  for (const one of seconds) {
    const known = byCircuit.get(one.circuit)
    if (known) known.push(one)
    else byCircuit.set(one.circuit, [one])
  }
  const waitingOf = new Map(waiting.map(({ circuit, runs }) => [circuit, runs]))
  const held = new Set(holds.map(({ downstream }) => downstream))
  const items: CircuitRow[] = told.filter(isNews(at)).map((one) => reportedRow(one, names, at))
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
  const told = await circuits.reportedOne(id)
  if (told) return reportedDetail(house, told)
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
    ...(record.state.calculated.status !== 'closed' && (await questionShown(house, record))),
    wid: record.wid,
    history: shown.map(changeView),
    ...(tokens.length > changesPerPage && last && { next: cursorFor(last.seq) }),
    at: house.ports.timer.now(),
  }
}

/** Not closed, or told of within the hour, as with circuits of ours. */
function isNews(at: number): (told: ReportedCircuit) => boolean {
  return ({ status, heardAt }) => status !== 'closed' || heardAt > at - listedForS * 1000
}

/** What an agent told of its own breaker, with the token that says so, as it stands in its run. */
async function reportedDetail(house: Installation, told: ReportedCircuit): Promise<CircuitDetail> {
  const at = house.ports.timer.now()
  const { status, errorRate, cooldownS, until, runId, jti } = told
  const row = await house.store.ledger.row(runId, jti)
  const said: Partial<CircuitChangeView> = status === 'open' ? { errorRate, cooldownS, until } : {}
  return {
    row: reportedRow(told, await agentNames(house), at),
    wid: widOf(runId),
    history: row
      ? [
          {
            ...{ seq: row.seq, jti, at: told.at, token: row.token, hash: row.hash, run: runId },
            what: status === 'open' ? 'opened' : 'closed',
            ...said,
          },
        ]
      : [],
    at,
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
  await ourCircuit(house, id)
  await house.circuits.force(id, { to, by, reason, until: house.ports.timer.now() + minutes * 60_000 })
  house.log.info({ circuit: id, by, to, minutes }, `Forced the breaker ${id} ${to}`)
}

/** Throws Problem `not_found`, `run_moved_on`. */
export async function liftCircuit(
  house: Installation,
  id: string,
  by: Actor,
  { reason }: LiftCircuit,
): Promise<void> {
  await ourCircuit(house, id)
  await house.circuits.lift(id, { by, reason })
  house.log.info({ circuit: id, by }, `Lifted what was forced on the breaker ${id}`)
}

async function questionShown(
  house: Installation,
  record: CircuitRecord,
): Promise<Pick<CircuitDetail, 'question'>> {
  const asked = await questionOf(house, record)
  return asked ? { question: { node: asked.node, operation: asked.operation } } : {}
}

/** Downstreams whose probes wait for a person's answer. */
async function heldProbes({ store }: Installation): Promise<CircuitHold[]> {
  const { holds } = await store.circuits.news(Number.MAX_SAFE_INTEGER)
  return holds.filter(({ releasedAt }) => releasedAt === undefined)
}

async function recordOf({ store }: Installation, id: string): Promise<CircuitRecord> {
  const record = await store.circuits.get(id)
  if (record) return record
  throw new Problem('not_found', `There is no breaker ${JSON.stringify(id.slice(0, 60))} here.`)
}

/** A circuit of a workflow here. Throws Problem `not_found`, `bad_request` for one that an agent only tells of. */
export async function ourCircuit(house: Installation, id: string): Promise<CircuitRecord> {
  const told = await house.store.circuits.reportedOne(id)
  if (!told) return recordOf(house, id)
  throw new Problem(
    'bad_request',
    `${told.caller} keeps this breaker itself and only tells of it; force it there, or hold a breaker of a workflow`,
  )
}
