import type { RunId } from '@/lib/base/ids'
import { probedUntil } from '@/lib/breaker/probed-until'
import type { CircuitState } from '@/lib/breaker/terms'
import { firstPrevHashSync } from '@/lib/ect/chain-node'
import type {
  CallSecond,
  CircuitHold,
  CircuitName,
  CircuitRecord,
  CircuitStore,
  CircuitToken,
  ReportedCircuit,
} from '@/lib/engine/circuit-ports'
import { reportedPerAgent } from './circuits-reported'
import * as refusals from './refusals'

/** Breakers in memory, as lib/store/circuits-sqlite.ts keeps them. `waits`: the circuits that each run waits behind. */
export function memoryCircuits(
  waits: () => Iterable<[RunId, readonly string[]]>,
  reported: ReadonlyMap<string, ReportedCircuit>,
): CircuitStore {
  const circuits = new Map<string, CircuitRecord>()
  const tokens = new Map<string, CircuitToken[]>()
  const calls = new Map<string, CallSecond>()
  const holds = new Map<string, CircuitHold>()
  const isHeld = (downstream: string) => {
    const hold = holds.get(downstream)
    return hold !== undefined && hold.releasedAt === undefined
  }
  const nextMark = () => Math.max(0, ...[...circuits.values()].map(({ mark }) => mark)) + 1
  const create = ({ id, wid, caller, downstream }: CircuitName, state: CircuitState, at: number): void => {
    if (circuits.has(id)) return
    const fresh = { revision: 0, lastHash: firstPrevHashSync(wid), mark: nextMark(), updatedAt: at }
    circuits.set(id, { id, wid, caller, downstream, state: copied(state), ...fresh })
  }
  const after = (since: number, id?: string) =>
    [...calls.values()]
      .filter((one) => one.second >= since && (id === undefined || one.circuit === id))
      .sort((a, b) => a.second - b.second || (a.circuit < b.circuit ? -1 : 1))

  return {
    get: async (id) => copied(circuits.get(id)),
    list: async (limit) => copied([...circuits.values()].sort((a, b) => b.mark - a.mark).slice(0, limit)),
    ofDownstream: async (downstream) =>
      copied([...circuits.values()].filter((one) => one.downstream === downstream)),
    news: async (mark) => ({
      circuits: copied(
        [...circuits.values()].filter((one) => one.mark > mark).sort((a, b) => a.mark - b.mark),
      ),
      holds: copied([...holds.values()]),
      reportedAt: Math.max(0, ...[...reported.values()].map(({ heardAt }) => heardAt)),
    }),
    async commit({ circuit, expectedRevision, state, tokens: added, at, holdAgain }) {
      if (state.calculated.status === 'half_open') {
        const all = [...circuits.values()].filter(({ downstream }) => downstream === circuit.downstream)
        const until = probedUntil(all, circuit.id, at)
        if (until !== undefined) throw refusals.probeTaken(circuit.downstream, until)
        if (isHeld(circuit.downstream)) throw refusals.probeHeld(circuit.downstream)
      }
      if (expectedRevision === 0) create(circuit, state, at)
      const { id } = circuit
      const row = circuits.get(id)
      if (row?.revision !== expectedRevision) {
        throw refusals.circuitMoved(id, expectedRevision, row?.revision ?? 0)
      }
      tokens.set(id, [...(tokens.get(id) ?? []), ...copied(added)])
      const moved: CircuitRecord = {
        ...row,
        state: copied(state),
        revision: expectedRevision + added.length,
        lastHash: added.at(-1)?.hash ?? row.lastHash,
        mark: nextMark(),
        updatedAt: at,
      }
      circuits.set(id, moved)
      const hold = holds.get(circuit.downstream)
      if (!holdAgain || hold?.releasedAt === undefined) return { circuit: copied(moved) }
      const { releasedAt: _, ...former } = hold
      const heldAgain = { ...former, runId: holdAgain.runId ?? hold.runId, approval: '', heldAt: at }
      holds.set(circuit.downstream, heldAgain)
      return { circuit: copied(moved), heldAgain: copied(heldAgain) }
    },
    async ensure(wanted) {
      for (const { state, at, ...circuit } of wanted) create(circuit, state, at)
    },
    async tokens(id, { before = Number.MAX_SAFE_INTEGER, limit }) {
      const older = (tokens.get(id) ?? []).filter(({ seq }) => seq < before)
      return copied(older.reverse().slice(0, limit))
    },
    async addCalls(added) {
      for (const one of added) {
        const key = `${one.circuit} ${one.second}`
        const sum = calls.get(key) ?? { ...one, calls: 0, failed: 0, rejected: 0, totalMs: 0, maxMs: 0 }
        calls.set(key, {
          ...sum,
          calls: sum.calls + one.calls,
          failed: sum.failed + one.failed,
          rejected: sum.rejected + one.rejected,
          totalMs: sum.totalMs + Math.round(one.totalMs),
          maxMs: Math.max(sum.maxMs, Math.round(one.maxMs)),
        })
      }
    },
    calls: async (since, id) => copied(after(since, id)),
    async callCounts(id, since) {
      const sum = { calls: 0, failures: 0 }
      for (const one of after(since, id)) {
        sum.calls += one.calls
        sum.failures += one.failed
      }
      return sum
    },
    async purgeCalls(before) {
      let gone = 0
      for (const [key, one] of calls) if (one.second < before && calls.delete(key)) gone++
      for (const [id, { revision, updatedAt }] of circuits) {
        if (revision > 0 || updatedAt >= before * 1000 || after(0, id).length > 0) continue
        circuits.delete(id)
        gone++
      }
      return gone
    },
    async hold(hold) {
      if (isHeld(hold.downstream)) return false
      holds.set(hold.downstream, { ...hold })
      return true
    },
    async nameHold({ downstream, heldAt }, { runId, approval }) {
      const hold = holds.get(downstream)
      if (hold?.approval !== '' || hold.heldAt !== heldAt || hold.releasedAt !== undefined) return false
      holds.set(downstream, { ...hold, runId, approval })
      return true
    },
    async askHoldAnew({ downstream, approval, heldAt }, at) {
      const hold = holds.get(downstream)
      if (hold?.approval !== approval || hold.heldAt !== heldAt || hold.releasedAt !== undefined) return false
      holds.set(downstream, { ...hold, approval: '', heldAt: at })
      return true
    },
    async letProbesGo(downstream, approval, at) {
      const hold = holds.get(downstream)
      if (hold?.approval !== approval || hold.releasedAt !== undefined) return false
      holds.set(downstream, { ...hold, releasedAt: at })
      return true
    },
    async unhold({ downstream, approval, heldAt, releasedAt }) {
      const hold = holds.get(downstream)
      const isSame = hold?.approval === approval && hold.heldAt === heldAt && hold.releasedAt === releasedAt
      return isSame && holds.delete(downstream)
    },
    async reported(since, limit) {
      const told = [...reported.values()].filter(({ heardAt }) => heardAt >= since)
      return copied(told.sort(latestFirst).slice(0, limit))
    },
    reportedOne: async (id) => copied(reported.get(id)),
    async waiting(circuit, limit) {
      const runs = [...waits()].filter(([, waitsOn]) => waitsOn.includes(circuit)).map(([run]) => run)
      return runs.sort().slice(0, limit)
    },
    async waitingCounts() {
      const counts = new Map<string, number>()
      for (const [, waitsOn] of waits()) {
        for (const circuit of waitsOn) counts.set(circuit, (counts.get(circuit) ?? 0) + 1)
      }
      return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([circuit, runs]) => ({ circuit, runs }))
    },
  }
}

/** Keeps what an agent told of its breaker, as lib/store/circuits-reported.ts does. */
export function keepReported(reported: Map<string, ReportedCircuit>, circuit: ReportedCircuit): void {
  const known = reported.get(circuit.id)
  if (known && known.at > circuit.at) return
  reported.set(circuit.id, copied(circuit))
  const own = [...reported.values()].filter(({ caller }) => caller === circuit.caller)
  for (const { id } of own.sort(latestFirst).slice(reportedPerAgent)) reported.delete(id)
}

function latestFirst(a: ReportedCircuit, b: ReportedCircuit): number {
  return b.heardAt - a.heardAt || (a.id < b.id ? -1 : 1)
}

/** Nobody outside holds what is kept here, as nobody holds a row of a database. */
function copied<T>(value: T): T {
  return structuredClone(value)
}
