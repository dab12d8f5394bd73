/*
 * A breaker for each agent that this one calls (cascade section 4): closed until more than half of a minute's calls failed,
 * then open for 30 s, then one probe; a failed probe doubles the pause, up to 300 s.
 */
import { must } from './answers'

/** `until`: when a probe may go; of a probe, when it counts as failed. */
type Circuit = Record<'until' | 'cooldownS' | 'error_rate', number> & {
  state: 'closed' | 'open' | 'half_open'
  calls: { at: number; ok: boolean }[]
  last_failure?: string
}

const fresh: Circuit = { state: 'closed', calls: [], until: 0, cooldownS: 30, error_rate: 0 }
const [windowS, threshold, minCalls, maxCooldownS, probeS] = [60, 0.5, 5, 300, 30]

export class Breaker {
  readonly #circuits = new Map<string, Circuit>()
  constructor(readonly now: () => number = Date.now) {}

  /** Makes the call, or refuses it while the circuit is open. Only an answer that `verified` accepts ends a probe well. */
  async through<T>(downstream_agent: string, call: () => Promise<T>, verified = (_: T) => true): Promise<T> {
    const circuit = this.#circuits.get(downstream_agent) ?? { ...fresh }
    this.#circuits.set(downstream_agent, circuit)
    const isProbe = circuit.state !== 'closed'
    const retry_after_s = isProbe ? Math.ceil((circuit.until - this.now()) / 1000) : 0
    const more = { error_type: 'circuit_open', downstream_agent, retry_after_s, retriable: true }
    must(retry_after_s <= 0, 503, 'circuit_open', `${downstream_agent} fails; ask again later.`, more)
    if (isProbe) Object.assign(circuit, { state: 'half_open', until: this.now() + probeS * 1000 })
    const answer = call()
    this.#over(circuit, isProbe, await answer.then((given) => !isProbe || verified(given)).catch(() => false))
    return answer
  }

  /** As `GET /.well-known/cascade/circuits` shows them. */
  circuits() {
    return [...this.#circuits].map(([downstream_agent, { state, error_rate, last_failure, until }]) => {
      const cooldown_remaining_s = state === 'open' ? Math.max(0, Math.ceil((until - this.now()) / 1000)) : 0
      const seen = { error_rate, window_s: windowS, last_failure }
      return { downstream_agent, state, ...seen, cooldown_remaining_s, forced: false }
    })
  }

  #over(circuit: Circuit, isProbe: boolean, ok: boolean): void {
    const at = this.now()
    if (!ok) circuit.last_failure = new Date(at).toISOString()
    const cooldownS = Math.min(isProbe ? circuit.cooldownS * 2 : fresh.cooldownS, maxCooldownS)
    const open = { state: 'open', cooldownS, until: at + cooldownS * 1000 }
    if (isProbe) Object.assign(circuit, ok ? fresh : open)
    if (isProbe || circuit.state !== 'closed') return
    circuit.calls = [...circuit.calls, { at, ok }].filter((one) => one.at > at - windowS * 1000).slice(-999)
    circuit.error_rate = circuit.calls.filter((one) => !one.ok).length / circuit.calls.length
    if (circuit.calls.length >= minCalls && circuit.error_rate > threshold) Object.assign(circuit, open)
  }
}
