/*
 * Looks at what steps act on, for people: whoever opens a card has a file read or an agent asked. What that costs others is
 * bounded here:
 *
 *   who opens the same card within a few seconds of somebody else shares that look
 *   nobody causes more than so many looks a minute, over all processes on the store
 *
 * Who asks again wants to know anew, and is never given what they were given before. A decision looks for itself.
 */
import type { Principal } from '@/lib/auth/principal'
import type { Clock } from '@/lib/base/clock'
import type { RateStore } from '@/lib/store/rate-store'
import { AskRates } from './ask-rates'

/** Looks that one person may cause, as many at once as in a minute: faster than anybody reads cards. */
export const looksPerMinute = 60
/** How long a look serves others. */
const sharedMs = 3_000
/** Looks that are kept for others. Each may hold a preview of 512 KiB. */
const mostKept = 20

interface Look {
  at: number
  seen: Promise<unknown>
  by: Set<string>
  isOver: boolean
}

export class Looks {
  readonly #clock: Clock
  readonly #rates: AskRates
  /** By what is looked at; the oldest comes first. */
  readonly #kept = new Map<string, Look>()

  constructor(rates: RateStore, clock: Clock) {
    this.#clock = clock
    this.#rates = new AskRates(rates, 'looks', looksPerMinute, tooManyLooks)
  }

  /** Counts a look that `who` causes. Throws Problem `too_many_requests` with how long to wait. */
  spend(who: Principal): Promise<void> {
    return this.#rates.spend(keyOf(who), this.#clock.now(), who.name)
  }

  /** Looks at `what`, or shares the look of somebody who just did. Throws what `look` throws, and as `spend` does. */
  async shared<T>(who: Principal, what: string, look: () => Promise<T>): Promise<T> {
    const by = keyOf(who)
    if (this.#lookFor(by, what) === undefined) await this.spend(who)
    // Somebody else's may have begun meanwhile.
    const { by: askers, seen } = this.#lookFor(by, what) ?? this.#begin(what, look)
    askers.add(by)
    return seen as Promise<T>
  }

  /** One that is still under way, or was over a moment ago and is new to them. */
  #lookFor(by: string, what: string): Look | undefined {
    const now = this.#clock.now()
    for (const [kept, { at }] of this.#kept) {
      if (now - at < sharedMs && this.#kept.size < mostKept) break
      this.#kept.delete(kept)
    }
    const known = this.#kept.get(what)
    return known && (!known.isOver || !known.by.has(by)) ? known : undefined
  }

  #begin(what: string, look: () => Promise<unknown>): Look {
    const seen = look()
    const begun: Look = { at: this.#clock.now(), seen, by: new Set(), isOver: false }
    this.#kept.delete(what)
    this.#kept.set(what, begun)
    const over = () => {
      begun.isOver = true
    }
    // A failure serves nobody who comes after it.
    seen.then(over, () => this.#kept.get(what) === begun && this.#kept.delete(what))
    return begun
  }
}

function keyOf({ kind, id }: Principal): string {
  return `${kind}:${id}`
}

function tooManyLooks(name: string, perMinute: number): string {
  return `${name} had what steps act on looked at more than ${perMinute} times within a minute, and each time a file is read or an agent asked; look again`
}
