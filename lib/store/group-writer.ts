import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Statement } from 'better-sqlite3'
import { isProblem, Problem } from '@/lib/base/problem'
import { asStoreProblem, failsEveryWrite, storageCode } from './sqlite-problem'
import type { WriteGate } from './write-gate'

/*
 * Group commit. A durable commit costs one sync of the disk however much is in it, so writes that arrive while one
 * transaction is under way wait and go together into the next one:
 *
 *   run 1 ──commit──┐                       ┌──────────────────────────────┐
 *   run 2 ──commit──┼─▶ queue (bounded) ──▶ │ BEGIN  1 ✓  2 ✗ fence  3 ✓   │ one sync, then 1 and 3 resolve, 2 rejects
 *   run 3 ──commit──┘                       │ COMMIT                       │
 *                                           └──────────────────────────────┘
 *
 * Each write is judged alone: it says no (a Problem) before it has written anything, and the others go through. An
 * unforeseen error after it has written (a broken constraint) takes the group back, and every write of it is tried in a
 * transaction of its own, so that the one at fault fails alone.
 *
 * Measured on two cores, two tokens of about 900 bytes a commit, each transaction synced. One commit after another: the
 * bare driver 3,700 a second, Prisma's interactive transaction with raw statements 1,190, its batch transaction 700. So
 * the ledger writes with hand-prepared statements on a connection of its own, which takes 1.2 times what the bare driver
 * does for the same rows (1 run: 2,133 beside 2,694 commits a second; 200 runs at once: 12,889 beside 15,199; 50 µs of
 * processor a commit beside 31), and Prisma keeps what people change. `npm run bench` measures again.
 */
const maxGroupJobs = 500
const maxGroupBytes = 16 * 1024 * 1024
const maxQueuedJobs = 20_000
const maxQueuedBytes = 256 * 1024 * 1024
/** Another process holds the lock for the length of one group, some milliseconds; ten seconds of it is a fault. */
export const busyLimitMs = 10_000

interface Job {
  bytes: number
  /** Writes, and gives back the result; throws a Problem only before it has written anything. */
  apply(): unknown
  /** Called when the result is durable, in the order of writing. */
  durable?(result: unknown): void
  resolve(result: unknown): void
  reject(error: unknown): void
}

type Outcome = { ok: true; result: unknown } | { ok: false; error: unknown }

export class GroupWriter {
  readonly #db: Database
  readonly #gate: WriteGate
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #busyLimitMs: number
  #queue: Job[] = []
  #queuedBytes = 0
  #draining: Promise<void> | undefined

  constructor(db: Database, gate: WriteGate, limitMs = busyLimitMs) {
    this.#busyLimitMs = limitMs
    this.#db = db
    this.#gate = gate
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#rollback = db.prepare('ROLLBACK')
  }

  /**
   * Writes within the next transaction; resolves when that is on the disk.
   *
   * @param bytes about how much it writes, to bound a group
   * @param apply writes; throws a Problem only before it has written anything; may be run a second time after a
   *   transaction that was taken back
   * @param durable called once the write is durable, before the promise resolves, in the order of writing
   */
  submit<T>(bytes: number, apply: () => T, durable?: (result: T) => void): Promise<T> {
    if (this.#queue.length >= maxQueuedJobs || this.#queuedBytes + bytes > maxQueuedBytes) {
      throw new Problem(
        'store_busy',
        `${this.#queue.length} writes (${this.#queuedBytes} bytes) are waiting for the disk already; try again in a moment`,
      )
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ bytes, apply, durable, resolve, reject } as Job)
      this.#queuedBytes += bytes
      this.#draining ??= this.#drain()
    })
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#draining
  }

  async #drain(): Promise<void> {
    try {
      do {
        // Whatever else this turn of the event loop brings joins the group.
        await nextTurn()
        await this.#gate.hold(() => this.#writeGroup(this.#takeGroup()))
      } while (this.#queue.length > 0)
    } catch (error) {
      // The gate refused: its line is full. Whoever waits here is told so.
      for (const job of this.#takeAll()) job.reject(error)
    } finally {
      this.#draining = undefined
    }
  }

  #takeGroup(): Job[] {
    let bytes = 0
    let count = 0
    for (const job of this.#queue) {
      if (count === maxGroupJobs || (count > 0 && bytes + job.bytes > maxGroupBytes)) break
      bytes += job.bytes
      count++
    }
    this.#queuedBytes -= bytes
    if (count === this.#queue.length) {
      const group = this.#queue
      this.#queue = []
      return group
    }
    return this.#queue.splice(0, count)
  }

  #takeAll(): Job[] {
    const jobs = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    return jobs
  }

  async #writeGroup(group: Job[]): Promise<void> {
    let outcomes: Outcome[]
    try {
      await this.#beginWhenFree()
      outcomes = this.#writeAll(group)
    } catch (error) {
      if (group.length > 1 && !failsEveryWrite(error)) {
        for (const job of group) await this.#writeGroup([job])
        return
      }
      const told = asStoreProblem(error, this.#db.name)
      for (const job of group) job.reject(told)
      return
    }
    for (const [index, job] of group.entries()) {
      const outcome = outcomes[index] as Outcome
      if (outcome.ok) job.durable?.(outcome.result)
    }
    for (const [index, job] of group.entries()) {
      const outcome = outcomes[index] as Outcome
      if (outcome.ok) job.resolve(outcome.result)
      else job.reject(outcome.error)
    }
  }

  /** Waits for other processes without blocking the event loop for more than the connection's few milliseconds. */
  async #beginWhenFree(): Promise<void> {
    let waitedMs = 0
    for (let attempt = 0; ; attempt++) {
      try {
        this.#begin.run()
        return
      } catch (error) {
        if (!storageCode(error)?.startsWith('SQLITE_BUSY') || waitedMs >= this.#busyLimitMs) throw error
      }
      const pauseMs = 1 + (attempt % 8)
      await delay(pauseMs)
      waitedMs += pauseMs + 10
    }
  }

  /** One transaction, without a turn of the event loop between its ends. */
  #writeAll(group: Job[]): Outcome[] {
    try {
      const outcomes = group.map((job): Outcome => {
        try {
          return { ok: true, result: job.apply() }
        } catch (error) {
          if (!isProblem(error)) throw error
          return { ok: false, error }
        }
      })
      this.#commit.run()
      return outcomes
    } catch (error) {
      // A full disk has already taken it back.
      if (this.#db.inTransaction) this.#rollback.run()
      throw error
    }
  }
}
