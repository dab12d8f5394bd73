import { Problem } from '@/lib/base/problem'
import type { RateStore } from '@/lib/store/rate-store'

/** Requests an agent may make of the protocol endpoints, as many at once as in a minute. */
export const requestsPerMinute = 240
/** Askers that are held off here without asking the store; more than one installation has. */
const maxHeldOff = 10_000

/** Says that somebody asks too often. */
type TooMany = (who: string, perMinute: number) => string

const asksTooOften: TooMany = (who, perMinute) =>
  `${who} asks more than ${perMinute} times a minute; ask again`

/**
 * How often agents and people ask, of every process on the store together. One for all doors: who floods one is held off at
 * each of them. Who was refused is held off in memory until there is something to take again, so a flood costs the store nothing.
 */
export class AskRates {
  readonly #store: RateStore
  readonly #what: string
  readonly #perMinute: number
  readonly #words: TooMany
  /** Until when, ms since the epoch. */
  readonly #heldOff = new Map<string, number>()

  /** `words`: the refusal, but for how long to wait. */
  constructor(store: RateStore, what: string, perMinute: number, words = asksTooOften) {
    this.#store = store
    this.#what = what
    this.#perMinute = perMinute
    this.#words = words
  }

  /**
   * Counts a request of somebody whose identity is verified. Throws Problem `too_many_requests` with how long to wait.
   * `now` in ms; `name`: as the refusal calls them.
   */
  async spend(who: string, now: number, name = who): Promise<void> {
    const until = this.#heldOff.get(who) ?? now
    if (now < until) throw this.#tooMany(name, until - now)
    const waitMs = await this.#store.take(who, this.#what, this.#perMinute, now)
    this.#heldOff.delete(who)
    if (waitMs === 0) return
    this.#heldOff.set(who, now + waitMs)
    if (this.#heldOff.size > maxHeldOff) this.#heldOff.delete(this.#heldOff.keys().next().value as string)
    throw this.#tooMany(name, waitMs)
  }

  /** Counts so many more, after one was spent; what is too many is missed next time. */
  owe(who: string, count: number): Promise<void> {
    return this.#store.owe(who, this.#what, count)
  }

  #tooMany(name: string, waitMs: number): Problem {
    const retryAfterS = Math.ceil(waitMs / 1000)
    return new Problem('too_many_requests', `${this.#words(name, this.#perMinute)} in ${retryAfterS} s.`, {
      retryAfterS,
    })
  }
}
