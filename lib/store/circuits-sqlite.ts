import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import { probedUntil } from '@/lib/breaker/probed-until'
import type { CallCounts, CircuitState } from '@/lib/breaker/terms'
import { firstPrevHashSync } from '@/lib/ect/chain-node'
import type {
  CallSecond,
  CircuitCommit,
  CircuitCommitted,
  CircuitHold,
  CircuitRecord,
  CircuitStore,
  CircuitToken,
} from '@/lib/engine/circuit-ports'
import { reportedCircuitReader } from './circuits-reported'
import type { GroupWriter } from './group-writer'
import * as refusals from './refusals'

/*
 * Breakers over SQLite, on the ledger's connection: a change of a circuit shares its transaction, and so its sync of the
 * disk, with whatever commits go on. It is judged as a commit of a run is, by one statement that compares and sets the
 * number of tokens.
 */
type CircuitRow = Omit<CircuitRecord, 'state'> & { state: string }
type HoldRow = Omit<CircuitHold, 'releasedAt'> & { releasedAt: number | null }

export function sqliteCircuits(db: Database, writer: GroupWriter | undefined): CircuitStore {
  const sql = statements(db)
  const reported = reportedCircuitReader(db)
  const writing = (): GroupWriter => {
    if (!writer) throw refusals.readOnly(db.name)
    return writer
  }
  return {
    async get(id) {
      const row = sql.get.get(id)
      return row && recordOf(row)
    },
    list: async (limit) => sql.list.all(limit).map(recordOf),
    ofDownstream: async (downstream) => sql.ofDownstream.all(downstream).map(recordOf),
    news: async (after) => ({
      circuits: sql.after.all(after).map(recordOf),
      holds: sql.holds.all().map(holdOf),
      reportedAt: reported.latest(),
    }),
    async commit(commit) {
      const bytes = commit.tokens.reduce((sum, { token }) => sum + token.length, 500)
      return writing().submit(bytes, () => applyCommit(sql, commit))
    },
    async ensure(circuits) {
      if (circuits.length === 0) return
      await writing().submit(300 * circuits.length, () => {
        for (const { id, wid, caller, downstream, state, at } of circuits) {
          sql.create.run(id, wid, caller, downstream, JSON.stringify(state), 0, firstPrevHashSync(wid), at)
        }
      })
    },
    tokens: async (id, { before = Number.MAX_SAFE_INTEGER, limit }) => sql.tokens.all(id, before, limit),
    async addCalls(calls) {
      if (calls.length === 0) return
      await writing().submit(100 * calls.length, () => {
        for (const { circuit, second, calls: count, failed, rejected, totalMs, maxMs } of calls) {
          sql.addCalls.run(circuit, second, count, failed, rejected, Math.round(totalMs), Math.round(maxMs))
        }
      })
    },
    calls: async (since, id) => (id === undefined ? sql.calls.all(since) : sql.callsOf.all(id, since)),
    callCounts: async (id, since) => sql.counts.get(id, since) ?? { calls: 0, failures: 0 },
    purgeCalls: async (before) =>
      writing().submit(
        0,
        () => sql.purgeCalls.run(before).changes + sql.purgeUnused.run(before * 1000).changes,
      ),
    hold: async ({ downstream, runId, approval, heldAt }) =>
      writing().submit(0, () => sql.hold.run(downstream, runId, approval, heldAt).changes === 1),
    nameHold: async ({ downstream, heldAt }, { runId, approval }) =>
      writing().submit(0, () => sql.nameHold.run(runId, approval, downstream, heldAt).changes === 1),
    askHoldAnew: async ({ downstream, approval, heldAt }, at) =>
      writing().submit(0, () => sql.askHoldAnew.run(at, downstream, approval, heldAt).changes === 1),
    letProbesGo: async (downstream, approval, at) =>
      writing().submit(0, () => sql.letProbesGo.run(at, downstream, approval).changes === 1),
    unhold: async ({ downstream, approval, heldAt, releasedAt = null }) =>
      writing().submit(0, () => sql.unhold.run(downstream, approval, heldAt, releasedAt).changes === 1),
    reported: async (since, limit) => reported.since(since, limit),
    reportedOne: async (id) => reported.one(id),
    waiting: async (circuit, limit) => sql.waiting.all(circuit, limit).map(({ runId }) => runId),
    waitingCounts: async () => sql.waitingCounts.all(),
  }
}

/** Compares and sets; wrote nothing when it throws. */
function applyCommit(sql: Statements, commit: CircuitCommit): CircuitCommitted {
  const { circuit, expectedRevision, state, tokens, at, holdAgain } = commit
  const { id, wid, caller, downstream } = circuit
  if (state.calculated.status === 'half_open') {
    const until = probedUntil(sql.ofDownstream.all(downstream).map(recordOf), id, at)
    if (until !== undefined) throw refusals.probeTaken(downstream, until)
    if (sql.isHeld.get(downstream)) throw refusals.probeHeld(downstream)
  }
  if (expectedRevision === 0) {
    sql.create.run(id, wid, caller, downstream, JSON.stringify(state), 0, firstPrevHashSync(wid), at)
  }
  const lastHash = tokens.at(-1)?.hash ?? sql.get.get(id)?.lastHash ?? firstPrevHashSync(wid)
  const revision = expectedRevision + tokens.length
  const { changes } = sql.move.run(JSON.stringify(state), revision, lastHash, at, id, expectedRevision)
  if (changes !== 1) {
    // Nothing was written: had `create` made the row, the fence would have held.
    throw refusals.circuitMoved(id, expectedRevision, sql.get.get(id)?.revision ?? 0)
  }
  for (const { seq, jti, token, prevHash, hash, at: tokenAt } of tokens) {
    sql.token.run(id, seq, jti, token, prevHash, hash, tokenAt)
  }
  const heldAgain = holdAgain && sql.holdAgain.get(holdAgain.runId ?? null, at, downstream)
  return {
    circuit: recordOf(sql.get.get(id) as CircuitRow),
    ...(heldAgain && { heldAgain: holdOf(heldAgain) }),
  }
}

function holdOf({ releasedAt, ...hold }: HoldRow): CircuitHold {
  return { ...hold, ...(releasedAt !== null && { releasedAt }) }
}

function recordOf({ state, ...row }: CircuitRow): CircuitRecord {
  return { ...row, state: JSON.parse(state) as CircuitState }
}

type Statements = ReturnType<typeof statements>

const columns =
  'id, wid, caller, downstream, state, revision, last_hash AS lastHash, mark, updated_at AS updatedAt'
const holdColumns = 'downstream, run_id AS runId, approval, held_at AS heldAt, released_at AS releasedAt'
const nextMark = '(SELECT coalesce(max(mark), 0) + 1 FROM circuits)'
const callColumns =
  'circuit_id AS circuit, second, calls, failed, rejected, total_ms AS totalMs, max_ms AS maxMs'

function statements(db: Database) {
  return {
    get: db.prepare<[string], CircuitRow>(`SELECT ${columns} FROM circuits WHERE id = ?`),
    list: db.prepare<[number], CircuitRow>(`SELECT ${columns} FROM circuits ORDER BY mark DESC LIMIT ?`),
    ofDownstream: db.prepare<[string], CircuitRow>(`SELECT ${columns} FROM circuits WHERE downstream = ?`),
    after: db.prepare<[number], CircuitRow>(`SELECT ${columns} FROM circuits WHERE mark > ? ORDER BY mark`),
    create: db.prepare(
      `INSERT INTO circuits (id, wid, caller, downstream, state, revision, last_hash, mark, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ${nextMark}, ?) ON CONFLICT DO NOTHING`,
    ),
    move: db.prepare(
      `UPDATE circuits SET state = ?, revision = ?, last_hash = ?, updated_at = ?, mark = ${nextMark}
       WHERE id = ? AND revision = ?`,
    ),
    token: db.prepare(
      'INSERT INTO circuit_tokens (circuit_id, seq, jti, token, prev_hash, hash, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    tokens: db.prepare<[string, number, number], CircuitToken>(
      `SELECT circuit_id AS circuitId, seq, jti, token, prev_hash AS prevHash, hash, at FROM circuit_tokens
       WHERE circuit_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    addCalls: db.prepare(
      `INSERT INTO circuit_calls (circuit_id, second, calls, failed, rejected, total_ms, max_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (circuit_id, second) DO UPDATE SET calls = calls + excluded.calls, failed = failed + excluded.failed,
         rejected = rejected + excluded.rejected, total_ms = total_ms + excluded.total_ms,
         max_ms = max(max_ms, excluded.max_ms)`,
    ),
    calls: db.prepare<[number], CallSecond>(
      `SELECT ${callColumns} FROM circuit_calls WHERE second >= ? ORDER BY second, circuit_id`,
    ),
    callsOf: db.prepare<[string, number], CallSecond>(
      `SELECT ${callColumns} FROM circuit_calls WHERE circuit_id = ? AND second >= ? ORDER BY second`,
    ),
    counts: db.prepare<[string, number], CallCounts>(
      `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(failed), 0) AS failures FROM circuit_calls
       WHERE circuit_id = ? AND second >= ?`,
    ),
    purgeCalls: db.prepare('DELETE FROM circuit_calls WHERE second < ?'),
    purgeUnused: db.prepare(
      `DELETE FROM circuits WHERE revision = 0 AND updated_at < ?
         AND NOT EXISTS (SELECT 1 FROM circuit_calls WHERE circuit_id = circuits.id)`,
    ),
    holds: db.prepare<[], HoldRow>(`SELECT ${holdColumns} FROM circuit_holds ORDER BY held_at, downstream`),
    isHeld: db.prepare<[string], unknown>(
      'SELECT 1 FROM circuit_holds WHERE downstream = ? AND released_at IS NULL',
    ),
    hold: db.prepare(
      `INSERT INTO circuit_holds (downstream, run_id, approval, held_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (downstream) DO UPDATE SET run_id = excluded.run_id, approval = excluded.approval,
         held_at = excluded.held_at, released_at = NULL WHERE released_at IS NOT NULL`,
    ),
    holdAgain: db.prepare<[string | null, number, string], HoldRow>(
      `UPDATE circuit_holds SET run_id = coalesce(?, run_id), approval = '', held_at = ?, released_at = NULL
       WHERE downstream = ? AND released_at IS NOT NULL RETURNING ${holdColumns}`,
    ),
    letProbesGo: db.prepare(
      'UPDATE circuit_holds SET released_at = ? WHERE downstream = ? AND approval = ? AND released_at IS NULL',
    ),
    nameHold: db.prepare(
      `UPDATE circuit_holds SET run_id = ?, approval = ?
       WHERE downstream = ? AND approval = '' AND held_at = ? AND released_at IS NULL`,
    ),
    askHoldAnew: db.prepare(
      `UPDATE circuit_holds SET approval = '', held_at = ?
       WHERE downstream = ? AND approval = ? AND held_at = ? AND released_at IS NULL`,
    ),
    unhold: db.prepare(
      'DELETE FROM circuit_holds WHERE downstream = ? AND approval = ? AND held_at = ? AND released_at IS ?',
    ),
    waiting: db.prepare<[string, number], { runId: RunId }>(
      'SELECT run_id AS runId FROM run_waits WHERE circuit = ? ORDER BY run_id LIMIT ?',
    ),
    waitingCounts: db.prepare<[], { circuit: string; runs: number }>(
      'SELECT circuit, count(*) AS runs FROM run_waits GROUP BY circuit ORDER BY circuit',
    ),
  }
}
