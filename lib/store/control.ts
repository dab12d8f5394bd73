import { setTimeout as delay } from 'node:timers/promises'
import type { PrismaClient } from './generated/sqlite/client'
import { readOnly } from './refusals'
import { asStoreProblem, storageCode } from './sqlite-problem'
import type { Store } from './store'
import { gateOf } from './write-gate'

/** Tries of a write that meets another process's lock. Each waits a second inside SQLite first. */
const writeTries = 8

/**
 * Prisma, for what people change: workflows, lists, people, agents. Only files of lib/store may have one; they turn its
 * rows into domain values. A store file for another room is made like this:
 *
 *   export function openPeople(store: Store): People {
 *     const control = controlOf(store)
 *     return { byId: (id) => control.read((prisma) => prisma.person.findUnique({ where: { id } })).then(toPerson) … }
 *   }
 *
 * Prisma is loaded when it is first asked something: a command that only reads the ledger starts without it.
 */
export class Control {
  readonly #file: string
  readonly #readOnly: boolean
  #prisma: Promise<PrismaClient> | undefined

  constructor(file: string, isReadOnly: boolean) {
    this.#file = file
    this.#readOnly = isReadOnly
  }

  /** Asks. Throws the store's Problems. */
  async read<T>(work: (prisma: PrismaClient) => Promise<T>): Promise<T> {
    this.#prisma ??= connect(this.#file, this.#readOnly)
    try {
      return await work(await this.#prisma)
    } catch (error) {
      throw asStoreProblem(error, this.#file)
    }
  }

  /**
   * Changes, while nobody else of this process does. The work is one statement or one transaction that writes first:
   * SQLite lets a transaction that began by reading wait for nobody, so with a second process it fails. It may be run
   * again when another process was in the way. Throws the store's Problems (`store_busy`, `store_full`, `store_read_only`).
   */
  async write<T>(work: (prisma: PrismaClient) => Promise<T>): Promise<T> {
    if (this.#readOnly) throw readOnly(this.#file)
    for (let attempt = 1; ; attempt++) {
      try {
        return await gateOf(this.#file).hold(() => this.read(work))
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'store_busy' || attempt === writeTries) throw error
      }
      await delay(5 * attempt)
    }
  }

  async close(): Promise<void> {
    const prisma = await this.#prisma?.catch(() => undefined)
    await prisma?.$disconnect()
  }
}

/** True when a row with the same key was there already. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    (error as { code?: unknown }).code === 'P2002' || storageCode(error) === 'SQLITE_CONSTRAINT_PRIMARYKEY'
  )
}

async function connect(file: string, isReadOnly: boolean): Promise<PrismaClient> {
  const [{ PrismaClient }, { PrismaBetterSqlite3 }] = await Promise.all([
    import('./generated/sqlite/client'),
    import('@prisma/adapter-better-sqlite3'),
  ])
  const inner = new PrismaBetterSqlite3({
    url: file,
    readonly: isReadOnly,
    fileMustExist: true,
    timeout: 1_000,
  })
  const adapter = {
    provider: inner.provider as typeof inner.provider,
    adapterName: inner.adapterName,
    connect: async () => {
      const connection = await inner.connect()
      // The adapter leaves SQLite's default, which for a WAL build may be NORMAL: an answered write could be lost.
      await connection.executeScript('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;')
      return connection
    },
  }
  return new PrismaClient({ adapter, errorFormat: 'minimal' })
}

const controls = new WeakMap<Store, Control>()

/** Remembers what stands behind a store. For open.ts. */
export function attachControl(store: Store, control: Control): void {
  controls.set(store, control)
}

/** The Prisma side of a store made by `openStore`. Throws a TypeError for a store in memory. */
export function controlOf(store: Store): Control {
  const control = controls.get(store)
  if (!control) throw new TypeError('This store has no database behind it; open one with openStore')
  return control
}
