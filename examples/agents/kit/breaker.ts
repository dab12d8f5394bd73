/*
 * A breaker for each agent that this one calls (cascade section 4): closed until more than half of a minute's calls failed,
 * then open for 30 s, then one probe; a failed probe doubles the pause, up to 300 s.
 */
import { Refusal } from './terms'

interface Circuit {
  state: 'closed' | 'open' | 'half_open'
  calls: { at: number; ok: boolean }[]
  /** When a probe may go; when half-open, when it counts as failed. */
  until: number
  cooldownS: number
  errorRate: number
  lastFailure?: number
}

const fresh: Circuit = { state: 'closed', calls: [], until: 0, cooldownS: 30, errorRate: 0 }
const [windowS, threshold, minCalls, maxCooldownS, probeS] = [60, 0.5, 5, 300, 30]

export class Breaker {
  readonly #circuits = new Map<string, Circuit>()

  constructor(readonly now: () => number = Date.now) {}

  /** Makes the call, or refuses it while the circuit is open. Only an answer that `verified` accepts ends a probe well. */
  async through<T>(downstream: string, call: () => Promise<T>, verified = (_answer: T) => true): Promise<T> {
    const circuit = this.#circuits.get(downstream) ?? { ...fresh }
    this.#circuits.set(downstream, circuit)
    const isProbe = circuit.state !== 'closed'
    if (isProbe) this.#letProbe(circuit, downstream)
    try {
      const answer = await call()
      this.#over(circuit, isProbe, !isProbe || verified(answer))
      return answer
    } catch (error) {
      this.#over(circuit, isProbe, false)
      throw error
    }
  }

  /** As `GET /.well-known/cascade/circuits` shows them. */
  circuits() {
    return [...this.#circuits].map(([downstream_agent, { state, errorRate, lastFailure, until }]) => {
      const cooldown_remaining_s = state === 'open' ? Math.max(0, Math.ceil((until - this.now()) / 1000)) : 0
      const last_failure = lastFailure && new Date(lastFailure).toISOString()
      const rate = { error_rate: errorRate, window_s: windowS }
      return { downstream_agent, state, ...rate, last_failure, cooldown_remaining_s, forced: false }
    })
  }

  #letProbe(circuit: Circuit, downstream: string): void {
    const waitS = Math.ceil((circuit.until - this.now()) / 1000)
    if (waitS > 0) {
      const more = {
        error_type: 'circuit_open',
        downstream_agent: downstream,
        retry_after_s: waitS,
        retriable: true,
      }
      throw new Refusal(503, 'circuit_open', `${downstream} keeps failing; ask again in ${waitS} s.`, more)
    }
    Object.assign(circuit, { state: 'half_open', until: this.now() + probeS * 1000 })
  }

  #over(circuit: Circuit, isProbe: boolean, ok: boolean): void {
    const at = this.now()
    if (!ok) circuit.lastFailure = at
    if (isProbe && ok) Object.assign(circuit, { ...fresh, lastFailure: circuit.lastFailure })
    else if (isProbe) this.#open(circuit, Math.min(circuit.cooldownS * 2, maxCooldownS))
    else if (circuit.state === 'closed') {
      const recent = circuit.calls.filter((one) => one.at > at - windowS * 1000).slice(-999)
      circuit.calls = [...recent, { at, ok }]
      circuit.errorRate = circuit.calls.filter((one) => !one.ok).length / circuit.calls.length
      if (circuit.calls.length >= minCalls && circuit.errorRate > threshold)
        this.#open(circuit, fresh.cooldownS)
    }
  }

  #open(circuit: Circuit, cooldownS: number): void {
    Object.assign(circuit, { state: 'open', cooldownS, until: this.now() + cooldownS * 1000 })
  }
}
