import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { databaseName, openStore } from './open'
import { refusal } from './refusal-of'
import type { Store } from './store'
import { aRun, firstCommit, nextCommit } from './story'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-open-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
let count = 0
const freshFolder = () => path.join(folder, `data-${++count}`)

function storm(...words: string[]): ChildProcess {
  const program = path.join(import.meta.dirname, 'commit-storm.ts')
  return spawn(process.execPath, ['--import', 'tsx', program, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The acknowledged commits of a process, `<run> <tokens>` each, as they come. */
function acknowledged(child: ChildProcess, each: (line: string) => void): Promise<unknown> {
  const lines = readline.createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', each)
  return Promise.all([once(lines, 'close'), once(child, 'exit')])
}

/** Holds every run of a store to be made of whole commits: pairs of rows, each with its value and its checkpoint. */
async function expectWholeCommits(store: Store, runIds: Iterable<RunId>): Promise<void> {
  for (const runId of runIds) {
    const rows = await store.ledger.rows(runId, 0, 1_000_000)
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, index) => index + 1))
    expect(rows.length % 2).toBe(1)
    expect((await store.runs.get(runId))?.seq).toBe(rows.length)
    for (let seq = 1; seq < rows.length; seq += 2) {
      expect(await store.ledger.value(sha256(`${runId} ${seq}`))).toBeDefined()
      expect(await store.ledger.checkpoint(rows[seq]?.jti ?? '')).toBeDefined()
    }
  }
}

describe('a killed process', () => {
  it('loses no acknowledged commit and leaves no half one', async () => {
    const data = freshFolder()
    for (const killAfter of [1, 400, 1_500]) {
      const child = storm(data, '20', '0')
      const tokens = new Map<RunId, number>()
      let acks = 0
      await acknowledged(child, (line) => {
        const [runId, seq] = line.split(' ') as [RunId, string]
        if (line.split(' ').length === 2) tokens.set(runId, Math.max(tokens.get(runId) ?? 0, Number(seq)))
        if (++acks === killAfter) child.kill('SIGKILL')
      })
      expect(child.signalCode).toBe('SIGKILL')
      expect(acks).toBeGreaterThanOrEqual(killAfter)
      const store = await openStore(data)
      for (const [runId, seq] of tokens) {
        expect((await store.runs.get(runId))?.seq).toBeGreaterThanOrEqual(seq)
      }
      const all = await store.ledger.since(0, 1_000_000)
      expect(all.map((row) => row.position)).toEqual(all.map((_, index) => index + 1))
      await expectWholeCommits(store, new Set(all.map((row) => row.runId)))
      const check = new Database(path.join(data, databaseName), { readonly: true })
      expect(check.pragma('integrity_check', { simple: true })).toBe('ok')
      check.close()
      await store.close()
    }
  })
})

describe('two processes on one data folder', () => {
  it('lose nothing, and a third is told of everything, once and in order', async () => {
    const store = await openStore(freshFolder())
    const shared = aRun()
    await store.ledger.commit(firstCommit(shared))
    const told: number[] = []
    let arrived: (() => void) | undefined
    store.onAppend((event) => {
      told.push(...event.positions)
      arrived?.()
    })
    const data = path.join(folder, `data-${count}`)
    const tokens = new Map<RunId, number>()
    let acks = 0
    const heard = (line: string) => {
      const [runId, seq] = line.split(' ') as [RunId, string]
      tokens.set(runId, Math.max(tokens.get(runId) ?? 0, Number(seq)))
      acks++
    }
    const own = aRun()
    await store.ledger.commit(firstCommit(own))
    const storms = [1, 2].map(() => acknowledged(storm(data, '5', '60', shared.wid), heard))
    let isOver = false
    const over = Promise.all(storms).then(() => {
      isOver = true
    })
    // This process commits all the while, so that its own rows and theirs are told in one order.
    for (let seq = 1; !isOver; seq++) await store.ledger.commit(nextCommit(own, seq, 1))
    await over
    expect(acks).toBe(2 * 6 * 60)
    expect((await store.runs.get(shared.runId))?.seq).toBe(1 + 2 * 2 * 60)
    const last = await store.ledger.lastPosition()
    while (told.at(-1) !== last) await new Promise<void>((resolve) => (arrived = resolve))
    const ownFirst = 1
    expect(told).toEqual(Array.from({ length: last - ownFirst }, (_, index) => index + 1 + ownFirst))
    for (const [runId, seq] of tokens) expect((await store.runs.get(runId))?.seq).toBe(seq)
    await expectWholeCommits(store, tokens.keys())
    await store.close()
  })

  it('are told of each other by the poll when one only reads', async () => {
    const writer = await openStore(freshFolder())
    const reader = await openStore(path.join(folder, `data-${count}`), { readOnly: true })
    const told = new Promise((resolve) => reader.onAppend(resolve))
    const run = aRun()
    await writer.ledger.commit(firstCommit(run))
    expect(await told).toEqual({ runId: run.runId, positions: [1] })
    expect((await reader.runs.list({}, { limit: 5 })).items).toHaveLength(1)
    const problem = await refusal(reader.ledger.commit(nextCommit(run, 1, 1)), 'store_read_only')
    expect(problem.message).toContain('was opened for reading only, so nothing was written')
    await refusal(reader.leases.claimDue('a', 1, 9_999, 1), 'store_read_only')
    await Promise.all([reader.close(), writer.close()])
  })
})

describe('opening', () => {
  it('makes the folder for its owner alone, and syncs every commit', async () => {
    const data = path.join(freshFolder(), 'deep')
    const store = await openStore(data)
    expect(fs.statSync(data).mode & 0o777).toBe(0o700)
    expect(fs.statSync(path.join(data, databaseName)).mode & 0o077).toBe(0)
    await store.close()
  })

  it('says so when the file is no database, and leaves it as it is', async () => {
    const data = freshFolder()
    fs.mkdirSync(data)
    const file = path.join(data, databaseName)
    fs.writeFileSync(file, 'Dear diary, '.repeat(500))
    const problem = await refusal(openStore(data), 'store_not_a_database')
    expect(problem.message).toBe(
      `${file} is not a SQLite database; put the right file in its place, or name another data folder`,
    )
    expect(fs.readFileSync(file, 'utf8')).toBe('Dear diary, '.repeat(500))
  })

  it('does not make anything when it only reads', async () => {
    const data = freshFolder()
    const problem = await refusal(openStore(data, { readOnly: true }), 'store_missing')
    expect(problem.message).toContain('name the data folder of an installation that was started once')
    expect(fs.existsSync(data)).toBe(false)
  })

  it('refuses a commit that the disk has no room for, and takes the next one that fits', async () => {
    const store = await openStore(freshFolder(), { maxBytes: 600_000 })
    const run = aRun()
    await store.ledger.commit(firstCommit(run))
    const bytes = new Uint8Array(1_000_000)
    const value = { hash: sha256(bytes), mediaType: 'application/octet-stream', bytes }
    const problem = await refusal(
      store.ledger.commit(nextCommit(run, 1, 2, { values: [value] })),
      'store_full',
    )
    expect(problem.message).toMatch(
      /^The disk that holds .*holdpoint\.db is full, so nothing was written; free some space/,
    )
    expect(await store.ledger.rows(run.runId, 1, 10)).toEqual([])
    await store.ledger.commit(nextCommit(run, 1, 2))
    expect((await store.runs.get(run.runId))?.seq).toBe(3)
    await store.close()
  })

  it('says so when the data folder cannot be made', async () => {
    const file = path.join(folder, 'a-file')
    fs.writeFileSync(file, '')
    const problem = await refusal(openStore(path.join(file, 'data')), 'store_read_only')
    expect(problem.message).toBe(
      `The data folder ${file}/data cannot be made: ${file} takes no folders (ENOTDIR); name a data folder on a disk that can be written to`,
    )
  })

  it.runIf(fs.existsSync('/proc/self'))('does not hang where nothing can be made', async () => {
    const problem = await refusal(openStore('/proc/holdpoint'), 'store_read_only')
    expect(problem.message).toContain('The data folder /proc/holdpoint cannot be made')
  })

  it('says so when the data folder is for reading only, and leaves it as it was', async () => {
    const data = freshFolder()
    await (await openStore(data)).close()
    const file = path.join(data, databaseName)
    fs.chmodSync(folder, 0o755)
    fs.chmodSync(file, 0o444)
    fs.chmodSync(data, 0o555)
    const before = fs.readFileSync(file)
    // Root may write anywhere: as root, the question is put by a process of somebody else.
    const somebody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    const program = path.join(import.meta.dirname, 'commit-storm.ts')
    const child = spawn(process.execPath, ['--import', 'tsx', program, data, '1', '1'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...somebody,
    })
    let said = ''
    child.stderr?.on('data', (chunk) => (said += chunk))
    const [exitCode] = await once(child, 'close')
    expect(exitCode).toBe(1)
    expect(said).toContain(
      `${file} cannot be written to by this user, so nothing was written; make the data folder writable for the user that runs Holdpoint`,
    )
    expect(said).toContain("code: 'store_read_only'")
    expect(fs.readFileSync(file).equals(before)).toBe(true)
    fs.chmodSync(data, 0o700)
  })
})
