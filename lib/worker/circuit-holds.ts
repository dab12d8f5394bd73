/*
 * Downstreams that people are asked about. When three circuits on one downstream open within a minute, or one opens again
 * for the third time, its probes are held and one question is asked, in the run whose call was the last straw. The hold is
 * a row with the downstream as its key, so that fifty workflows on one failing agent ask once, whatever process they are
 * in, and no process sends a probe that another holds.
 *
 *            opened together, or again                    "let one probe go"
 *   nothing ─────────────────────────▶ held and asked ─────────────────────────▶ probes go, one at a time
 *      ▲                                │     ▲                                    │   │
 *      │   "hold", or nobody waits      │     └──── a probe failed: asked again ───┘   │
 *      └────────────────────────────────┴───────── all are closed, or time is over ────┘
 *
 * A failed probe brings the hold back in its own commit: of all circuits that were let go with it, none sends another.
 * The new card says what the probe came to.
 *
 * The question is about the downstream, not the run that carries it. Where that run is taken back or ends before anybody
 * answered, the hold stands, and the question is asked in another that waits behind the downstream; so is one that a
 * process died on before it was asked. The hold's row is the fence: who moves it on asks.
 */
import { partyName } from '@/lib/base/party-name'
import { forcedNow } from '@/lib/breaker/circuit'
import type { Downstream } from '@/lib/breaker/terms'
import type { CircuitHold, CircuitRecord } from '@/lib/engine/circuit-ports'
import { forceCircuit, tellWaiting } from './circuit-by-person'
import type { CircuitCache } from './circuit-cache'
import type { Entry } from './circuit-entry'
import { type CallingStep, type CircuitPorts, logFault, type SharedFailure } from './circuit-ports'

/** Circuits that open on one downstream within this time are one failure (NOTES 3.12). */
const sharedWithinMs = 60_000
const sharedCircuits = 3
/** A circuit that opened again so often is asked about. */
const reopenedOften = 3
/** How long it stays open when a person says so. */
const heldByPersonMs = 3_600_000
/** A hold whose question was not named by then is asked about anew: its process died on the way, or could not ask. */
const unnamedHoldMs = 60_000
/** Probes that were let go are remembered as such: through two of the longest cooldowns. */
const releasedForMs = 600_000
const maxSaidChars = 300

export class CircuitHolds {
  readonly #ports: CircuitPorts
  readonly #cache: CircuitCache

  constructor(ports: CircuitPorts, cache: CircuitCache) {
    this.#ports = ports
    this.#cache = cache
  }

  /** Is it a failure of what others share too, or one that does not end? Then people are asked, once. */
  async askIfShared(entry: Entry, who: CallingStep): Promise<void> {
    const { store, timer, onShared } = this.#ports
    const { calculated } = entry.state
    const { downstream } = entry.name
    const asks = askedAt(who)
    if (!onShared || !asks || calculated.status !== 'open') return
    if (this.#cache.isHeld(entry)) return
    const now = timer.now()
    const opened = (await store.ofDownstream(downstream)).filter(opensSince(now - sharedWithinMs))
    const several = opened.length >= sharedCircuits
    if (!several && calculated.reopened < reopenedOften) return
    const hold: CircuitHold = { downstream, runId: asks.runId, approval: '', heldAt: now }
    if (!(await store.hold(hold))) return
    this.#cache.setHold(hold)
    const shared: SharedFailure = {
      downstream,
      ...asks,
      because: several ? 'several' : 'again',
      callers: opened.map(({ caller }) => caller),
      reopened: calculated.reopened,
      sentence: several
        ? `${opened.length} breakers on ${partyName(downstream)} opened within a minute; its probes are held until you decide`
        : `The breaker on ${partyName(downstream)} opened again after ${calculated.reopened} probes; its probes are held until you decide`,
    }
    void this.#ask(onShared, shared, hold)
  }

  /** A probe that a person had let go failed: probes are held again, and people are asked with what it said. */
  askAgain(entry: Entry, who: CallingStep, hold: CircuitHold, said: string): void {
    const { onShared } = this.#ports
    if (!onShared) return
    const { calculated } = entry.state
    const { caller, downstream } = entry.name
    const shared: SharedFailure = {
      downstream,
      ...(askedAt(who) ?? { runId: hold.runId, visit: 1 }),
      because: 'probe',
      callers: [caller],
      reopened: calculated.status === 'open' ? calculated.reopened : 0,
      sentence: `The probe of ${partyName(downstream)} failed: ${said.slice(0, maxSaidChars)}; no other goes until you decide`,
    }
    void this.#ask(onShared, shared, hold)
  }

  /** Moves holds on: as their question was answered, and away once there is nothing to hold any more. */
  async settle(): Promise<void> {
    const now = this.#ports.timer.now()
    for (const hold of [...this.#cache.holds.values()]) {
      const { approval, heldAt, releasedAt } = hold
      if (releasedAt !== undefined) await this.#settleReleased(hold, releasedAt, now)
      else if (approval !== '') await this.#settleAsked(hold, now)
      else if (heldAt < now - unnamedHoldMs) await this.#askAnew(hold, now)
    }
  }

  async #settleAsked(hold: CircuitHold, now: number): Promise<void> {
    const { downstream, approval } = hold
    const asked = await this.#ports.approval?.(approval)
    if (asked?.state === 'open') return
    if (asked?.state !== 'decided') return this.#askAnew(hold, now, asked?.sentence)
    const { verdict, by = 'engine' } = asked
    if (verdict === 'release') return this.#letProbesGo(hold, by, now)
    if (verdict === 'hold') await this.#forceOpen(downstream, by, now)
    await this.#end(hold, by)
  }

  /** Nobody answered, and nobody can where it was asked: it is asked elsewhere, in the same words where they are known. */
  async #askAnew(hold: CircuitHold, now: number, sentence?: string): Promise<void> {
    const { store, onShared } = this.#ports
    const { downstream, runId } = hold
    if (!onShared) return
    if (!(await store.askHoldAnew(hold, now))) return this.#cache.look()
    const anew = { ...hold, approval: '', heldAt: now }
    this.#cache.setHold(anew)
    const open = (await store.ofDownstream(downstream)).filter(opensSince(0))
    const shared: SharedFailure = {
      downstream: downstream as Downstream,
      runId,
      visit: 1,
      because: 'unanswered',
      callers: open.map(({ caller }) => caller),
      reopened: 0,
      sentence: sentence ?? `${partyName(downstream)} keeps failing; its probes are held until you decide`,
    }
    await this.#ask(onShared, shared, anew)
  }

  async #letProbesGo(hold: CircuitHold, by: string, now: number): Promise<void> {
    const { downstream, approval } = hold
    if (!(await this.#ports.store.letProbesGo(downstream, approval, now))) return this.#cache.look()
    this.#cache.setHold({ ...hold, releasedAt: now })
    await this.#tellAll(downstream, by)
  }

  async #settleReleased(hold: CircuitHold, releasedAt: number, now: number): Promise<void> {
    const all = await this.#ports.store.ofDownstream(hold.downstream)
    const isWell = all.every(({ state }) => state.calculated.status === 'closed')
    if (!isWell && releasedAt > now - releasedForMs) return
    if (await this.#ports.store.unhold(hold)) this.#cache.dropHold(hold.downstream)
  }

  /** Probes may go as if nobody had been asked. */
  async #end(hold: CircuitHold, by: string): Promise<void> {
    if (!(await this.#ports.store.unhold(hold))) return this.#cache.look()
    this.#cache.dropHold(hold.downstream)
    await this.#tellAll(hold.downstream, by)
  }

  async #tellAll(downstream: string, by: string): Promise<void> {
    for (const { id } of await this.#ports.store.ofDownstream(downstream)) {
      await tellWaiting(this.#ports, this.#cache, id, by)
    }
  }

  async #forceOpen(downstream: string, by: string, now: number): Promise<void> {
    for (const { id, state } of await this.#ports.store.ofDownstream(downstream)) {
      if (state.calculated.status === 'closed' || forcedNow(state, now)) continue
      const reason = `Held open while ${downstream} keeps failing`
      const forced = { to: 'open' as const, by, reason, until: now + heldByPersonMs }
      await forceCircuit(this.#ports, this.#cache, id, forced)
    }
  }

  /** Outside of the turn: the question is a commit of a run, and the call need not wait for it. */
  async #ask(
    onShared: NonNullable<CircuitPorts['onShared']>,
    shared: SharedFailure,
    hold: CircuitHold,
  ): Promise<void> {
    const { downstream } = hold
    try {
      const asked = await onShared(shared)
      if (asked === undefined) await this.#endUnasked(hold)
      else if (await this.#ports.store.nameHold(hold, asked)) this.#cache.setHold({ ...hold, ...asked })
      else await this.#cache.look()
    } catch (error) {
      // The hold stands, and is asked about anew when it has had no question for a while.
      logFault(this.#ports, error, `ask about ${downstream}`)
    }
  }

  async #endUnasked(hold: CircuitHold): Promise<void> {
    const { downstream } = hold
    this.#ports.log.info(
      { downstream },
      `Probes of ${downstream} are held no longer: no run waits behind it that could ask people`,
    )
    await this.#end(hold, 'engine')
  }
}

/** Where people are asked of what came of a call: in its own run, or, of a person's probe, where the breaker opened. */
function askedAt({
  runId,
  node,
  visit = 1,
  opener,
}: CallingStep): Pick<SharedFailure, 'runId' | 'node' | 'visit' | 'afterEnd'> | undefined {
  if (runId !== undefined) return { runId, ...(node !== undefined && { node }), visit }
  return opener && { ...opener, afterEnd: true }
}

function opensSince(since: number): (record: CircuitRecord) => boolean {
  return ({ state }) => state.calculated.status !== 'closed' && state.calculated.since > since
}
