import { Problem } from '@/lib/base/problem'

/** Work that is too dear to do much of at once: a few at a time, a short line behind them, and the rest is told to wait. */
export class Turns {
  #running = 0
  readonly #line: (() => void)[] = []

  constructor(
    readonly atOnce: number,
    readonly inLine: number,
  ) {}

  /** Does the work when its turn comes. Throws Problem `too_many_attempts`, at once, when the line is full. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.atOnce) this.#running++
    else await this.#queue()
    try {
      return await work()
    } finally {
      const next = this.#line.shift()
      // Handed over without being free in between, so that nobody overtakes.
      if (next) next()
      else this.#running--
    }
  }

  #queue(): Promise<void> {
    if (this.#line.length >= this.inLine) {
      throw new Problem(
        'too_many_attempts',
        'Too many people are signing in at this moment; try again in a few seconds.',
        { retryAfterS: 5 },
      )
    }
    return new Promise((resolve) => this.#line.push(resolve))
  }
}
