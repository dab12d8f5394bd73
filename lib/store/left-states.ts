import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import type { LedgerStore, LeftState } from '@/lib/engine/ports'

/*
 * States that steps left at their targets: one row for each run and state, the latest time it left it so, written with
 * the token that says so. They are looked up by the state alone, so it costs the same however much history there is.
 */
type LeftBy = Awaited<ReturnType<LedgerStore['leftBy']>>
type Row = Omit<NonNullable<LeftBy>, 'undid'> & { undid: number }

/** A checkpoint serves a year at most; who changed its target since is asked no longer than that. */
export const leftKeptMs = 366 * 86_400_000

/** Writes the row inside the commit's transaction. */
export function leftStateWriter(db: Database): (left: LeftState) => void {
  const put = db.prepare(
    `INSERT INTO left_states (holder, state, run_id, node, visit, label, at, undid)
     VALUES (@holder, @state, @runId, @node, @visit, @label, @at, @undid)
     ON CONFLICT (holder, state, run_id) DO UPDATE SET node = excluded.node, visit = excluded.visit,
       label = excluded.label, at = excluded.at, undid = excluded.undid
     WHERE excluded.at >= at`,
  )
  return (left) => put.run({ ...left, undid: left.undid ? 1 : 0 })
}

export function leftStateReader(db: Database) {
  const one = db.prepare<[string, string, number, string], Row>(
    `SELECT holder, state, run_id AS runId, node, visit, label, at, undid, workflow_name AS workflowName
     FROM left_states JOIN runs ON runs.id = run_id
     WHERE holder = ? AND state = ? AND at >= ? AND run_id NOT IN (SELECT value FROM json_each(?))
     ORDER BY at DESC, run_id LIMIT 1`,
  )
  return (
    { holder, state }: Pick<LeftState, 'holder' | 'state'>,
    since: number,
    except: readonly RunId[],
  ) => {
    const row = one.get(holder, state, since, JSON.stringify(except))
    return row && { ...row, undid: row.undid === 1 }
  }
}

/** Keeps it in memory, as the table does. */
export function keepLeft(kept: Map<string, LeftState>, left: LeftState): void {
  const key = JSON.stringify([left.holder, left.state, left.runId])
  if ((kept.get(key)?.at ?? 0) <= left.at) kept.set(key, { ...left })
}

export function keptLeft(
  kept: ReadonlyMap<string, LeftState>,
  { holder, state }: Pick<LeftState, 'holder' | 'state'>,
  since: number,
  except: readonly RunId[],
): LeftState | undefined {
  return [...kept.values()]
    .filter((left) => left.holder === holder && left.state === state && left.at >= since)
    .filter(({ runId }) => !except.includes(runId))
    .sort((a, b) => b.at - a.at || (a.runId < b.runId ? -1 : 1))[0]
}
