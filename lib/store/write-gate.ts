import { Problem } from '@/lib/base/problem'

/** Waiting in line for longer than a busy minute is no use to anyone. */
const maxWaiting = 10_000

/**
 * One writer at a time on one database file within this process. SQLite has one write lock a file; a transaction of
 * Prisma holds it across turns of the event loop, and the ledger's connection would block that same event loop while it
 * waits for the lock: the process would stand still until the timeout. So both come through here first, in the order
 * they asked. Other processes are kept apart by SQLite itself.
 */
export class WriteGate {
  #held = false
  readonly #waiting: (() => void)[] = []

  /** Runs the work when nobody else of this process writes. Throws Problem `store_busy` when the line is too long. */
  async hold<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#held) await this.#queue()
    this.#held = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // Handed over without being free in between, so that nobody overtakes.
      if (next) next()
      else this.#held = false
    }
  }

  #queue(): Promise<void> {
    if (this.#waiting.length >= maxWaiting) {
      throw new Problem(
        'store_busy',
        `${maxWaiting} writes are waiting for the database already; try again in a moment`,
      )
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}

const gates = Symbol.for('holdpoint.store.writeGates')

/**
 * The gate of a database file. Kept on globalThis: a bundler may load this module more than once into one process, and
 * two gates would be none.
 */
export function gateOf(file: string): WriteGate {
  const holder = globalThis as { [gates]?: Map<string, WriteGate> }
  holder[gates] ??= new Map()
  let gate = holder[gates].get(file)
  if (!gate) {
    gate = new WriteGate()
    holder[gates].set(file, gate)
  }
  return gate
}
