/*
 * The call itself, and what its end says of the circuit: an answer, a failure, or nothing of the downstream's. A success
 * through a healthy circuit costs a count and no more; a failure is counted in the store at once and judged by
 * everybody's calls; a probe decides for its circuit alone, and closes it by a verified answer only.
 */
import { outcome } from '@/lib/breaker/circuit'
import type { CircuitState } from '@/lib/breaker/terms'
import { EffectFailed } from '@/lib/runners/runner'
import { tellWaiting } from './circuit-by-person'
import type { CircuitCache } from './circuit-cache'
import { again, type Changed, change, decideInTurn } from './circuit-change'
import type { Entry } from './circuit-entry'
import type { CircuitHolds } from './circuit-holds'
import { type CallingStep, type CircuitPorts, type Judge, logFault } from './circuit-ports'
import type { CallTally } from './circuit-tally'
import { eventBetween } from './circuit-tokens'

/** How a call counts: the downstream answered, or failed, or it was nothing of the downstream's. */
type Says = 'answered' | 'failed' | 'nothing'

/** The call ended well, or why not, in people's words. */
type End = true | string

const unwell = 'its answer says that it is unwell'
const unproved = 'its answer is not proved to be its own'

export class CallOutcomes {
  readonly #ports: CircuitPorts
  readonly #cache: CircuitCache
  readonly #tally: CallTally
  readonly #holds: CircuitHolds

  constructor(ports: CircuitPorts, cache: CircuitCache, tally: CallTally, holds: CircuitHolds) {
    this.#ports = ports
    this.#cache = cache
    this.#tally = tally
    this.#holds = holds
  }

  /** Makes the call, begun `from` (ms since the epoch) and under the id `probe` where it is the probe. Ends as it does. */
  of<T>(
    entry: Entry,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T>,
    probe: string | undefined,
    from: number,
  ): Promise<T> {
    // A fault that is thrown before there is a promise is the call's as well.
    return begun(call).then(
      (answer) => this.#answered(entry, who, answer, judge, probe, from),
      (error: unknown) => this.#threw(entry, who, error, probe, from),
    )
  }

  /** Most answers are counted here and now, without another turn of the event loop. */
  #answered<T>(
    entry: Entry,
    who: CallingStep,
    answer: T,
    judge: Judge<T>,
    probe: string | undefined,
    from: number,
  ): T | Promise<T> {
    if (probe !== undefined) return this.#probeAnswered(entry, who, answer, judge, probe, from)
    const isWell = judge.failed === undefined || !judge.failed(answer)
    this.#count(entry, isWell, from)
    // A success can be the call that makes them enough to judge by.
    if (entry.window.counts.failures === 0) return answer
    return this.#decide(entry, who, undefined, isWell || unwell).then(() => answer)
  }

  async #probeAnswered<T>(
    entry: Entry,
    who: CallingStep,
    answer: T,
    judge: Judge<T>,
    probe: string,
    from: number,
  ): Promise<T> {
    const isWell = judge.failed === undefined || !judge.failed(answer)
    const isProved = isWell && (await isVerified(judge, answer))
    this.#count(entry, isProved, from)
    await this.#decide(entry, who, probe, isProved || (isWell ? unproved : unwell))
    return answer
  }

  async #threw(
    entry: Entry,
    who: CallingStep,
    error: unknown,
    probe: string | undefined,
    from: number,
  ): Promise<never> {
    const says = who.lost?.aborted ? 'nothing' : whatItSays(error)
    // A probe has to say something: what came to no answer has not succeeded.
    if (says !== 'nothing' || probe !== undefined) {
      this.#count(entry, says === 'answered', from)
      await this.#decide(entry, who, probe, says === 'answered' || saidBy(error))
    }
    throw error
  }

  #count(entry: Entry, ok: boolean, from: number): void {
    const now = this.#ports.timer.now()
    this.#tally.ended(entry, ok, now - from, now)
  }

  /** Never throws: how the call ended is its caller's, whatever becomes of the circuit. */
  async #decide(entry: Entry, who: CallingStep, probe: string | undefined, end: End): Promise<void> {
    try {
      if (probe !== undefined) await this.#probed(entry, who, probe, end)
      else if (entry.state.calculated.status === 'closed') await this.#judge(entry, who, end === true)
    } catch (error) {
      logFault(this.#ports, error, 'keep how a call ended')
    }
  }

  /** Does the circuit open? Judged by the calls of this process, and by everybody's where one failed. */
  async #judge(entry: Entry, who: CallingStep, ok: boolean): Promise<void> {
    const { timer } = this.#ports
    const counts = ok ? entry.window.counts : await this.#tally.everybodys(entry)
    if (!outcome(entry.state, counts, { ok, at: timer.now() }, entry.policy)) return
    await decideInTurn(entry, async () => {
      const next = outcome(entry.state, counts, { ok, at: timer.now() }, entry.policy)
      if (!next) return
      if (!(await this.#change(entry, next, who))) return again
      await this.#holds.askIfShared(entry, who)
    })
  }

  async #probed(entry: Entry, who: CallingStep, probe: string, end: End): Promise<void> {
    const ok = end === true
    await decideInTurn(entry, async () => {
      const at = this.#ports.timer.now()
      const next = outcome(entry.state, entry.window.counts, { ok, probe, at }, entry.policy)
      // It came back too late: it was taken as lost, and another one may be under way.
      if (!next) return
      const changed = await this.#change(entry, next, who)
      if (!changed) return again
      if (end === true) return
      if (changed.heldAgain) this.#holds.askAgain(entry, who, changed.heldAgain, end)
      else await this.#holds.askIfShared(entry, who)
    })
    if (!ok || entry.state.calculated.status !== 'closed') return
    await tellWaiting(this.#ports, this.#cache, entry.name.id, 'engine')
  }

  #change(entry: Entry, next: CircuitState, who: CallingStep): Promise<Changed | undefined> {
    const event = eventBetween(entry.state, next, entry.policy.windowS)
    return change(this.#ports, this.#cache, entry, next, event, who)
  }
}

function begun<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Sentences of runners hold no contents; a fault of ours has nothing to say of the downstream. */
function saidBy(error: unknown): string {
  return error instanceof EffectFailed ? error.message : 'the call came to no answer'
}

function whatItSays(error: unknown): Says {
  if (!(error instanceof EffectFailed) || error.refusal) return 'nothing'
  if (error.answered) return 'answered'
  // What we refused ourselves was never sent.
  return error.errorType === 'constraint_violation' ? 'nothing' : 'failed'
}

async function isVerified<T>({ verified }: Judge<T>, answer: T): Promise<boolean> {
  try {
    return (await verified?.(answer)) ?? true
  } catch {
    return false
  }
}
