import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { controlOf } from './control'
import { memoryStore } from './memory'
import { databaseName, openStore } from './open'
import { refusal } from './refusal-of'
import { aRun, firstCommit, nextCommit } from './story'
import { WriteGate } from './write-gate'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-control-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
let count = 0
const freshFolder = () => path.join(folder, `data-${++count}`)

const workflow = (version: string) => ({
  version,
  name: 'deploy',
  description: '',
  format: 'atd',
  source: '{}',
  mediaType: 'application/json',
  importedAt: 1n,
  importedBy: 'person:ada',
  nodeCount: 1,
})

describe('Prisma and the ledger in one process', () => {
  it('do not stop each other: commits wait for a transaction that is under way, and go on', async () => {
    const store = await openStore(freshFolder())
    const run = aRun()
    await store.ledger.commit(firstCommit(run))
    const order: string[] = []
    const commits: Promise<unknown>[] = []
    await controlOf(store).write((prisma) =>
      prisma.$transaction(async (tx) => {
        await tx.workflow.create({ data: workflow('v1') })
        // Prisma holds the file's write lock now, and the event loop goes on.
        commits.push(store.ledger.commit(nextCommit(run, 1, 1)).then(() => order.push('commit')))
        await new Promise(setImmediate)
        await tx.workflow.create({ data: workflow('v2') })
        order.push('transaction')
      }),
    )
    await Promise.all(commits)
    expect(order).toEqual(['transaction', 'commit'])
    await store.close()
  })

  it('keep their order under load, and lose nothing', async () => {
    const store = await openStore(freshFolder())
    const runs = Array.from({ length: 20 }, aRun)
    await Promise.all(
      runs.map(async (run, index) => {
        await store.ledger.commit(firstCommit(run))
        await controlOf(store).write((prisma) => prisma.workflow.create({ data: workflow(`w${index}`) }))
        await store.ledger.commit(nextCommit(run, 1, 2))
      }),
    )
    expect(await store.ledger.lastPosition()).toBe(60)
    expect((await store.workflows.summaries())[0]?.versions).toBe(20)
    await store.close()
  })

  it('write with the disk synced', async () => {
    const store = await openStore(freshFolder())
    const [row] = await controlOf(store).read(
      (prisma) => prisma.$queryRaw<{ synchronous: bigint }[]>`PRAGMA synchronous`,
    )
    expect(Number(row?.synchronous)).toBe(2)
    await store.close()
  })

  it('say that the file is busy when another process keeps it locked', async () => {
    const data = freshFolder()
    const store = await openStore(data, { busyLimitMs: 100 })
    const run = aRun()
    await store.ledger.commit(firstCommit(run))
    const other = new Database(path.join(data, databaseName))
    other.exec('BEGIN IMMEDIATE')
    const problem = await refusal(store.ledger.commit(nextCommit(run, 1, 1)), 'store_busy')
    expect(problem.message).toMatch(/^Another process has kept .*holdpoint\.db locked for too long/)
    other.exec('COMMIT')
    other.close()
    await store.ledger.commit(nextCommit(run, 1, 1))
    await store.close()
  })

  it('has no Prisma behind a store in memory', () => {
    expect(() => controlOf(memoryStore())).toThrow('This store has no database behind it')
  })
})

describe('the write gate', () => {
  it('lets one in at a time, in the order they asked, and survives one that throws', async () => {
    const gate = new WriteGate()
    const order: string[] = []
    const visit = (name: string) =>
      gate.hold(async () => {
        order.push(`${name} in`)
        await new Promise(setImmediate)
        order.push(`${name} out`)
        if (name === 'b') throw new Error('b fails')
      })
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(visit))
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})
