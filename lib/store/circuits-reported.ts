import type { Database } from 'better-sqlite3'
import type { ReportedCircuit } from '@/lib/engine/circuit-ports'

/*
 * Breakers of agents, as they told of them: a row for each, written with the token that says so. A token that comes late
 * changes nothing, one that comes again is no second row, and an agent that makes up names has so many rows and no more.
 */
export const reportedPerAgent = 200

/** Writes the row inside the commit's transaction. */
export function reportedCircuitWriter(db: Database): (circuit: ReportedCircuit) => void {
  const put = db.prepare(
    `INSERT INTO reported_circuits
       (id, caller, downstream, status, error_rate, cooldown_s, until, at, heard_at, run_id, jti)
     VALUES (@id, @caller, @downstream, @status, @errorRate, @cooldownS, @until, @at, @heardAt, @runId, @jti)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, error_rate = excluded.error_rate,
       cooldown_s = excluded.cooldown_s, until = excluded.until, at = excluded.at, heard_at = excluded.heard_at,
       run_id = excluded.run_id, jti = excluded.jti
     WHERE excluded.at >= at`,
  )
  const trim = db.prepare(
    `DELETE FROM reported_circuits WHERE caller = @caller AND id IN (
       SELECT id FROM reported_circuits WHERE caller = @caller ORDER BY heard_at DESC, id LIMIT -1 OFFSET ${reportedPerAgent})`,
  )
  return (circuit) => {
    put.run(circuit)
    trim.run(circuit)
  }
}

export function reportedCircuitReader(db: Database) {
  const columns =
    'id, caller, downstream, status, error_rate AS errorRate, cooldown_s AS cooldownS, until, at, heard_at AS heardAt, run_id AS runId, jti'
  const since = db.prepare<[number, number], ReportedCircuit>(
    `SELECT ${columns} FROM reported_circuits WHERE heard_at >= ? ORDER BY heard_at DESC, id LIMIT ?`,
  )
  const one = db.prepare<[string], ReportedCircuit>(`SELECT ${columns} FROM reported_circuits WHERE id = ?`)
  const latest = db.prepare<[], number>('SELECT coalesce(max(heard_at), 0) FROM reported_circuits').pluck()
  return {
    since: (at: number, limit: number) => since.all(at, limit),
    one: (id: string) => one.get(id),
    latest: () => latest.get() ?? 0,
  }
}
