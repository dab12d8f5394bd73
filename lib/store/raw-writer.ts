import Database from 'better-sqlite3'
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { Commit } from '@/lib/engine/ports'
import { openStore } from './open'

/** A ledger row that was just signed again, at its old place in the chain. */
export interface RawRow {
  runId: RunId
  seq: number
  jti: string
  token: string
  prevHash: Hash
  hash: Hash
}

/** What one commit of a transaction inserts. */
export interface RawCommit {
  rows: RawRow[]
  heads: Commit['heads']
  values: Commit['values']
  checkpoints: Commit['checkpoints']
}

export interface RawWriter {
  /** Makes the rows that ledger rows refer to; not part of what is measured. */
  prepare(runIds: Iterable<RunId>): void
  /** One transaction, on the disk when it returns. */
  write(runId: RunId[], commits: RawCommit[]): void
  close(): void
}

/**
 * The least that writing a ledger costs, to measure the store against: the store's own schema and settings, and
 * nothing but inserts. For benchmarks alone; no fence, no lease, no projection.
 */
export async function openRawWriter(dataDir: string): Promise<RawWriter> {
  await (await openStore(dataDir)).close()
  const db = new Database(`${dataDir}/holdpoint.db`)
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('cache_size = -16000')
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const row = db.prepare(
    'INSERT INTO ledger (run_id, seq, jti, token, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const head = db.prepare('INSERT INTO heads (run_id, seq, jws) VALUES (?, ?, ?)')
  const value = db.prepare(
    'INSERT INTO stored_values (hash, media_type, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const checkpoint = db.prepare(
    'INSERT INTO checkpoints (jti, run_id, node, visit, key_id, sealed, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const run = db.prepare(
    `INSERT INTO runs (id, wid, version, workflow_name, started_by, seq, status, started_at, updated_at, node_count,
       done_count, failed_count, open_approvals) VALUES (?, ?, '', '', '', 0, '', 0, 0, 0, 0, 0, 0)`,
  )
  return {
    prepare: db.transaction((runIds: Iterable<RunId>) => {
      for (const runId of runIds) run.run(runId, runId)
    }),
    write(runIds, commits) {
      begin.run()
      for (const [index, commit] of commits.entries()) {
        for (const { runId, seq, jti, token, prevHash, hash } of commit.rows) {
          row.run(runId, seq, jti, token, prevHash, hash)
        }
        for (const { seq, jws } of commit.heads) head.run(runIds[index], seq, jws)
        for (const { hash, mediaType, bytes } of commit.values) {
          value.run(hash, mediaType, bytes.byteLength, bytes)
        }
        for (const point of commit.checkpoints) {
          const { jti, runId, node, visit, keyId, sealed, expiresAt } = point
          checkpoint.run(jti, runId, node, visit, keyId, sealed, expiresAt)
        }
      }
      end.run()
    },
    close: () => void db.close(),
  }
}
