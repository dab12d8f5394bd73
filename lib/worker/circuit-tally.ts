/*
 * Calls as they are counted: in the circuit's window in memory with every call, in the store once a second, or at once
 * where a call failed and everybody's calls are to be judged. No call writes a row of its own.
 */
import type { CallCounts } from '@/lib/breaker/terms'
import type { CallSecond } from '@/lib/engine/circuit-ports'
import type { Entry } from './circuit-entry'
import { type CircuitPorts, logFault } from './circuit-ports'

const maxCallMs = 86_400_000

export class CallTally {
  readonly #ports: Pick<CircuitPorts, 'store' | 'timer' | 'log' | 'onSlow'>
  /** Something is counted that the store is to be told of within a second. */
  readonly #onPending: () => void
  readonly #dirty = new Set<Entry>()

  constructor(ports: Pick<CircuitPorts, 'store' | 'timer' | 'log' | 'onSlow'>, onPending: () => void) {
    this.#ports = ports
    this.#onPending = onPending
  }

  /** A call ended after `ms`. */
  ended(entry: Entry, ok: boolean, ms: number, now: number): void {
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

  /** A call was refused: never sent. */
  refused(entry: Entry, now: number): void {
    this.#pending(entry, now).rejected++
  }

  /** The larger of what this process counted and what the store has of everybody, after telling it of ours. */
  async everybodys(entry: Entry): Promise<CallCounts> {
    const { store } = this.#ports
    const { pending } = entry
    entry.pending = undefined
    this.#dirty.delete(entry)
    if (pending) await store.addCalls([pending])
    const { counts } = entry.window
    const theirs = await store.callCounts(entry.name.id, this.#firstSecond(entry))
    return theirs.calls >= counts.calls ? theirs : counts
  }

  /** Counts in the store what is counted here. */
  async flush(): Promise<void> {
    const calls: CallSecond[] = []
    for (const entry of this.#dirty) {
      if (entry.pending) calls.push(entry.pending)
      entry.pending = undefined
    }
    this.#dirty.clear()
    if (calls.length > 0) await this.#ports.store.addCalls(calls)
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
    this.#onPending()
    return fresh
  }

  #add(calls: CallSecond): void {
    const { store } = this.#ports
    store.addCalls([calls]).catch((error: unknown) => logFault(this.#ports, error, 'count calls'))
  }

  /** The first second that counts: within the window, and not before the circuit closed. */
  #firstSecond({ state, policy }: Entry): number {
    const { since } = state.calculated
    return Math.max(Math.floor(this.#ports.timer.now() / 1000) - policy.windowS, Math.ceil(since / 1000))
  }
}
