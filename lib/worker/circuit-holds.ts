/*
 * Downstreams that people are asked about. When three circuits on one downstream open within a minute, or one opens again
 * for the third time, its probes are held and one question is asked, in the run whose call was the last straw. The hold is
 * a row with the downstream as its key, so that fifty workflows on one failing agent ask once, whatever process they are
 * in, and no process sends a probe that another holds.
 *
 *            opened together, or again                    "let one probe go"
 *   nothing ─────────────────────────▶ held and asked ─────────────────────────▶ probes go, one at a time
 *      ▲                                │     ▲                                    │   │
 *      │   any other end of the question│     └──── a probe failed: asked again ───┘   │
 *      └────────────────────────────────┴───────── all are closed, or time is over ────┘
 *
 * A failed probe brings the hold back in its own commit: of all circuits that were let go with it, none sends another.
 * The new card says what the probe came to.
 */
import { partyName } from '@/lib/base/party-name'
import { forcedNow } from '@/lib/breaker/circuit'
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
/** A hold whose question was never named belongs to a process that died on the way. */
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
    if (!onShared || who.runId === undefined || calculated.status !== 'open') return
    if (this.#cache.isHeld(entry)) return
    const now = timer.now()
    const opened = (await store.ofDownstream(downstream)).filter(opensSince(now - sharedWithinMs))
    const several = opened.length >= sharedCircuits
    if (!several && calculated.reopened < reopenedOften) return
    const hold: CircuitHold = { downstream, runId: who.runId, approval: '', heldAt: now }
    if (!(await store.hold(hold))) return
    this.#cache.setHold(hold)
    const shared: SharedFailure = {
      downstream,
      runId: who.runId,
      node: who.node ?? '',
      visit: who.visit ?? 1,
      because: several ? 'several' : 'again',
      callers: opened.map(({ caller }) => caller),
      reopened: calculated.reopened,
      sentence: several
        ? `${opened.length} breakers on ${partyName(downstream)} opened within a minute; its probes are held until you decide`
        : `The breaker on ${partyName(downstream)} opened again after ${calculated.reopened} probes; its probes are held until you decide`,
    }
    void this.#ask(onShared, shared)
  }

  /** A probe that a person had let go failed: probes are held again, and people are asked with what it said. */
  askAgain(entry: Entry, who: CallingStep, { downstream, runId }: CircuitHold, said: string): void {
    const { onShared } = this.#ports
    if (!onShared) return
    const { calculated } = entry.state
    void this.#ask(onShared, {
      downstream: entry.name.downstream,
      runId,
      node: who.node ?? '',
      visit: who.visit ?? 1,
      because: 'probe',
      callers: [entry.name.caller],
      reopened: calculated.status === 'open' ? calculated.reopened : 0,
      sentence: `The probe of ${partyName(downstream)} failed: ${said.slice(0, maxSaidChars)}; no other goes until you decide`,
    })
  }

  /** Moves holds on: as their question was answered, and away once there is nothing to hold any more. */
  async settle(): Promise<void> {
    const now = this.#ports.timer.now()
    for (const hold of [...this.#cache.holds.values()]) {
      const { approval, heldAt, releasedAt } = hold
      if (releasedAt !== undefined) await this.#settleReleased(hold, releasedAt, now)
      else if (approval !== '') await this.#settleAsked(hold, now)
      else if (heldAt < now - unnamedHoldMs) await this.#end(hold, 'engine')
    }
  }

  async #settleAsked(hold: CircuitHold, now: number): Promise<void> {
    const { downstream, approval } = hold
    const asked = await this.#ports.approval?.(approval)
    if (asked?.state === 'open') return
    const { verdict, by = 'engine' } = asked ?? {}
    if (verdict === 'release') return this.#letProbesGo(hold, by, now)
    if (verdict === 'hold') await this.#forceOpen(downstream, by, now)
    await this.#end(hold, by)
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
  async #ask(onShared: NonNullable<CircuitPorts['onShared']>, shared: SharedFailure): Promise<void> {
    const { downstream } = shared
    const hold = this.#cache.holds.get(downstream)
    if (!hold) return
    try {
      const approval = await onShared(shared)
      if (approval === undefined) await this.#end(hold, 'engine')
      else if (await this.#ports.store.nameHold(downstream, approval)) {
        this.#cache.setHold({ ...hold, approval })
      }
    } catch (error) {
      logFault(this.#ports, error, `ask about ${downstream}`)
      await this.#end(hold, 'engine').catch(() => undefined)
    }
  }
}

function opensSince(since: number): (record: CircuitRecord) => boolean {
  return ({ state }) => state.calculated.status !== 'closed' && state.calculated.since > since
}
