import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import type { NewSignal, SignalRecord, SignalStore } from '@/lib/engine/signal-ports'
import type { GroupWriter } from './group-writer'
import { readOnly } from './refusals'

/** Signals of one run that are shown; a run with more errors than this is told of by its ledger. */
export const maxSignalsShown = 2000

const columns =
  'id, run_id AS runId, error_jti AS errorJti, agent, body, attempts, next_at AS nextAt, state, answer, created_at AS createdAt'

/** Writes the signals of a commit, within its transaction. One that is there already stays as it is. */
export function signalWriter(db: Database) {
  const insert = db.prepare(
    `INSERT INTO signals (id, run_id, error_jti, agent, body, attempts, next_at, state, answer, created_at)
     VALUES (?, ?, ?, ?, ?, 0, ?, 'waiting', '', ?) ON CONFLICT DO NOTHING`,
  )
  return (runId: RunId, { id, errorJti, agent, body, createdAt }: NewSignal): void => {
    insert.run(id, runId, errorJti, agent, body, createdAt, createdAt)
  }
}

export function sqliteSignals(db: Database, writer: GroupWriter | undefined): SignalStore {
  const take = db.prepare<[number, number, number], SignalRecord>(
    `UPDATE signals SET attempts = attempts + 1, next_at = ?
     WHERE id IN (SELECT id FROM signals WHERE next_at <= ? ORDER BY next_at, id LIMIT ?) RETURNING ${columns}`,
  )
  const tell = db.prepare('UPDATE signals SET state = ?, next_at = ?, answer = ? WHERE id = ?')
  const ofRun = db.prepare<[string, number], SignalRecord>(
    `SELECT ${columns} FROM signals WHERE run_id = ? ORDER BY created_at, id LIMIT ?`,
  )
  const nextDue = db.prepare<[], { at: number | null }>('SELECT min(next_at) AS at FROM signals')
  const writing = (): GroupWriter => {
    if (!writer) throw readOnly(db.name)
    return writer
  }
  return {
    async take(now, limit, again) {
      const due = nextDue.get()?.at ?? null
      if (due === null || due > now) return []
      return writing().submit(0, () => take.all(again, now, limit))
    },
    async tell(id, { state, nextAt, answer }) {
      await writing().submit(0, () => {
        tell.run(state, nextAt, answer, id)
      })
    },
    ofRun: async (runId) => ofRun.all(runId, maxSignalsShown),
    nextDue: async () => nextDue.get()?.at ?? undefined,
  }
}
