import type { CallCounts } from './terms'

/** Longest window there is, seconds: as long as calls are remembered in the store. */
export const maxWindowS = 3600

/**
 * Calls of the last seconds, by the second they ended in. A ring of one bucket a second: what is in it costs the same
 * whether a window saw one call or a million, and adding one allocates nothing. A second is in the window as long as
 * any part of it is, so a window of 60 s looks back 60 to 61.
 */
export class CallWindow {
  readonly seconds: number
  readonly #calls: Uint32Array
  readonly #failures: Uint32Array
  /** The second that is counted now, outside of the ring, and its calls. */
  #head = -1
  #callsNow = 0
  #failuresNow = 0
  /** Read in place by whoever decides; copy what is to be kept. */
  readonly counts: { calls: number; failures: number } = { calls: 0, failures: 0 }

  /** Throws RangeError for a window that is not 1 to 3,600 whole seconds. */
  constructor(windowS: number) {
    if (!Number.isInteger(windowS) || windowS < 1 || windowS > maxWindowS) {
      throw new RangeError(`A window of ${windowS} s; expected 1 to ${maxWindowS} whole seconds`)
    }
    this.seconds = windowS
    // One more than the window is long: the oldest second is in it in part.
    this.#calls = new Uint32Array(windowS + 1)
    this.#failures = new Uint32Array(windowS + 1)
  }

  /** A call ended. A clock that was set back is taken for the latest second there was. */
  add(ok: boolean, now: number): void {
    const second = Math.floor(now / 1000)
    if (second > this.#head) this.#moveTo(second)
    this.#callsNow++
    this.counts.calls++
    if (ok) return
    this.#failuresNow++
    this.counts.failures++
  }

  /** Counts as of now, in place. */
  at(now: number): Readonly<CallCounts> {
    const second = Math.floor(now / 1000)
    if (second > this.#head) this.#moveTo(second)
    return this.counts
  }

  /** Forgets everything (a circuit has closed). */
  reset(): void {
    this.#calls.fill(0)
    this.#failures.fill(0)
    this.#callsNow = 0
    this.#failuresNow = 0
    this.counts.calls = 0
    this.counts.failures = 0
  }

  /** Puts the second that is over into the ring, and drops those that have left the window. */
  #moveTo(second: number): void {
    const size = this.#calls.length
    if (this.#head >= 0) {
      this.#calls[this.#head % size] = this.#callsNow
      this.#failures[this.#head % size] = this.#failuresNow
    }
    this.#callsNow = 0
    this.#failuresNow = 0
    if (second - this.#head >= size) this.reset()
    else for (let passed = this.#head + 1; passed <= second; passed++) this.#drop(passed % size)
    this.#head = second
  }

  #drop(at: number): void {
    this.counts.calls -= this.#calls[at] as number
    this.counts.failures -= this.#failures[at] as number
    this.#calls[at] = 0
    this.#failures[at] = 0
  }
}
