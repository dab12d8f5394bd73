import { Problem } from '@/lib/base/problem'
import type { RateStore } from '@/lib/store/rate-store'

/** Requests an agent may make of the protocol endpoints, as many at once as in a minute. */
export const requestsPerMinute = 240
/** Agents that are held off here without asking the store; more than one installation has. */
const maxHeldOff = 10_000

/**
 * How often agents ask, of every process on the store together. One for all doors: who floods one is held off at each of
 * them. Who was refused is held off in memory until there is something to take again, so a flood costs the store nothing.
 */
export class AgentRates {
  readonly #store: RateStore
  readonly #what: string
  readonly #perMinute: number
  /** Until when, ms since the epoch. */
  readonly #heldOff = new Map<string, number>()

  constructor(store: RateStore, what: string, perMinute: number) {
    this.#store = store
    this.#what = what
    this.#perMinute = perMinute
  }

  /** Counts a request of a verified agent. Throws Problem `too_many_requests` with how long to wait. `now` in ms. */
  async spend(agent: string, now: number): Promise<void> {
    const until = this.#heldOff.get(agent) ?? now
    if (now < until) throw this.#tooMany(agent, until - now)
    const waitMs = await this.#store.take(agent, this.#what, this.#perMinute, now)
    this.#heldOff.delete(agent)
    if (waitMs === 0) return
    this.#heldOff.set(agent, now + waitMs)
    if (this.#heldOff.size > maxHeldOff) this.#heldOff.delete(this.#heldOff.keys().next().value as string)
    throw this.#tooMany(agent, waitMs)
  }

  /** Counts so many more, after one was spent; what is too many is missed next time. */
  owe(agent: string, count: number): Promise<void> {
    return this.#store.owe(agent, this.#what, count)
  }

  #tooMany(agent: string, waitMs: number): Problem {
    const retryAfterS = Math.ceil(waitMs / 1000)
    return new Problem(
      'too_many_requests',
      `${agent} asks more than ${this.#perMinute} times a minute; ask again in ${retryAfterS} s.`,
      { retryAfterS },
    )
  }
}
