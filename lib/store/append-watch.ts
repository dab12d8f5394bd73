import type { RunId } from '@/lib/base/ids'
import type { AppendEvent } from './store'

/** What the watch asks of the database. */
export interface WatchedLedger {
  lastPosition(): number
  /** Run and position of the rows with `after < position <= through`, in order. */
  between(after: number, through: number): { runId: RunId; position: number }[]
  /** Changes when another connection has committed. */
  dataVersion(): number
}

/**
 * How often other processes' commits are looked for while somebody listens. SQLite tells nobody of a change, but
 * `PRAGMA data_version` answers from shared memory in about two microseconds, so five looks a second cost nothing that
 * can be measured; watching the file's time would miss writes within its resolution and wake for checkpoints.
 */
const pollMs = 200
/** Rows read at once while catching up with another process. */
const catchUpRows = 10_000

/**
 * Tells listeners of appended rows, in the order of positions, each once: those of this process as they become durable,
 * those of other processes when the poll finds them. A gap before rows of one's own is another process's and told first.
 */
export class AppendWatch {
  readonly #ledger: WatchedLedger
  readonly #listeners = new Set<(event: AppendEvent) => void>()
  #announced = 0
  #seenVersion = 0
  #timer: NodeJS.Timeout | undefined

  constructor(ledger: WatchedLedger) {
    this.#ledger = ledger
  }

  /** Calls back for every append from now on. Returns the function that stops it. */
  listen(listener: (event: AppendEvent) => void): () => void {
    if (this.#listeners.size === 0) this.#start()
    // An own function for each call: the same listener twice is two listeners.
    const own = (event: AppendEvent) => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  /** Rows of this process became durable. */
  durable(event: AppendEvent): void {
    if (this.#listeners.size === 0) return
    const first = event.positions[0] ?? 0
    // The poll, or a gap before another commit of the same group, may have told of them already.
    if (first <= this.#announced) return
    if (first > this.#announced + 1) this.#catchUp(first - 1)
    this.#announced = event.positions.at(-1) ?? first
    this.#tell(event)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #start(): void {
    this.#seenVersion = this.#ledger.dataVersion()
    this.#announced = this.#ledger.lastPosition()
    this.#timer = setInterval(() => this.#poll(), pollMs)
    this.#timer.unref()
  }

  #poll(): void {
    const version = this.#ledger.dataVersion()
    if (version === this.#seenVersion) return
    this.#seenVersion = version
    this.#catchUp(this.#ledger.lastPosition())
  }

  #catchUp(through: number): void {
    while (this.#announced < through) {
      const rows = this.#ledger.between(this.#announced, Math.min(through, this.#announced + catchUpRows))
      this.#announced = Math.min(through, this.#announced + catchUpRows)
      for (const event of byRun(rows)) this.#tell(event)
    }
  }

  #tell(event: AppendEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        process.emitWarning(`A listener for appended rows threw: ${(error as Error).message}`)
      }
    }
  }
}

/** Neighbouring rows of one run as one event, so that positions rise from event to event. */
function byRun(rows: { runId: RunId; position: number }[]): AppendEvent[] {
  const events: AppendEvent[] = []
  for (const { runId, position } of rows) {
    const last = events.at(-1)
    if (last?.runId === runId) last.positions.push(position)
    else events.push({ runId, positions: [position] })
  }
  return events
}
