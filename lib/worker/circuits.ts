/*
 * The book of breakers: one circuit for each caller and downstream, shared by every process on one store. It holds what
 * the pure machine (lib/breaker/circuit.ts) does against time, crashes and other processes.
 *
 *   through ─▶ closed? ─────────────▶ call ─▶ count in memory ─▶ (a second later) count in the store
 *                │ not                          │ failed
 *                ▼                              ▼
 *        decide in turn ◀───────── count in the store at once, and judge by everybody's calls
 *                │
 *                ▼ a change: signed token, committed at the circuit's own revision ─▶ only then does anything follow
 *
 * A closed circuit is decided on in memory, here; the rest lies in files of its own:
 *
 *   circuit-entry       one circuit in memory         circuit-outcome    the call, and what its end says
 *   circuit-cache       all of them, kept up          circuit-change     a change made durable under the fence
 *   circuit-tally       calls counted                 circuit-holds      downstreams that people are asked about
 *   circuit-admission   refusals and the one probe    circuit-by-person  forced and lifted; who waits is told
 *
 * A change is made durable before it is acted on: of all processes that want to send the one probe, the fence lets one
 * through, and the others read what it wrote and decide again. A process that dies with the probe leaves a half-open
 * circuit, whose probe counts as failed when its time is over.
 *
 * Rollbacks are counted and never refused (`counted`): what must be put back is put back, whatever its agent's breaker
 * says, and an agent that fails at it is as unwell as one that fails at anything else.
 */
import { Problem } from '@/lib/base/problem'
import { permit } from '@/lib/breaker/circuit'
import type { Spike } from '@/lib/breaker/latency'
import type { Caller, CircuitPolicy, Downstream } from '@/lib/breaker/terms'
import { Admission } from './circuit-admission'
import { type Forcing, forceCircuit, liftCircuit } from './circuit-by-person'
import { CircuitCache } from './circuit-cache'
import { adopt, type Entry } from './circuit-entry'
import { CircuitHolds } from './circuit-holds'
import { CallOutcomes } from './circuit-outcome'
import { type CallingStep, type CircuitPorts, type Judge, logFault } from './circuit-ports'
import { CallTally } from './circuit-tally'

const tickMs = 1_000
const callsKeptS = 3_600
const purgeEveryTicks = 60
const noJudge = {}

export class CircuitBook {
  readonly #ports: CircuitPorts
  readonly #cache: CircuitCache
  readonly #tally: CallTally
  readonly #holds: CircuitHolds
  readonly #admission: Admission
  readonly #outcomes: CallOutcomes
  readonly #closed = new AbortController()
  #ticking: Promise<void> | undefined

  constructor(ports: CircuitPorts) {
    this.#ports = ports
    this.#cache = new CircuitCache(ports)
    this.#tally = new CallTally(ports, () => this.start())
    this.#holds = new CircuitHolds(ports, this.#cache)
    this.#admission = new Admission(ports, this.#cache, this.#tally, this.#holds)
    this.#outcomes = new CallOutcomes(ports, this.#cache, this.#tally, this.#holds)
  }

  /**
   * Makes the call, unless its circuit refuses it: throws EffectFailed `circuit_open` then, with `refusal`, and nothing
   * was sent. Otherwise it ends as the call does.
   */
  through<T>(
    caller: Caller,
    downstream: Downstream,
    policy: CircuitPolicy,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T> = noJudge,
  ): Promise<T> {
    const entry = this.#cache.find(caller, downstream)
    const now = this.#ports.timer.now()
    if (entry === undefined || this.#cache.isBehind(now)) {
      return this.#caughtUp(caller, downstream, policy).then((known) =>
        this.#decided(known, policy, who, call, judge, this.#ports.timer.now()),
      )
    }
    return this.#decided(entry, policy, who, call, judge, now)
  }

  /** Makes the call whatever the circuit says, and counts how it ends. It is never the probe, and closes nothing. */
  async counted<T>(
    caller: Caller,
    downstream: Downstream,
    policy: CircuitPolicy,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T> = noJudge,
  ): Promise<T> {
    const entry = await this.#cache.open(caller, downstream, policy)
    return this.#outcomes.of(entry, who, call, judge, undefined, this.#ports.timer.now())
  }

  /**
   * A person has the one probe go, where no run calls: by the rules of any other, and people are asked where the breaker
   * opened when it is one failure too many. Throws EffectFailed `circuit_open` where they let none go now, and Problem
   * `not_found`, or `run_moved_on` where calls pass again and nothing is to be probed.
   */
  async probe<T>(
    id: string,
    who: Required<Pick<CallingStep, 'by' | 'opener'>>,
    call: () => Promise<T>,
    judge: Judge<T>,
  ): Promise<T> {
    const entry = await this.#cache.openId(id)
    await this.#cache.look()
    const probe = await this.#admission.admit(entry, who)
    if (probe === undefined) {
      throw new Problem('run_moved_on', 'Calls pass this breaker again: there is nothing to probe')
    }
    return this.#probed(entry, who, call, judge, probe)
  }

  /**
   * When a call that would be refused now may be tried again, in ms, and whether a person has to answer first; undefined
   * where one may go. Nothing is counted or changed.
   */
  async refusedUntil(
    caller: Caller,
    downstream: Downstream,
    policy: CircuitPolicy,
  ): Promise<{ until: number; isHeld: boolean } | undefined> {
    const entry = await this.#caughtUp(caller, downstream, policy)
    const { timer, mint } = this.#ports
    const isHeld = this.#cache.isHeld(entry)
    const answer = permit(entry.state, timer.now(), mint(), entry.policy, isHeld)
    return answer.pass || answer.next ? undefined : { until: answer.retryAt, isHeld }
  }

  /** A person holds the circuit open or closed until then. Throws Problem `not_found`. */
  force(id: string, forced: Forcing): Promise<void> {
    return forceCircuit(this.#ports, this.#cache, id, forced)
  }

  /** Takes off what was forced. Throws Problem `not_found`, `run_moved_on` when nothing was. */
  lift(id: string, by: { by: string; reason: string }): Promise<void> {
    return liftCircuit(this.#ports, this.#cache, id, by)
  }

  /** Answers of the circuit's downstream, as slow as this process saw them; undefined before that is known. */
  latencyOf(id: string): Spike | undefined {
    return this.#cache.withId(id)?.latency.latest
  }

  /** Begins to look after circuits also while nobody calls: holds end, calls are counted in the store, old ones forgotten. */
  start(): void {
    this.#ticking ??= this.#tick()
  }

  /** Counts in the store what is counted here. */
  flush(): Promise<void> {
    return this.#tally.flush()
  }

  /** Writes what is counted, and ends. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#ticking
    await this.flush().catch(() => undefined)
    await Promise.allSettled([...this.#cache.all()].map(({ turn }) => turn))
  }

  async #caughtUp(caller: Caller, downstream: Downstream, policy: CircuitPolicy): Promise<Entry> {
    const entry = await this.#cache.open(caller, downstream, policy)
    await this.#cache.look()
    return entry
  }

  /** Most calls are decided here and now, without a turn of the event loop. */
  #decided<T>(
    entry: Entry,
    policy: CircuitPolicy,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T>,
    now: number,
  ): Promise<T> {
    if (entry.policy !== policy) adopt(entry, policy)
    entry.usedAt = now
    const answer = permit(entry.state, now, '', policy, this.#cache.isHeld(entry))
    if (answer.next) return this.#admitted(entry, who, call, judge)
    if (answer.pass) return this.#outcomes.of(entry, who, call, judge, undefined, now)
    return Promise.reject(this.#admission.refusal(entry, answer.because, answer.retryAt, now, who))
  }

  async #admitted<T>(entry: Entry, who: CallingStep, call: () => Promise<T>, judge: Judge<T>): Promise<T> {
    const probe = await this.#admission.admit(entry, who)
    return this.#probed(entry, who, call, judge, probe)
  }

  /** Makes the call that was let go, under the id `probe` where it is the probe. */
  async #probed<T>(
    entry: Entry,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T>,
    probe: string | undefined,
  ): Promise<T> {
    try {
      return await this.#outcomes.of(entry, who, call, judge, probe, this.#ports.timer.now())
    } finally {
      if (probe !== undefined) this.#admission.probeOver(entry)
    }
  }

  async #tick(): Promise<void> {
    const { timer, store } = this.#ports
    for (let tick = 1; !this.#closed.signal.aborted; tick++) {
      await timer.waitUntil(timer.now() + tickMs, this.#closed.signal)
      if (this.#closed.signal.aborted) return
      try {
        await this.flush()
        if (this.#cache.isBehind(timer.now())) await this.#cache.look()
        if (this.#cache.holds.size > 0) await this.#holds.settle()
        if (tick % purgeEveryTicks === 0) {
          await store.purgeCalls(Math.floor(timer.now() / 1000) - callsKeptS)
        }
      } catch (error) {
        logFault(this.#ports, error, 'look after breakers')
      }
    }
  }
}
