/*
 * Latency spikes (cascade section 5.1): is the 99th percentile of the last calls over three times what is usual? What is
 * usual is an exponentially weighted mean of such percentiles, one for each full round of calls. A round that is a spike
 * does not move the baseline, or a slow downstream would soon be the usual one; only after many such rounds in a row is
 * the new pace taken as given.
 */

/** Calls of one round: what a 99th percentile can be told of. It is the second longest of them. */
export const roundCalls = 100
const weight = 0.2
const spikeFactor = 3
/** Rounds before a baseline is believed. */
const roundsToKnow = 2
/** Rounds in a row that are spikes before they are how it is now. */
const roundsToGetUsedTo = 20
/** Faster than this nobody minds, whatever it was before. */
const leastMs = 50

export interface Spike {
  p99Ms: number
  usualMs: number
}

/** Watches the calls to one downstream: two numbers a round, and two comparisons a call. */
export class LatencyWatch {
  #filled = 0
  #longestMs = 0
  #secondMs = 0
  #rounds = 0
  #spikes = 0
  #usualMs = 0
  #latestMs = 0

  /** A call took so long. A spike is told of once, when its first round is full. */
  add(ms: number): Spike | undefined {
    if (ms > this.#secondMs) {
      this.#secondMs = Math.min(ms, this.#longestMs)
      this.#longestMs = Math.max(ms, this.#longestMs)
    }
    if (++this.#filled < roundCalls) return undefined
    const p99Ms = this.#secondMs
    this.#filled = 0
    this.#longestMs = 0
    this.#secondMs = 0
    return this.#close(p99Ms)
  }

  /** The latest round's percentile and the baseline; undefined before both are known. */
  get latest(): Spike | undefined {
    return this.#rounds < roundsToKnow ? undefined : { p99Ms: this.#latestMs, usualMs: this.#usualMs }
  }

  #close(p99Ms: number): Spike | undefined {
    this.#latestMs = p99Ms
    const isSpike = this.#rounds >= roundsToKnow && p99Ms > leastMs && p99Ms > spikeFactor * this.#usualMs
    if (isSpike && ++this.#spikes < roundsToGetUsedTo) {
      return this.#spikes === 1 ? { p99Ms, usualMs: this.#usualMs } : undefined
    }
    this.#usualMs = this.#rounds === 0 || isSpike ? p99Ms : this.#usualMs + weight * (p99Ms - this.#usualMs)
    this.#rounds++
    this.#spikes = 0
    return undefined
  }
}
