/*
 * The store: what Holdpoint must not lose.
 *
 * One SQLite file, `<data folder>/holdpoint.db`, holds the ledger of every run, the values and sealed checkpoints it
 * speaks of, and the projections that lists are made of. The ledger is the truth; projections are written in the same
 * transaction as the tokens they follow from, and could be dropped and rebuilt.
 *
 *                    ┌── ledger, leases ──▶ GroupWriter ──▶ one connection, hand-made statements (the hot path)
 *   engine, worker ──┤                          │
 *   server, people ──┤                      WriteGate: one writer at a time in this process
 *                    │                          │
 *                    └── workflows, lists ─▶ Control ─────▶ Prisma on a connection of its own
 *
 * What it promises: a commit is one transaction, on the disk when its promise resolves (WAL, synchronous=FULL), and did
 * nothing at all when it throws. Two processes may share the file; SQLite keeps them apart and each commit is fenced by
 * the run's number of tokens. Rows are never changed or deleted, but for the sealed state of checkpoints past their
 * time, answers past a week, and token ids that can no longer be replayed.
 *
 * What it never does: read the contents it keeps, decide anything, or let a Prisma type out of this folder. The files
 * must not be opened by other means within this process: closing such a file would drop SQLite's locks on it (POSIX).
 */
import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { type Clock, systemClock } from '@/lib/base/clock'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { CheckpointLimits } from '@/lib/engine/checkpoint-ports'
import { AppendWatch } from './append-watch'
import { sqliteApprovals } from './approvals-sqlite'
import { sqliteCheckpoints } from './checkpoints-sqlite'
import { sqliteCircuits } from './circuits-sqlite'
import { attachControl, Control } from './control'
import { makeDataFolder } from './data-folder'
import { GroupWriter } from './group-writer'
import { sqliteLeases } from './leases-sqlite'
import { sqliteForget, sqliteLedger } from './ledger-sqlite'
import { findMigrations, migrate, pending, readMigrations } from './migrate'
import { sqliteRates } from './rates'
import { sqliteRuns } from './runs-sqlite'
import { sqliteSignals } from './signals-sqlite'
import { asStoreProblem, storageCode } from './sqlite-problem'
import { answerKeptMs, type Store } from './store'
import { sqliteWorkflows } from './workflows-sqlite'
import { gateOf } from './write-gate'

export interface OpenOptions {
  /** Nothing is written, not even a migration. For commands that look at an installation, running or not. */
  readOnly?: boolean
  /** The database may grow to this many bytes; more is refused with `store_full`. As much as the disk takes by default. */
  maxBytes?: number
  /** A commit waits this long for other processes' writes before it is refused with `store_busy`; 10 s by default. */
  busyLimitMs?: number
  /** Prisma's migrations folder; found beside the program by default. */
  migrations?: string
  clock?: Clock
  /** How many checkpoints a workflow may have and take; any number by default. */
  checkpointLimits?: CheckpointLimits
}

/** The database's name within the data folder. */
export const databaseName = 'holdpoint.db'

/** Opening waits this long for another process that migrates. */
const openBusyMs = 15_000
/** Afterwards a write blocks the event loop no longer than this before it waits outside of it. */
const writeBusyMs = 10

/**
 * Opens the store of a data folder; makes the folder (mode 0700) and the database when they are missing, and brings the
 * database up to date.
 *
 * Throws Problem `store_read_only`, `store_full`, `store_busy`, `store_missing` (reading only, and nothing is there),
 * `store_not_a_database`, `store_newer`, `store_older` (reading only, and migrations are missing), `migration_edited`,
 * `migration_failed`.
 */
export async function openStore(dataDir: string, options: OpenOptions = {}): Promise<Store> {
  const folder = path.resolve(dataDir)
  const isReadOnly = options.readOnly ?? false
  const clock = options.clock ?? systemClock
  const db = openDatabase(folder, isReadOnly, options)
  const file = db.name
  const writer = isReadOnly ? undefined : new GroupWriter(db, gateOf(file), options.busyLimitMs)
  const watch = new AppendWatch(watched(db))
  const control = new Control(file, isReadOnly)
  const forget = sqliteForget(db, writer)

  const store: Store = {
    ledger: sqliteLedger(db, writer, (event) => watch.durable(event), clock, options.checkpointLimits),
    leases: sqliteLeases(db, writer),
    workflows: sqliteWorkflows(control),
    runs: sqliteRuns(control),
    approvals: sqliteApprovals(control),
    circuits: sqliteCircuits(db, writer),
    rates: sqliteRates(db, writer),
    signals: sqliteSignals(db, writer),
    checkpoints: sqliteCheckpoints(db, writer),
    onAppend: (listener) => watch.listen(listener),
    forget: (now) => forget(now - answerKeptMs, now),
    async close() {
      watch.stop()
      await writer?.idle()
      await control.close()
      db.close()
    },
  }
  attachControl(store, control)
  return store
}

/** The open connection, migrated and set up. Whatever goes wrong is told as a Problem, and nothing stays open. */
function openDatabase(folder: string, isReadOnly: boolean, options: OpenOptions): Database.Database {
  const file = path.join(folder, databaseName)
  let db: Database.Database | undefined
  try {
    if (isReadOnly) mustHaveStore(folder)
    else makeFile(folder, file)
    db = new Database(fs.existsSync(folder) ? path.join(fs.realpathSync(folder), databaseName) : file, {
      readonly: isReadOnly,
      fileMustExist: isReadOnly,
      timeout: openBusyMs,
    })
    const migrations = readMigrations(options.migrations ?? findMigrations())
    if (isReadOnly) {
      mustBeCurrent(pending(db, migrations).length, file)
    } else {
      setUp(db, options.maxBytes)
      migrate(db, migrations)
    }
    db.pragma(`busy_timeout = ${writeBusyMs}`)
    return db
  } catch (error) {
    db?.close()
    const isUnopened = storageCode(error)?.startsWith('SQLITE_CANTOPEN')
    throw isUnopened ? cannotOpen(file, isReadOnly) : asStoreProblem(error, file)
  }
}

/** For its owner alone, whoever owns the machine's umask: tokens are evidence, and sessions lie beside them. */
function makeFile(folder: string, file: string): void {
  makeDataFolder(folder)
  // Only ever a new file: closing one that SQLite has open in this process would drop its locks.
  if (!fs.existsSync(file)) fs.closeSync(fs.openSync(file, 'a', 0o600))
}

function setUp(db: Database.Database, maxBytes: number | undefined): void {
  // The first question to a file: says so when it is no database. Read before anything is changed.
  db.pragma('schema_version')
  db.pragma('journal_mode = WAL')
  // Each commit is on the disk before its promise resolves. NORMAL would lose the last ones in a power cut.
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  // 16 MB of pages: the indexes' upper levels of some million rows. The default of 2 MB reads them again and again.
  db.pragma('cache_size = -16000')
  // After a burst the log shrinks to this again.
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
  if (maxBytes !== undefined) {
    const pageSize = db.pragma('page_size', { simple: true }) as number
    db.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
  }
}

function watched(db: Database.Database) {
  const last = db.prepare<[], { position: number | null }>('SELECT max(position) AS position FROM ledger')
  const between = db.prepare<[number, number], { runId: RunId; position: number }>(
    'SELECT run_id AS runId, position FROM ledger WHERE position > ? AND position <= ? ORDER BY position',
  )
  const version = db.prepare('PRAGMA data_version').pluck()
  return {
    lastPosition: () => last.get()?.position ?? 0,
    between: (after: number, through: number) => between.all(after, through),
    dataVersion: () => version.get() as number,
  }
}

/** Throws Problem `store_missing` for a data folder without a store; for who must not make one. */
export function mustHaveStore(dataDir: string): void {
  const file = path.join(path.resolve(dataDir), databaseName)
  if (fs.existsSync(file)) return
  throw new Problem(
    'store_missing',
    `There is no database ${file}; name the data folder of an installation that was started once`,
    { file },
  )
}

function mustBeCurrent(missing: number, file: string): void {
  if (missing === 0) return
  throw new Problem(
    'store_older',
    `The database ${file} lacks ${missing} migrations that this program knows; start the server once with this version to bring it up to date`,
    { file, missing },
  )
}

function cannotOpen(file: string, isReadOnly: boolean): Problem {
  return new Problem(
    'store_read_only',
    isReadOnly
      ? `${file} cannot be read by this user; run the command as the user that runs Holdpoint`
      : `${file} cannot be opened for writing by this user, so nothing was written; make the data folder writable for the user that runs Holdpoint`,
    { file },
  )
}
