import type { Timer } from '@/lib/worker/timer'

/** The machine's clock, put forward at will: whoever waits for a time that is then past goes on at once. */
export class MovedClock implements Timer {
  #aheadMs = 0
  readonly #waiting = new Set<() => void>()

  now = (): number => Date.now() + this.#aheadMs

  waitUntil = (until: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const look = () => {
        clearTimeout(timer)
        if (signal.aborted || this.now() >= until) return done()
        timer = setTimeout(look, Math.min(until - this.now(), 2 ** 31 - 1))
      }
      let timer: NodeJS.Timeout | undefined
      this.#waiting.add(look)
      signal.addEventListener('abort', done, { once: true })
      look()
    })

  advance(ms: number): void {
    this.#aheadMs += ms
    for (const look of [...this.#waiting]) look()
  }
}
