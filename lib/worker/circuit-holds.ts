/*
 * Downstreams that people are asked about. When three circuits on one downstream open within a minute, or one opens again
 * for the third time, its probes are held and one question is asked, in the run whose call was the last straw: the hold is
 * a row with the downstream as its key, so that fifty workflows on one failing agent ask once, whatever process they are
 * in. Whatever becomes of the question ends the hold.
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
    // Outside of the turn: the question is a commit of a run, and the call need not wait for it.
    void this.#ask(onShared, shared)
  }

  /** Lets go what is held about a downstream: probes may go again. False when nothing was. */
  async release(downstream: string, by: string): Promise<boolean> {
    const { store } = this.#ports
    const was = await store.unhold(downstream)
    this.#cache.dropHold(downstream)
    if (!was) return false
    for (const { id } of await store.ofDownstream(downstream)) {
      await tellWaiting(this.#ports, this.#cache, id, by)
    }
    return true
  }

  /** Ends holds whose question is over, as it was answered. */
  async settle(): Promise<void> {
    const now = this.#ports.timer.now()
    for (const hold of [...this.#cache.holds.values()]) {
      const { downstream, approval, heldAt } = hold
      if (approval !== '') await this.#settleAsked(hold, now)
      else if (heldAt < now - unnamedHoldMs) await this.release(downstream, 'engine')
    }
  }

  async #settleAsked({ downstream, approval }: CircuitHold, now: number): Promise<void> {
    const asked = await this.#ports.approval?.(approval)
    if (asked?.state === 'open') return
    const { verdict, by = 'engine' } = asked ?? {}
    if (verdict === 'hold') await this.#forceOpen(downstream, by, now)
    await this.release(downstream, by)
  }

  async #forceOpen(downstream: string, by: string, now: number): Promise<void> {
    for (const { id, state } of await this.#ports.store.ofDownstream(downstream)) {
      if (state.calculated.status === 'closed' || forcedNow(state, now)) continue
      const reason = `Held open while ${downstream} keeps failing`
      const forced = { to: 'open' as const, by, reason, until: now + heldByPersonMs }
      await forceCircuit(this.#ports, this.#cache, id, forced)
    }
  }

  async #ask(onShared: NonNullable<CircuitPorts['onShared']>, shared: SharedFailure): Promise<void> {
    const { downstream } = shared
    try {
      const approval = await onShared(shared)
      if (approval === undefined) await this.release(downstream, 'engine')
      else if (await this.#ports.store.nameHold(downstream, approval)) {
        const hold = this.#cache.holds.get(downstream)
        if (hold) this.#cache.setHold({ ...hold, approval })
      }
    } catch (error) {
      logFault(this.#ports, error, `ask about ${downstream}`)
      await this.release(downstream, 'engine').catch(() => undefined)
    }
  }
}

function opensSince(since: number): (record: CircuitRecord) => boolean {
  return ({ state }) => state.calculated.status !== 'closed' && state.calculated.since > since
}
