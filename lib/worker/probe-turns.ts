import type { Timer } from './timer'

interface Probe {
  over: Promise<void>
  end(): void
}

/**
 * Probes that this process has out, by downstream: however many circuits lead to it, one goes at a time. Between processes
 * the store holds the same (`probe_taken`); this lets those of one process wait for each other instead of being refused.
 */
export class ProbeTurns {
  readonly #timer: Pick<Timer, 'now' | 'waitUntil'>
  readonly #out = new Map<string, Probe>()

  constructor(timer: Pick<Timer, 'now' | 'waitUntil'>) {
    this.#timer = timer
  }

  /** True while one is out. */
  isOut(downstream: string): boolean {
    return this.#out.has(downstream)
  }

  /** Waits for the probe that is out, at most until then (ms since the epoch); false when it still is. */
  async waitFor(downstream: string, until: number): Promise<boolean> {
    const probe = this.#out.get(downstream)
    if (!probe) return true
    if (this.#timer.now() >= until) return false
    const over = new AbortController()
    await Promise.race([probe.over, this.#timer.waitUntil(until, over.signal)])
    over.abort()
    return this.#out.get(downstream) !== probe
  }

  /** Marks one as out. */
  begin(downstream: string): void {
    let resolve: () => void = () => undefined
    const over = new Promise<void>((done) => {
      resolve = done
    })
    this.#out.set(downstream, { over, end: resolve })
  }

  /** It came back, or never went. */
  end(downstream: string): void {
    this.#out.get(downstream)?.end()
    this.#out.delete(downstream)
  }
}
