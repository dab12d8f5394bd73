import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { findMigrations, readMigrations } from './migrate'
import { databaseName, openStore } from './open'
import { refusal } from './refusal-of'
import { aRun, firstCommit } from './story'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-migrate-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
let count = 0

/** A copy of the real migrations with more added: name → SQL. */
function migrationsWith(more: Record<string, string>): string {
  const copy = path.join(folder, `migrations-${++count}`)
  fs.cpSync(findMigrations(), copy, { recursive: true })
  for (const [name, sql] of Object.entries(more)) {
    fs.mkdirSync(path.join(copy, name), { recursive: true })
    fs.writeFileSync(path.join(copy, name, 'migration.sql'), sql)
  }
  return copy
}

const freshFolder = () => path.join(folder, `data-${++count}`)

function ask<T>(data: string, sql: string): T[] {
  const db = new Database(path.join(data, databaseName))
  try {
    return db.prepare(sql).all() as T[]
  } finally {
    db.close()
  }
}

describe('migrations', () => {
  it('make what the models ask for', () => {
    const program = path.join(import.meta.dirname, 'schema-diff.mjs')
    const said = execFileSync(process.execPath, [program, 'sqlite', '--check'], { encoding: 'utf8' })
    expect(said).toContain('makes what the models ask for')
  })

  it('are written down as Prisma does, and applied once', async () => {
    const data = freshFolder()
    await (await openStore(data)).close()
    await (await openStore(data)).close()
    const rows = ask<{ migration_name: string; checksum: string; applied_steps_count: number }>(
      data,
      'SELECT migration_name, checksum, applied_steps_count FROM _prisma_migrations ORDER BY migration_name',
    )
    expect(rows).toEqual(
      readMigrations(findMigrations()).map(({ name, checksum }) => ({
        migration_name: name,
        checksum,
        applied_steps_count: 1,
      })),
    )
  })

  it('go on where an older program stopped, and keep what was there', async () => {
    const data = freshFolder()
    const run = aRun()
    const old = await openStore(data)
    await old.ledger.commit(firstCommit(run))
    await old.close()
    const migrations = migrationsWith({ '29990101000000_more': 'CREATE TABLE more (id TEXT PRIMARY KEY);' })
    const looking = await refusal(openStore(data, { migrations, readOnly: true }), 'store_older')
    expect(looking.message).toContain('lacks 1 migrations that this program knows; start the server once')
    const store = await openStore(data, { migrations })
    expect(await store.ledger.rows(run.runId, 0, 5)).toHaveLength(1)
    await store.close()
    expect(ask(data, 'SELECT * FROM more')).toEqual([])
    const newer = await refusal(openStore(data), 'store_newer')
    expect(newer.message).toContain(
      'was written by a newer Holdpoint: it knows the migration 29990101000000_more, this program does not',
    )
  })

  it('refuse one that was edited after it was applied', async () => {
    const data = freshFolder()
    const name = '29990101000000_more'
    await (
      await openStore(data, { migrations: migrationsWith({ [name]: 'CREATE TABLE more (id TEXT);' }) })
    ).close()
    const migrations = migrationsWith({ [name]: 'CREATE TABLE more (id INTEGER);' })
    const problem = await refusal(openStore(data, { migrations }), 'migration_edited')
    expect(problem.message).toContain(`The migration ${name} was edited after it was applied to ${data}`)
  })

  it('leave nothing of one that fails in the middle', async () => {
    const data = freshFolder()
    const sql = 'CREATE TABLE half (id TEXT); INSERT INTO nowhere VALUES (1);'
    const migrations = migrationsWith({ '29990101000000_half': sql })
    const problem = await refusal(openStore(data, { migrations }), 'migration_failed')
    expect(problem.message).toContain(
      'The migration 29990101000000_half does not go through on ' +
        `${path.join(data, databaseName)}: no such table: nowhere; the database is as it was before it`,
    )
    expect(ask(data, `SELECT name FROM sqlite_master WHERE name = 'half'`)).toEqual([])
    await (await openStore(data)).close()
  })

  it('are applied once when two open at the same time', async () => {
    const data = freshFolder()
    const stores = await Promise.all([openStore(data), openStore(data), openStore(data)])
    await Promise.all(stores.map((store) => store.close()))
    const applied = ask(data, 'SELECT migration_name FROM _prisma_migrations')
    expect(applied).toHaveLength(readMigrations(findMigrations()).length)
  })
})
