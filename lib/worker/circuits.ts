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
 * A closed circuit is decided on in memory: once a millisecond at most it is asked whether somebody else wrote to the
 * store, and only then is what changed read again. A change is made durable before it is acted on: of all processes that
 * want to send the one probe, the fence lets one through, and the others read what it wrote and decide again. A process
 * that dies with the probe leaves a half-open circuit, whose probe counts as failed when its time is over.
 *
 * When three circuits on one downstream open within a minute, or one opens again for the third time, its probes are held
 * and one question is asked, in the run whose call was the last straw: the hold is a row with the downstream as its key,
 * so that fifty workflows on one failing agent ask once. Whatever becomes of the question ends the hold.
 *
 * Rollbacks are counted and never refused (`counted`): what must be put back is put back, whatever its agent's breaker
 * says, and an agent that fails at it is as unwell as one that fails at anything else.
 */

import { sha256 } from '@/lib/base/hash'
import { type Mint, type RunId, uuidOfText } from '@/lib/base/ids'
import { partyName } from '@/lib/base/party-name'
import { isProblem, Problem } from '@/lib/base/problem'
import {
  defaultPolicy,
  errorRate,
  force,
  forcedNow,
  lift,
  newCircuit,
  outcome,
  permit,
} from '@/lib/breaker/circuit'
import { LatencyWatch, type Spike } from '@/lib/breaker/latency'
import type {
  CallCounts,
  Caller,
  CallRefusal,
  CircuitChange,
  CircuitPolicy,
  CircuitState,
  Downstream,
  RefusedBecause,
} from '@/lib/breaker/terms'
import { CallWindow, maxWindowS } from '@/lib/breaker/window'
import { chainHashSync } from '@/lib/ect/chain-node'
import type { Vocabulary } from '@/lib/ect/vocabulary'
import type {
  CallSecond,
  CircuitHold,
  CircuitName,
  CircuitRecord,
  CircuitStore,
  CircuitToken,
} from '@/lib/engine/circuit-ports'
import type { ApprovalProjection } from '@/lib/engine/ports'
import { EffectFailed } from '@/lib/runners/runner'
import { type CircuitEvent, claimsOfEvent, eventBetween } from './circuit-tokens'
import type { Timer, WorkerLog } from './ports'
import { ProbeTurns } from './probe-turns'
import type { Signer } from './run-book'

export interface CircuitPorts {
  store: CircuitStore
  /** As LedgerStore has it; absent: nobody else writes. */
  othersWrote?: () => number
  signer: Signer
  timer: Timer
  mint: Mint
  log: WorkerLog
  /** The question that a hold waits for. */
  approval?(id: string): Promise<Pick<ApprovalProjection, 'state' | 'verdict' | 'by'> | undefined>
  /** Asks people about a downstream whose probes are held now; gives the approval's id, or nothing where nobody can be asked. */
  onShared?(shared: SharedFailure): Promise<string | undefined>
  /** Calls may go again, or one may: whoever waits behind the circuit asks at once. */
  onFree?(circuit: CircuitName, by: string): Promise<void>
  /** Answers became far slower than usual. */
  onSlow?(slow: Spike & { caller: Caller; downstream: Downstream; at: number }): void
}

/** A downstream that keeps failing, to be asked about. */
export interface SharedFailure {
  downstream: Downstream
  /** The run whose call was the last straw, and its step. */
  runId: RunId
  node: string
  visit: number
  /** `several`: circuits that opened within a minute; `again`: one that opened again after so many probes. */
  because: 'several' | 'again'
  callers: string[]
  reopened: number
  /** In people's words. */
  sentence: string
}

/** Who makes a call. */
export interface CallingStep {
  runId?: RunId
  node?: string
  visit?: number
  /** How the circuit's tokens are spelled. */
  vocabulary?: Vocabulary
  /** Fired: we gave the work up, and how it ends says nothing of the downstream. */
  lost?: AbortSignal
  /** The call changed the circuit. */
  changed?(change: CircuitChange): void
}

/** What an answer says of the downstream. */
export interface Judge<T> {
  /** The downstream is unwell although it answered (status 5xx). */
  failed?(answer: T): boolean
  /** The answer is proved to be the downstream's own; asked of probes alone. */
  verified?(answer: T): boolean | Promise<boolean>
}

/** Circuits that open on one downstream within this time are one failure (NOTES 3.12). */
export const sharedWithinMs = 60_000
export const sharedCircuits = 3
/** A circuit that opened again so often is asked about. */
export const reopenedOften = 3
/** How long it stays open when a person says so. */
export const heldByPersonMs = 3_600_000
const tickMs = 1_000
const callsKeptS = 3_600
const purgeEveryTicks = 60
/** A hold whose question was never named belongs to a process that died on the way. */
const unnamedHoldMs = 60_000
/** Circuits kept in memory; those that nothing happens to go first. */
const entriesKept = 10_000
/** Somebody writes without end. */
const fenceAttempts = 50
const maxCallMs = 86_400_000
/** How long a call waits for another circuit's probe of the same downstream before it is refused. */
const probeTurnMs = 2_000

interface Entry {
  name: CircuitName & { caller: Caller; downstream: Downstream }
  state: CircuitState
  revision: number
  lastHash: string
  /** `jti` of the last token of its chain; the empty text before there is one. */
  lastToken: string
  policy: CircuitPolicy
  window: CallWindow
  latency: LatencyWatch
  /** Calls not yet counted in the store, of this second. */
  pending: CallSecond | undefined
  /** Changes are made one at a time. */
  turn: Promise<unknown>
  usedAt: number
}

export class CircuitBook {
  readonly #ports: CircuitPorts
  readonly #byCaller = new Map<Caller, Map<Downstream, Entry>>()
  readonly #byId = new Map<string, Entry>()
  /** Whose call came last: mostly it is the next one's too, and two look-ups take longer than the decision. */
  #latest: Entry | undefined
  readonly #opening = new Map<string, Promise<Entry>>()
  readonly #dirty = new Set<Entry>()
  readonly #probes: ProbeTurns
  readonly #closed = new AbortController()
  #holds = new Map<string, CircuitHold>()
  #mark = 0
  #seenWrites: number | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  #ticking: Promise<void> | undefined

  constructor(ports: CircuitPorts) {
    this.#ports = ports
    this.#probes = new ProbeTurns(ports.timer)
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
    const latest = this.#latest
    const isLatest = latest?.name.caller === caller && latest.name.downstream === downstream
    const entry = isLatest ? latest : this.#byCaller.get(caller)?.get(downstream)
    const now = this.#ports.timer.now()
    if (entry === undefined || this.#isBehind(now)) {
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
    const entry = await this.#open(caller, downstream, policy)
    return this.#made(entry, who, call, judge, undefined, this.#ports.timer.now())
  }

  /** A person holds the circuit open or closed until then. Throws Problem `not_found`. */
  async force(
    id: string,
    forced: { to: 'open' | 'closed'; by: string; reason: string; until: number },
  ): Promise<void> {
    await this.#byPerson(id, (state, at) => ({
      next: force(state, { ...forced, since: at }),
      event: { type: 'circuit_forced', at, ...forced },
    }))
    if (forced.to === 'closed') await this.#free(id, forced.by)
  }

  /** Takes off what was forced. Throws Problem `not_found`, `conflict` when nothing was. */
  async lift(id: string, { by, reason }: { by: string; reason: string }): Promise<void> {
    await this.#byPerson(id, (state, at) => {
      const next = lift(state)
      if (!next)
        throw new Problem('run_moved_on', 'Nothing is forced on this circuit any more; look at it again')
      return { next, event: { type: 'circuit_lifted', at, by, reason } }
    })
    await this.#free(id, by)
  }

  /** Lets go what is held about a downstream: probes may go again. False when nothing was. */
  async release(downstream: string, by: string): Promise<boolean> {
    const was = await this.#ports.store.unhold(downstream)
    this.#holds.delete(downstream)
    if (!was) return false
    for (const { id } of await this.#ports.store.ofDownstream(downstream)) await this.#free(id, by)
    return true
  }

  /** What the circuit is now, as this process knows it; calls of the last window, everybody's, are the store's to say. */
  latencyOf(id: string): Spike | undefined {
    return this.#byId.get(id)?.latency.latest
  }

  /** Begins to look after circuits also while nobody calls: holds end, counts are written, old ones forgotten. */
  start(): void {
    this.#ticking ??= this.#tick()
  }

  /** Writes what is counted, and ends. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#ticking
    await this.flush().catch(() => undefined)
    await Promise.allSettled([...this.#byId.values()].map(({ turn }) => turn))
  }

  /** Counts in the store what is counted here. */
  async flush(): Promise<void> {
    const calls: CallSecond[] = []
    for (const entry of this.#dirty) if (entry.pending) calls.push(entry.pending)
    const entries = [...this.#dirty]
    this.#dirty.clear()
    for (const entry of entries) entry.pending = undefined
    if (calls.length > 0) await this.#ports.store.addCalls(calls)
  }

  // ── before a call ──────────────────────────────────────────────────────────────────────────────────────────────

  async #caughtUp(caller: Caller, downstream: Downstream, policy: CircuitPolicy): Promise<Entry> {
    const entry = await this.#open(caller, downstream, policy)
    await this.#look()
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
    this.#latest = entry
    const answer = permit(entry.state, now, '', policy, this.#isHeld(entry))
    if (answer.next) {
      return this.#admit(entry, who).then((probe) => {
        const made = this.#made(entry, who, call, judge, probe, this.#ports.timer.now())
        const { downstream } = entry.name
        return probe === undefined ? made : made.finally(() => this.#probes.end(downstream))
      })
    }
    if (answer.pass) return this.#made(entry, who, call, judge, undefined, now)
    return Promise.reject(this.#refused(entry, answer.because, answer.retryAt, now))
  }

  /** In turn: the id that the call is the probe under; undefined for any other that may go. Throws the refusal. */
  #admit(entry: Entry, who: CallingStep): Promise<string | undefined> {
    const { timer, mint } = this.#ports
    const { downstream } = entry.name
    return this.#inTurn(entry, async () => {
      const waitsUntil = timer.now() + probeTurnMs
      for (let attempt = 1; attempt <= fenceAttempts; attempt++) {
        const probe = mint()
        const now = timer.now()
        const answer = permit(entry.state, now, probe, entry.policy, this.#isHeld(entry))
        if (!answer.next) {
          if (answer.pass) return undefined
          throw this.#refused(entry, answer.because, answer.retryAt, now)
        }
        const event = eventBetween(entry.state, answer.next, entry.policy.windowS)
        if (!answer.pass) await this.#change(entry, answer.next, event, who)
        else if (this.#probes.isOut(downstream)) {
          // Asked anew afterwards: what came of the other probe counts for this one too.
          if (!(await this.#probes.waitFor(downstream, waitsUntil))) throw this.#probing(entry)
        } else if (await this.#sendsProbe(entry, answer.next, event, who)) return probe
      }
      throw new Problem('store_busy', changedWithoutEnd)
    })
  }

  /** Records that the probe goes, which it then does; false when the circuit was changed by others meanwhile. */
  async #sendsProbe(
    entry: Entry,
    next: CircuitState,
    event: CircuitEvent,
    who: CallingStep,
  ): Promise<boolean> {
    const { downstream } = entry.name
    this.#probes.begin(downstream)
    let isSent = false
    try {
      isSent = await this.#change(entry, next, event, who)
      return isSent
    } catch (error) {
      throw isProblem(error, 'probe_taken') ? this.#probing(entry) : error
    } finally {
      if (!isSent) this.#probes.end(downstream)
    }
  }

  /** Another circuit's probe is out to the same downstream. */
  #probing(entry: Entry): EffectFailed {
    const now = this.#ports.timer.now()
    return this.#refused(entry, 'probing', now + laterMs(entry), now)
  }

  #isHeld(entry: Entry): boolean {
    return this.#holds.size > 0 && this.#holds.has(entry.name.downstream)
  }

  #refused(entry: Entry, because: RefusedBecause, retryAt: number, now: number): EffectFailed {
    const { name, state, policy, lastToken } = entry
    this.#pending(entry, now).rejected++
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
    return withoutStack(
      () =>
        new EffectFailed(
          'circuit_open',
          `Calls to ${name.downstream} are held off by a breaker: ${why[because]}`,
          { errorType: 'upstream_cascade', retriable: true, refusal },
        ),
    )
  }

  // ── the call, and after it ─────────────────────────────────────────────────────────────────────────────────────

  async #made<T>(
    entry: Entry,
    who: CallingStep,
    call: () => Promise<T>,
    judge: Judge<T>,
    probe: string | undefined,
    from: number,
  ): Promise<T> {
    let answer: T
    try {
      answer = await call()
    } catch (error) {
      const says = who.lost?.aborted ? 'nothing' : whatItSays(error)
      await this.#ended(entry, who, probe, says, from)
      throw error
    }
    const isWell = judge.failed === undefined || !judge.failed(answer)
    if (probe === undefined && isWell) {
      const now = this.#ports.timer.now()
      this.#note(entry, true, now - from, now)
      // A success can be the call that makes them enough to judge by.
      const { failures } = entry.window.counts
      if (failures === 0 || entry.state.calculated.status !== 'closed') return answer
    }
    const isProved = isWell && (probe === undefined || (await isVerified(judge, answer)))
    await this.#ended(
      entry,
      who,
      probe,
      isProved ? 'answered' : 'failed',
      from,
      probe === undefined && isWell,
    )
    return answer
  }

  /** Never throws: how the call ended is its caller's, whatever becomes of the count. */
  async #ended(
    entry: Entry,
    who: CallingStep,
    probe: string | undefined,
    says: Says,
    from: number,
    isNoted = false,
  ): Promise<void> {
    // A probe has to say something: what came to no answer has not succeeded.
    if (says === 'nothing' && probe === undefined) return
    const ok = says === 'answered'
    try {
      const now = this.#ports.timer.now()
      if (!isNoted) this.#note(entry, ok, now - from, now)
      if (probe !== undefined) await this.#probed(entry, who, probe, ok)
      else if (entry.state.calculated.status === 'closed') await this.#judge(entry, who, ok)
    } catch (error) {
      this.#fault(error, 'keep how a call ended')
    }
  }

  /** Counts in memory; for the store in a second. */
  #note(entry: Entry, ok: boolean, ms: number, now: number): void {
    entry.window.add(ok, now)
    const took = Math.min(Math.max(0, ms), maxCallMs)
    const pending = this.#pending(entry, now)
    pending.calls++
    if (!ok) pending.failed++
    pending.totalMs += took
    if (took > pending.maxMs) pending.maxMs = took
    const spike = entry.latency.add(took)
    if (spike === undefined) return
    const { caller, downstream } = entry.name
    this.#ports.onSlow?.({ ...spike, caller, downstream, at: now })
  }

  /** What is counted of this second and not in the store yet. */
  #pending(entry: Entry, now: number): CallSecond {
    const second = Math.floor(now / 1000)
    const { pending } = entry
    if (pending !== undefined && pending.second === second) return pending
    if (pending) this.#add(pending)
    const fresh = { circuit: entry.name.id, second, calls: 0, failed: 0, rejected: 0, totalMs: 0, maxMs: 0 }
    entry.pending = fresh
    this.#dirty.add(entry)
    this.#ticking ??= this.#tick()
    return fresh
  }

  #add(calls: CallSecond): void {
    this.#ports.store.addCalls([calls]).catch((error: unknown) => this.#fault(error, 'count calls'))
  }

  /** Does the circuit open? Judged by the calls of this process, and by everybody's where one failed. */
  async #judge(entry: Entry, who: CallingStep, ok: boolean): Promise<void> {
    const { store, timer } = this.#ports
    let counts: CallCounts = entry.window.counts
    if (!ok) {
      await this.#flushOne(entry)
      counts = larger(counts, await store.callCounts(entry.name.id, this.#firstSecond(entry)))
    }
    const at = timer.now()
    if (!outcome(entry.state, counts, { ok, at }, entry.policy)) return
    await this.#inTurn(entry, async () => {
      for (let attempt = 1; attempt <= fenceAttempts; attempt++) {
        const next = outcome(entry.state, counts, { ok, at: timer.now() }, entry.policy)
        if (!next) return
        const event = eventBetween(entry.state, next, entry.policy.windowS)
        if (await this.#change(entry, next, event, who)) return this.#shared(entry, who)
      }
    })
  }

  /** The first second that counts: within the window, and not before the circuit closed. */
  #firstSecond({ state, policy }: Entry): number {
    const { since } = state.calculated
    return Math.max(Math.floor(this.#ports.timer.now() / 1000) - policy.windowS, Math.ceil(since / 1000))
  }

  async #flushOne(entry: Entry): Promise<void> {
    const { pending } = entry
    entry.pending = undefined
    this.#dirty.delete(entry)
    if (pending) await this.#ports.store.addCalls([pending])
  }

  async #probed(entry: Entry, who: CallingStep, probe: string, ok: boolean): Promise<void> {
    await this.#inTurn(entry, async () => {
      for (let attempt = 1; attempt <= fenceAttempts; attempt++) {
        const at = this.#ports.timer.now()
        const next = outcome(entry.state, entry.window.counts, { ok, probe, at }, entry.policy)
        // It came back too late: it was taken as lost, and another one may be under way.
        if (!next) return
        const event = eventBetween(entry.state, next, entry.policy.windowS)
        if (!(await this.#change(entry, next, event, who))) continue
        if (next.calculated.status === 'open') await this.#shared(entry, who)
        return
      }
    })
    if (ok && entry.state.calculated.status === 'closed') await this.#free(entry.name.id, 'engine')
  }

  // ── changes ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Makes the change durable. False when another process was quicker: the entry is as it left it, to decide again. */
  async #change(entry: Entry, next: CircuitState, event: CircuitEvent, who: CallingStep): Promise<boolean> {
    const { store, signer, mint, timer } = this.#ports
    const { name, revision, policy } = entry
    const jti = mint()
    const said: CircuitEvent = {
      ...event,
      ...(who.runId !== undefined && { run: who.runId, node: who.node ?? '' }),
    }
    const { vocabulary = 'atd' } = who
    const par = entry.lastToken === '' ? [] : [entry.lastToken]
    const frame = { iss: signer.iss, aud: signer.aud, jti, par, vocabulary }
    const token = await signer.sign(claimsOfEvent(said, name, frame))
    const hash = chainHashSync(entry.lastHash, token)
    const at = timer.now()
    const row: CircuitToken = {
      circuitId: name.id,
      seq: revision + 1,
      jti,
      token,
      prevHash: entry.lastHash,
      hash,
      at,
    }
    const state = { ...next, policy }
    try {
      await store.commit({ circuit: name, expectedRevision: revision, state, tokens: [row], at })
    } catch (error) {
      if (!isProblem(error, 'sequence_taken')) throw error
      await this.#reread(entry)
      return false
    }
    const closes = next.calculated.status === 'closed' && entry.state.calculated.status !== 'closed'
    if (closes) entry.window.reset()
    const before = entry.state
    entry.state = next
    entry.revision = revision + 1
    entry.lastHash = hash
    entry.lastToken = jti
    if (before.calculated !== next.calculated) who.changed?.(changeOf(entry, before, jti))
    return true
  }

  /** Is it a failure of what others share too, or one that does not end? Then people are asked, once. */
  async #shared(entry: Entry, who: CallingStep): Promise<void> {
    const { store, timer, onShared } = this.#ports
    const { calculated } = entry.state
    const { downstream } = entry.name
    if (!onShared || who.runId === undefined || calculated.status !== 'open' || this.#holds.has(downstream))
      return
    const now = timer.now()
    const all = await store.ofDownstream(downstream)
    const opened = all.filter(
      ({ state }) => state.calculated.status !== 'closed' && state.calculated.since > now - sharedWithinMs,
    )
    const several = opened.length >= sharedCircuits
    if (!several && calculated.reopened < reopenedOften) return
    const hold: CircuitHold = { downstream, runId: who.runId, approval: '', heldAt: now }
    if (!(await store.hold(hold))) return
    this.#holds.set(downstream, hold)
    const callers = opened.map(({ caller }) => caller)
    const shared: SharedFailure = {
      downstream,
      runId: who.runId,
      node: who.node ?? '',
      visit: who.visit ?? 1,
      because: several ? 'several' : 'again',
      callers,
      reopened: calculated.reopened,
      sentence: several
        ? `${opened.length} breakers on ${partyName(downstream)} opened within a minute; its probes are held until you decide`
        : `The breaker on ${partyName(downstream)} opened again after ${calculated.reopened} probes; its probes are held until you decide`,
    }
    // Outside of the turn: the question is a commit of a run, and the call need not wait for it.
    void this.#question(onShared, shared)
  }

  async #question(onShared: NonNullable<CircuitPorts['onShared']>, shared: SharedFailure): Promise<void> {
    const { store } = this.#ports
    const { downstream } = shared
    try {
      const approval = await onShared(shared)
      if (approval === undefined) await this.release(downstream, 'engine')
      else if (await store.nameHold(downstream, approval)) {
        const hold = this.#holds.get(downstream)
        if (hold) this.#holds.set(downstream, { ...hold, approval })
      }
    } catch (error) {
      this.#fault(error, `ask about ${downstream}`)
      await this.release(downstream, 'engine').catch(() => undefined)
    }
  }

  /** Ends holds whose question is over, as it was answered. */
  async #settle(): Promise<void> {
    const { store, timer, approval } = this.#ports
    const now = timer.now()
    for (const { downstream, approval: id, heldAt } of [...this.#holds.values()]) {
      if (id === '') {
        if (heldAt < now - unnamedHoldMs) await this.release(downstream, 'engine')
        continue
      }
      const asked = await approval?.(id)
      if (asked?.state === 'open') continue
      const { verdict, by = 'engine' } = asked ?? {}
      if (verdict === 'hold') {
        for (const { id: circuit, state } of await store.ofDownstream(downstream)) {
          if (state.calculated.status === 'closed' || forcedNow(state, now)) continue
          const reason = `Held open while ${downstream} keeps failing`
          await this.force(circuit, { to: 'open', by, reason, until: now + heldByPersonMs })
        }
      }
      await this.release(downstream, by)
    }
  }

  async #byPerson(
    id: string,
    decide: (state: CircuitState, at: number) => { next: CircuitState; event: CircuitEvent },
  ): Promise<void> {
    const entry = await this.#ofId(id)
    await this.#inTurn(entry, async () => {
      for (let attempt = 1; attempt <= fenceAttempts; attempt++) {
        const { next, event } = decide(entry.state, this.#ports.timer.now())
        if (await this.#change(entry, next, event, {})) return
      }
      throw new Problem('store_busy', changedWithoutEnd)
    })
  }

  async #free(id: string, by: string): Promise<void> {
    const entry = await this.#ofId(id).catch(() => undefined)
    if (!entry) return
    await this.#ports.onFree?.(entry.name, by).catch((error: unknown) => this.#fault(error, 'tell who waits'))
  }

  // ── what is known ──────────────────────────────────────────────────────────────────────────────────────────────

  #inTurn<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    const next = entry.turn.then(work)
    entry.turn = next.catch(() => undefined)
    return next
  }

  async #open(caller: Caller, downstream: Downstream, policy: CircuitPolicy): Promise<Entry> {
    const id = circuitId(caller, downstream)
    const known = this.#byId.get(id)
    if (known) return known
    const opening = this.#opening.get(id) ?? this.#opened({ caller, downstream }, id, policy)
    this.#opening.set(id, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(id)
    }
  }

  async #opened(
    { caller, downstream }: { caller: Caller; downstream: Downstream },
    id: string,
    policy: CircuitPolicy,
  ): Promise<Entry> {
    const { store, timer, signer } = this.#ports
    const now = timer.now()
    const wid = uuidOfText(`circuit ${signer.iss} ${id}`)
    const name = { id, wid, caller, downstream }
    let record = await store.get(id)
    if (!record) {
      // From the beginning of this second on, so that calls counted by the second are all its own.
      const state: CircuitState = { ...newCircuit(Math.floor(now / 1000) * 1000), policy }
      await store.ensure([{ ...name, state, at: now }])
      record = await store.get(id)
    }
    if (!record) throw new Problem('not_found', 'The circuit could not be kept in the store')
    return this.#keep(record, await this.#lastToken(record), policy)
  }

  #keep(record: CircuitRecord, lastToken: string, policy: CircuitPolicy): Entry {
    const { id, wid, state, revision, lastHash } = record
    const caller = record.caller as Caller
    const downstream = record.downstream as Downstream
    const entry: Entry = {
      name: { id, wid, caller, downstream },
      state: withoutPolicy(state),
      revision,
      lastHash,
      lastToken,
      policy,
      window: new CallWindow(policy.windowS),
      latency: new LatencyWatch(),
      pending: undefined,
      turn: Promise.resolve(),
      usedAt: this.#ports.timer.now(),
    }
    this.#byId.set(id, entry)
    const ofCaller = this.#byCaller.get(caller) ?? new Map<Downstream, Entry>()
    ofCaller.set(downstream, entry)
    this.#byCaller.set(caller, ofCaller)
    if (this.#byId.size > entriesKept) this.#forgetIdle()
    return entry
  }

  #forgetIdle(): void {
    const before = this.#ports.timer.now() - 60_000
    this.#latest = undefined
    for (const [id, entry] of this.#byId) {
      if (this.#byId.size <= entriesKept / 2) return
      if (entry.usedAt > before || this.#dirty.has(entry)) continue
      this.#byId.delete(id)
      const ofCaller = this.#byCaller.get(entry.name.caller)
      ofCaller?.delete(entry.name.downstream)
      if (ofCaller?.size === 0) this.#byCaller.delete(entry.name.caller)
    }
  }

  async #ofId(id: string): Promise<Entry> {
    const known = this.#byId.get(id)
    if (known) return known
    const record = await this.#ports.store.get(id)
    if (!record) throw new Problem('not_found', `There is no circuit ${id.slice(0, 60)} here`)
    return this.#open(
      record.caller as Caller,
      record.downstream as Downstream,
      record.state.policy ?? defaultPolicy,
    )
  }

  async #lastToken({ id, revision }: CircuitRecord): Promise<string> {
    if (revision === 0) return ''
    const [last] = await this.#ports.store.tokens(id, { limit: 1 })
    return last?.jti ?? ''
  }

  async #reread(entry: Entry): Promise<void> {
    const record = await this.#ports.store.get(entry.name.id)
    if (record) this.#takeOver(entry, record, await this.#lastToken(record))
  }

  #takeOver(entry: Entry, record: CircuitRecord, lastToken: string): void {
    if (record.revision <= entry.revision) return
    const { calculated } = record.state
    const { calculated: former } = entry.state
    // It has closed elsewhere: counters begin anew here too.
    if (calculated.status === 'closed' && calculated.since > former.since) entry.window.reset()
    entry.state = withoutPolicy(record.state)
    entry.revision = record.revision
    entry.lastHash = record.lastHash
    entry.lastToken = lastToken
  }

  /** Asked at most once a millisecond: did anybody else write? True also while that is read. */
  #isBehind(now: number): boolean {
    if (this.#looking !== undefined) return true
    if (now === this.#lookedAt) return false
    this.#lookedAt = now
    const { othersWrote } = this.#ports
    return (othersWrote === undefined ? 0 : othersWrote()) !== this.#seenWrites
  }

  /** Reads what others changed; those who ask meanwhile wait for the same answer. */
  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #read(): Promise<void> {
    const { store, othersWrote } = this.#ports
    const seen = othersWrote?.() ?? 0
    const { circuits, holds: held } = await store.news(this.#mark)
    for (const record of circuits) {
      this.#mark = Math.max(this.#mark, record.mark)
      const entry = this.#byId.get(record.id)
      if (entry && entry.revision < record.revision)
        this.#takeOver(entry, record, await this.#lastToken(record))
    }
    this.#holds = new Map(held.map((hold) => [hold.downstream, hold]))
    this.#seenWrites = seen
  }

  async #tick(): Promise<void> {
    const { timer, store } = this.#ports
    for (let tick = 1; !this.#closed.signal.aborted; tick++) {
      await timer.waitUntil(timer.now() + tickMs, this.#closed.signal)
      if (this.#closed.signal.aborted) return
      try {
        await this.flush()
        if (this.#isBehind(timer.now())) await this.#look()
        if (this.#holds.size > 0) await this.#settle()
        if (tick % purgeEveryTicks === 0) {
          await store.purgeCalls(Math.floor(timer.now() / 1000) - callsKeptS)
        }
      } catch (error) {
        this.#fault(error, 'look after circuits')
      }
    }
  }

  #fault(error: unknown, what: string): void {
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    this.#ports.log.error({ fault }, `Could not ${what}; trying again`)
  }
}

/** The thresholds of whoever calls now hold; steps of one workflow may ask for different ones. */
function adopt(entry: Entry, policy: CircuitPolicy): void {
  // What the longer window would have held is known to the store, which is asked where a call fails.
  if (entry.window.seconds !== policy.windowS) entry.window = new CallWindow(policy.windowS)
  entry.policy = policy
}

/** The id of the circuit between a caller and a downstream. */
export function circuitId(caller: string, downstream: string): string {
  return sha256(`${caller}\n${downstream}`)
}

/** Thresholds as a step's author asks for them; the rest as everywhere. */
export function policyOf(
  asked: { threshold?: number; windowS?: number; minCalls?: number } | undefined,
): CircuitPolicy {
  if (!asked) return defaultPolicy
  const { threshold, windowS, minCalls } = asked
  return {
    ...defaultPolicy,
    ...(threshold !== undefined && { threshold }),
    ...(windowS !== undefined && { windowS: Math.min(Math.max(1, Math.round(windowS)), maxWindowS) }),
    ...(minCalls !== undefined && { minCalls }),
  }
}

const noJudge = {}
const changedWithoutEnd = 'The circuit is changed without end by others; try again in a moment'

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

const why: Record<RefusedBecause, string> = {
  open: 'too many calls failed, and its cooldown is not over',
  probing: 'one call is trying whether it is well again',
  forced: 'a person holds it open',
  held: 'people are asked about it',
}

/** How a call counts: the downstream answered, or failed, or it was nothing of the downstream's. */
type Says = 'answered' | 'failed' | 'nothing'

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

function larger(a: CallCounts, b: CallCounts): CallCounts {
  return b.calls >= a.calls ? b : a
}

/** The policy is the caller's, and no part of what the circuit has come to. */
function withoutPolicy({ policy: _, ...state }: CircuitState): CircuitState {
  return state
}

/** A change as the run whose call made it records it. */
function changeOf({ name, state, policy }: Entry, before: CircuitState, jti: string): CircuitChange {
  const { calculated } = state
  const former = before.calculated
  const counted = calculated.status === 'open' ? calculated : former.status === 'open' ? former : undefined
  return {
    circuit: name.id,
    caller: name.caller,
    downstream: name.downstream,
    to: calculated.status,
    errorRate: calculated.status === 'closed' ? 0 : (counted?.errorRate ?? 0),
    calls: calculated.status === 'closed' ? 0 : (counted?.calls ?? 0),
    failures: calculated.status === 'closed' ? 0 : (counted?.failures ?? 0),
    windowS: policy.windowS,
    cooldownS:
      calculated.status !== 'closed'
        ? calculated.cooldownS
        : former.status === 'closed'
          ? 0
          : former.cooldownS,
    until: calculated.status === 'closed' ? calculated.since : calculated.until,
    reopened: calculated.status === 'closed' ? 0 : calculated.reopened,
    change: jti,
  }
}

/** When a call asks again that found another circuit's probe out: each circuit a little apart from the others. */
function laterMs({ name }: Entry): number {
  return 1_000 + (Number.parseInt(name.id.replace(/[^0-9]/g, '').slice(0, 6) || '0', 10) % 2_000)
}
