/*
 * A call that its circuit does not simply let go: it is refused, with everything that whoever called needs to wait or to go
 * on without it, or it becomes the one probe. The probe is a change of the circuit, durable before anything is sent, and
 * one at a time goes to a downstream, whosever circuit it is of.
 */
import { isProblem } from '@/lib/base/problem'
import { errorRate, permit } from '@/lib/breaker/circuit'
import type { CallRefusal, CircuitState, RefusedBecause } from '@/lib/breaker/terms'
import { EffectFailed } from '@/lib/runners/runner'
import type { CircuitCache } from './circuit-cache'
import { again, change, decideInTurn } from './circuit-change'
import type { Entry } from './circuit-entry'
import type { CircuitHolds } from './circuit-holds'
import type { CallingStep, CircuitPorts } from './circuit-ports'
import type { CallTally } from './circuit-tally'
import { eventBetween } from './circuit-tokens'
import { ProbeTurns } from './probe-turns'

/** How long a call waits for another circuit's probe of the same downstream before it is refused. */
const probeTurnMs = 2_000

export class Admission {
  readonly #ports: CircuitPorts
  readonly #cache: CircuitCache
  readonly #tally: CallTally
  readonly #holds: CircuitHolds
  readonly #probes: ProbeTurns

  constructor(ports: CircuitPorts, cache: CircuitCache, tally: CallTally, holds: CircuitHolds) {
    this.#ports = ports
    this.#cache = cache
    this.#tally = tally
    this.#holds = holds
    this.#probes = new ProbeTurns(ports.timer)
  }

  /**
   * In turn: the id that the call is the probe under, which ends with `probeOver`; undefined for any other call that may
   * go. Throws the refusal.
   */
  admit(entry: Entry, who: CallingStep): Promise<string | undefined> {
    const { timer, mint } = this.#ports
    let waitsUntil: number | undefined
    return decideInTurn(entry, async () => {
      const probe = mint()
      const now = timer.now()
      waitsUntil ??= now + probeTurnMs
      const answer = permit(entry.state, now, probe, entry.policy, this.#cache.isHeld(entry))
      if (!answer.next) {
        if (answer.pass) return undefined
        throw this.refusal(entry, answer.because, answer.retryAt, now, who)
      }
      if (answer.pass) return this.#probe(entry, answer.next, probe, waitsUntil, who)
      await this.#probeLost(entry, answer.next, who)
      return again
    })
  }

  /** The probe came back: the next one may go. */
  probeOver({ name }: Entry): void {
    this.#probes.end(name.downstream)
  }

  /** What a call is refused with; counted, unless it is only a person's probe. */
  refusal(
    entry: Entry,
    because: RefusedBecause,
    retryAt: number,
    now: number,
    { by }: Pick<CallingStep, 'by'>,
  ): EffectFailed {
    if (by === undefined) this.#tally.refused(entry, now)
    const { name, state, policy, lastToken } = entry
    const { calculated } = state
    const refusal: CallRefusal = {
      circuit: name.id,
      caller: name.caller,
      downstream: name.downstream,
      because,
      errorRate: calculated.status === 'open' ? calculated.errorRate : errorRate(entry.window.counts),
      windowS: policy.windowS,
      cooldownS: calculated.status === 'closed' ? policy.cooldownS : calculated.cooldownS,
      retryAt,
      change: lastToken,
    }
    const sentence = `Calls to ${name.downstream} are held off by a breaker: ${why[because]}`
    const more = { errorType: 'upstream_cascade', retriable: true, refusal } as const
    return withoutStack(() => new EffectFailed('circuit_open', sentence, more))
  }

  /** The probe never came back, with whoever sent it: found out by whoever asks next. */
  async #probeLost(entry: Entry, next: CircuitState, who: CallingStep): Promise<void> {
    const event = eventBetween(entry.state, next, entry.policy.windowS)
    const changed = await change(this.#ports, this.#cache, entry, next, event, who)
    const said = `nothing came back within ${entry.policy.probeTimeoutS} s`
    if (changed?.heldAgain) this.#holds.askAgain(entry, who, changed.heldAgain, said)
    else if (changed) await this.#holds.askIfShared(entry, who)
  }

  /** Sends the probe in its turn among all circuits of the downstream. */
  async #probe(
    entry: Entry,
    next: CircuitState,
    probe: string,
    waitsUntil: number,
    who: CallingStep,
  ): Promise<string | typeof again> {
    const { downstream } = entry.name
    if (!this.#probes.isOut(downstream)) return (await this.#sends(entry, next, who)) ? probe : again
    // Asked anew afterwards: what came of the other probe counts for this one too.
    if (await this.#probes.waitFor(downstream, waitsUntil)) return again
    throw this.#probing(entry, who)
  }

  /** Records that the probe goes, which it then does; false when the circuit was changed by others meanwhile. */
  async #sends(entry: Entry, next: CircuitState, who: CallingStep): Promise<boolean> {
    const { downstream } = entry.name
    const event = eventBetween(entry.state, next, entry.policy.windowS)
    this.#probes.begin(downstream)
    let isSent = false
    try {
      isSent = (await change(this.#ports, this.#cache, entry, next, event, who)) !== undefined
      return isSent
    } catch (error) {
      if (isProblem(error, 'probe_taken')) throw this.#probing(entry, who)
      if (!isProblem(error, 'probe_held')) throw error
      // Somebody holds its probes since this process looked last.
      await this.#cache.look()
      return false
    } finally {
      if (!isSent) this.#probes.end(downstream)
    }
  }

  /** Another circuit's probe is out to the same downstream. */
  #probing(entry: Entry, who: CallingStep): EffectFailed {
    const now = this.#ports.timer.now()
    return this.refusal(entry, 'probing', now + laterMs(entry), now, who)
  }
}

const why: Record<RefusedBecause, string> = {
  open: 'too many calls failed, and its cooldown is not over',
  probing: 'one call is trying whether it is well again',
  forced: 'a person holds it open',
  held: 'people are asked about it',
}

/** A refusal is no fault: where it was made says nothing, and finding that out takes longer than the refusal. */
function withoutStack<T>(make: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** When a call asks again that found another circuit's probe out: each circuit a little apart from the others. */
function laterMs({ name }: Entry): number {
  return 1_000 + (Number.parseInt(name.id.replace(/[^0-9]/g, '').slice(0, 6) || '0', 10) % 2_000)
}
