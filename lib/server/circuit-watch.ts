import { isProblem } from '@/lib/base/problem'
import type { CircuitStore } from '@/lib/engine/circuit-ports'

/** How often changes are looked for while somebody listens: one question to an index, some microseconds. */
const lookMs = 250

/**
 * Tells listeners that a breaker changed or a hold came or went, whichever process did it. They are told that it is so,
 * not what it was: who shows breakers asks again. Nothing is looked for while nobody listens.
 */
export class CircuitWatch {
  readonly #circuits: Pick<CircuitStore, 'news'>
  readonly #failed: (error: unknown) => void
  readonly #listeners = new Set<(mark: number) => void>()
  #timer: NodeJS.Timeout | undefined
  #mark = 0
  #holds = ''
  #reportedAt = 0
  #looking = false

  /** `failed` is told of a look that could not be had; the next one is taken all the same. */
  constructor(circuits: Pick<CircuitStore, 'news'>, failed: (error: unknown) => void) {
    this.#circuits = circuits
    this.#failed = failed
  }

  /** Calls back with the newest mark after every change from now on. Returns the function that stops it. */
  listen(listener: (mark: number) => void): () => void {
    const own = (mark: number) => listener(mark)
    this.#listeners.add(own)
    this.#timer ??= this.#start()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #start(): NodeJS.Timeout {
    // What was before is in what its listeners have read.
    void this.#look(false)
    const timer = setInterval(() => void this.#look(true), lookMs)
    timer.unref()
    return timer
  }

  async #look(tells: boolean): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const { circuits, holds, reportedAt } = await this.#circuits.news(this.#mark)
      const held = JSON.stringify(
        holds.map(({ downstream, approval, releasedAt = 0 }) => [downstream, approval, releasedAt]).sort(),
      )
      const changed = circuits.length > 0 || held !== this.#holds || reportedAt !== this.#reportedAt
      for (const { mark } of circuits) this.#mark = Math.max(this.#mark, mark)
      this.#holds = held
      this.#reportedAt = reportedAt
      if (changed && tells) for (const listener of this.#listeners) listener(this.#mark)
    } catch (error) {
      if (!isProblem(error)) this.#failed(error)
    } finally {
      this.#looking = false
    }
  }
}
