import { Problem } from '@/lib/base/problem'

/** Requests an agent may make of the protocol endpoints, as many at once as in a minute. */
export const requestsPerMinute = 240
/** More agents than one installation has; the ones that asked longest ago are forgotten first. */
const maxAgents = 10_000

/** How often agents ask. One for all doors: who floods one is held off at each of them. */
export class AgentRates {
  readonly #left = new Map<string, { requests: number; at: number }>()
  readonly #perMinute: number

  constructor(perMinute = requestsPerMinute) {
    this.#perMinute = perMinute
  }

  /** Counts a request of a verified agent. Throws Problem `too_many_requests` with how long to wait. `now` in ms. */
  spend(agent: string, now: number): void {
    const known = this.#left.get(agent)
    const refilled = known ? ((now - known.at) / 60_000) * this.#perMinute : 0
    const requests = Math.min(this.#perMinute, (known?.requests ?? this.#perMinute) + Math.max(0, refilled))
    this.#left.delete(agent)
    this.#left.set(agent, { requests: requests < 1 ? requests : requests - 1, at: now })
    if (this.#left.size > maxAgents) this.#left.delete(this.#left.keys().next().value as string)
    if (requests >= 1) return
    const retryAfterS = Math.ceil(((1 - requests) / this.#perMinute) * 60)
    throw new Problem(
      'too_many_requests',
      `${agent} asks more than ${this.#perMinute} times a minute; ask again in ${retryAfterS} s.`,
      { retryAfterS },
    )
  }
}
