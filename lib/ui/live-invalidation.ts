import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { StreamEvent } from '@/lib/view/wire'
import { keys } from './keys'

/** The answers an event makes old: a run's row, and whatever a list says of it. Its ledger has a stream of its own. */
function touchedBy(event: Pick<StreamEvent, 'run'>): QueryKey[] {
  return [keys.runs, keys.overview, keys.approvals, keys.runDetail(event.run)]
}

/** 150 ms: a step's three tokens are one refresh, and a person still calls it at once. */
const gatherMs = 150

/**
 * Marks answers as old when events come, a few at a time. While one round is being fetched the next gathers, so a busy
 * installation costs one request in flight per list and never a queue of them; the last event is always followed by a
 * fetch that began after it.
 */
export class Invalidation {
  readonly #client: QueryClient
  readonly #pending = new Map<string, QueryKey>()
  #running = false

  constructor(client: QueryClient) {
    this.#client = client
  }

  add(event: StreamEvent): void {
    for (const key of touchedBy(event)) this.#pending.set(JSON.stringify(key), key)
    void this.#run()
  }

  /** These answers are old; only a page that shows them asks again. */
  addKey(key: QueryKey): void {
    this.#pending.set(JSON.stringify(key), key)
    void this.#run()
  }

  /** Everything live is old: the stream was opened, and what was fetched before it may have missed something. */
  addAll(): void {
    const details = this.#client
      .getQueryCache()
      .getAll()
      .map((query) => query.queryKey)
      .filter(([room, , part]) => room === 'run' && part === 'detail')
    for (const key of [keys.runs, keys.overview, keys.approvals, keys.circuits, ...details]) {
      this.#pending.set(JSON.stringify(key), key)
    }
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    try {
      while (this.#pending.size > 0) {
        await new Promise((resolve) => setTimeout(resolve, gatherMs))
        const round = [...this.#pending.values()]
        this.#pending.clear()
        await Promise.all(round.map((queryKey) => this.#client.invalidateQueries({ queryKey })))
      }
    } finally {
      this.#running = false
    }
  }
}
