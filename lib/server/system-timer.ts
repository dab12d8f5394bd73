import { systemClock } from '@/lib/base/clock'
import type { Timer } from '@/lib/worker/timer'

/** The machine's clock and its timers. */
export const systemTimer: Timer = {
  now: systemClock.now,
  waitUntil: (until, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      // A longer wait than a timer can hold is looked at again after this.
      const timer = setTimeout(done, Math.min(Math.max(0, until - Date.now()), 2 ** 31 - 1))
      signal.addEventListener('abort', done, { once: true })
      function done() {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
    }),
}

/**
 * The same, by the time as of this turn of the event loop: to look at the clock twice costs as much as all the rest of a
 * call through a breaker. What it is late by is what the turn has taken so far.
 */
export const timerOfTurns: Timer = { ...systemTimer, now: onceATurn(systemTimer.now) }

function onceATurn(now: () => number): () => number {
  let known = Number.NaN
  const isOver = () => {
    known = Number.NaN
  }
  return () => {
    if (Number.isNaN(known)) {
      known = now()
      setImmediate(isOver)
    }
    return known
  }
}
