import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Database } from 'better-sqlite3'
import { Problem } from '@/lib/base/problem'

/*
 * Applies reviewed SQL from prisma/sqlite/migrations and writes down what it did in Prisma's own table, so that
 * Prisma's tools see the same history. Prisma's CLI could do it too, with an engine binary that it downloads; an
 * installation must start where nothing can be fetched.
 *
 * To add tables: a file in prisma/models, then
 *
 *   node lib/store/schema-diff.mjs sqlite        prints the SQL; read it, and think of the rows that are there already
 *   prisma/sqlite/migrations/<yyyymmddhhmmss>_<what>/migration.sql      put it there; never edit it once released
 *   node prisma/generate.mjs                     makes the client
 *   node lib/store/schema-diff.mjs sqlite --check
 *
 * Names decide the order. Each migration is one transaction: it happened or it did not.
 */
export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the file in hex, as Prisma writes it. */
  checksum: string
}

interface AppliedRow {
  migration_name: string
  checksum: string
}

const historyTable = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL,
  "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0)`

/** The migrations of a folder in Prisma's layout, in the order of their names. */
export function readMigrations(folder: string): Migration[] {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const raw = fs.readFileSync(path.join(folder, name, 'migration.sql'))
      const checksum = createHash('sha256').update(raw).digest('hex')
      return { name, sql: raw.toString('utf8'), checksum }
    })
}

/**
 * The folder `prisma/sqlite/migrations` of this installation: looked for upwards from this file (development), from
 * the program (a bundle), and from the working directory (the web server).
 */
export function findMigrations(): string {
  const places = [import.meta.dirname, path.dirname(process.argv[1] ?? '.'), process.cwd()]
  for (const place of places) {
    for (let folder = place; folder; folder = path.dirname(folder)) {
      const candidate = path.join(folder, 'prisma', 'sqlite', 'migrations')
      if (fs.existsSync(path.join(candidate, 'migration_lock.toml'))) return candidate
      if (folder === path.dirname(folder)) break
    }
  }
  throw new Problem(
    'store_missing',
    'No folder prisma/sqlite/migrations was found beside the program or above the working directory; start Holdpoint from its own folder',
  )
}

/**
 * Brings an open database up to date; returns the names of the migrations it applied. Safe to call from several
 * processes at once. Throws Problem `store_newer` when the database knows migrations that the code does not,
 * `migration_edited` when one was changed after it was applied, `migration_failed` when one does not go through (the
 * database is then as it was before that one).
 */
export function migrate(db: Database, migrations: Migration[]): string[] {
  if (pending(db, migrations).length === 0) return []
  db.exec(historyTable)
  const applied: string[] = []
  // Rebuilding a table (how SQLite changes a column) needs it off, and it cannot be changed inside a transaction.
  db.pragma('foreign_keys = OFF')
  try {
    for (const migration of migrations) {
      if (applyOne(db, migration, migrations)) applied.push(migration.name)
    }
  } finally {
    db.pragma('foreign_keys = ON')
  }
  return applied
}

/** The migrations that the database lacks. Throws as `migrate` does; writes nothing. */
export function pending(db: Database, migrations: Migration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  const done = new Set<string>()
  for (const row of history(db)) {
    const migration = known.get(row.migration_name)
    if (!migration) {
      throw new Problem(
        'store_newer',
        `The database ${db.name} was written by a newer Holdpoint: it knows the migration ${row.migration_name}, this program does not; start the newer program, or restore a backup from before the upgrade`,
        { migration: row.migration_name },
      )
    }
    if (migration.checksum !== row.checksum) {
      throw new Problem(
        'migration_edited',
        `The migration ${row.migration_name} was edited after it was applied to ${db.name} (SHA-256 ${row.checksum.slice(0, 12)}… then, ${migration.checksum.slice(0, 12)}… now); put the file back as it was and add a new migration`,
        { migration: row.migration_name },
      )
    }
    done.add(row.migration_name)
  }
  return migrations.filter((migration) => !done.has(migration.name))
}

function history(db: Database): AppliedRow[] {
  const table = db.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_prisma_migrations'`)
  if (!table.get()) return []
  const rows = db.prepare<[], AppliedRow>(
    `SELECT migration_name, checksum FROM "_prisma_migrations" WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL`,
  )
  return rows.all()
}

/** True when it was applied now; false when another process, or an earlier start, had done it. */
function applyOne(db: Database, migration: Migration, all: Migration[]): boolean {
  db.exec('BEGIN IMMEDIATE')
  try {
    if (!pending(db, all).includes(migration)) {
      db.exec('COMMIT')
      return false
    }
    const startedAt = Date.now()
    db.exec(migration.sql)
    const broken = db.pragma('foreign_key_check') as unknown[]
    if (broken.length > 0) throw new Error(`${broken.length} rows point to rows that are not there`)
    db.prepare(
      `INSERT INTO "_prisma_migrations" (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       VALUES (?, ?, ?, ?, ?, 1)`,
    ).run(randomUUID(), migration.checksum, Date.now(), migration.name, startedAt)
    db.exec('COMMIT')
    return true
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    if (error instanceof Problem || isStorageError(error)) throw error
    throw new Problem(
      'migration_failed',
      `The migration ${migration.name} does not go through on ${db.name}: ${(error as Error).message}; the database is as it was before it`,
      { migration: migration.name },
    )
  }
}

/** Trouble of the disk or of a lock is not the migration's fault: open.ts has its own words for it. */
function isStorageError(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code)
  return /^SQLITE_(FULL|READONLY|BUSY|LOCKED|IOERR|CORRUPT|NOTADB|CANTOPEN)/.test(code)
}
