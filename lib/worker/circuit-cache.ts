/*
 * The circuits that this process knows, and how it keeps up with what others change. Whoever calls finds its circuit here
 * by caller and downstream; once a millisecond at most the store is asked whether anybody else wrote, and only then is
 * what changed read again, all of it in one look that everybody waits for. Circuits that nothing happens to are forgotten
 * first when there are too many.
 */
import { uuidOfText } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { defaultPolicy, newCircuit } from '@/lib/breaker/circuit'
import type { Caller, CircuitPolicy, CircuitState, Downstream } from '@/lib/breaker/terms'
import type { CircuitHold, CircuitRecord } from '@/lib/engine/circuit-ports'
import { circuitId, type Entry, entryOf, takeOver } from './circuit-entry'
import type { CircuitPorts } from './circuit-ports'

/** Circuits kept in memory; those that nothing happens to go first. */
const entriesKept = 10_000

export class CircuitCache {
  readonly #ports: Pick<CircuitPorts, 'store' | 'timer' | 'signer' | 'othersWrote'>
  readonly #byCaller = new Map<Caller, Map<Downstream, Entry>>()
  readonly #byId = new Map<string, Entry>()
  /** Whose call came last: mostly it is the next one's too, and two look-ups take longer than the decision. */
  #latest: Entry | undefined
  readonly #opening = new Map<string, Promise<Entry>>()
  /** Probes that people are asked about, or let go, by downstream. */
  #holds = new Map<string, CircuitHold>()
  #mark = 0
  #seenWrites: number | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(ports: Pick<CircuitPorts, 'store' | 'timer' | 'signer' | 'othersWrote'>) {
    this.#ports = ports
  }

  /** The circuit, where it is known here. */
  find(caller: Caller, downstream: Downstream): Entry | undefined {
    const latest = this.#latest
    if (latest?.name.caller === caller && latest.name.downstream === downstream) return latest
    const entry = this.#byCaller.get(caller)?.get(downstream)
    if (entry) this.#latest = entry
    return entry
  }

  withId(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  all(): Iterable<Entry> {
    return this.#byId.values()
  }

  /** The circuit, from the store where it is not known here, made where there is none. */
  async open(caller: Caller, downstream: Downstream, policy: CircuitPolicy): Promise<Entry> {
    const id = circuitId(caller, downstream)
    const known = this.#byId.get(id)
    if (known) return known
    const opening = this.#opening.get(id) ?? this.#opened(caller, downstream, id, policy)
    this.#opening.set(id, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(id)
    }
  }

  /** Throws Problem `not_found`. */
  async openId(id: string): Promise<Entry> {
    const known = this.#byId.get(id)
    if (known) return known
    const record = await this.#ports.store.get(id)
    if (!record)
      throw new Problem('not_found', `There is no breaker ${JSON.stringify(id.slice(0, 60))} here.`)
    const { caller, downstream, state } = record
    return this.open(caller as Caller, downstream as Downstream, state.policy ?? defaultPolicy)
  }

  /** The circuit as its row is now. */
  async reread(entry: Entry): Promise<void> {
    const record = await this.#ports.store.get(entry.name.id)
    if (record) takeOver(entry, record, await this.#lastToken(record))
  }

  // ── holds ──────────────────────────────────────────────────────────────────────────────────────────────────────

  get holds(): ReadonlyMap<string, CircuitHold> {
    return this.#holds
  }

  setHold(hold: CircuitHold): void {
    this.#holds.set(hold.downstream, hold)
  }

  dropHold(downstream: string): void {
    this.#holds.delete(downstream)
  }

  /** True while people are asked about the circuit's downstream. */
  isHeld({ name }: Entry): boolean {
    if (this.#holds.size === 0) return false
    const hold = this.#holds.get(name.downstream)
    return hold !== undefined && hold.releasedAt === undefined
  }

  // ── keeping up ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Asked at most once a millisecond: did anybody else write? True also while that is read. */
  isBehind(now: number): boolean {
    if (this.#looking !== undefined) return true
    if (now === this.#lookedAt) return false
    this.#lookedAt = now
    const { othersWrote } = this.#ports
    return (othersWrote === undefined ? 0 : othersWrote()) !== this.#seenWrites
  }

  /** Reads what others changed; those who ask meanwhile wait for the same answer. */
  look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #read(): Promise<void> {
    const { store, othersWrote } = this.#ports
    const seen = othersWrote?.() ?? 0
    const { circuits, holds } = await store.news(this.#mark)
    for (const record of circuits) {
      this.#mark = Math.max(this.#mark, record.mark)
      const entry = this.#byId.get(record.id)
      if (entry && entry.revision < record.revision) takeOver(entry, record, await this.#lastToken(record))
    }
    this.#holds = new Map(holds.map((hold) => [hold.downstream, hold]))
    this.#seenWrites = seen
  }

  // ── entries ────────────────────────────────────────────────────────────────────────────────────────────────────

  async #opened(caller: Caller, downstream: Downstream, id: string, policy: CircuitPolicy): Promise<Entry> {
    const { store, timer, signer } = this.#ports
    let record = await store.get(id)
    if (!record) {
      const now = timer.now()
      const name = { id, wid: uuidOfText(`circuit ${signer.iss} ${id}`), caller, downstream }
      // From the beginning of this second on, so that calls counted by the second are all its own.
      const state: CircuitState = { ...newCircuit(Math.floor(now / 1000) * 1000), policy }
      await store.ensure([{ ...name, state, at: now }])
      record = await store.get(id)
    }
    if (!record) throw new Problem('not_found', 'The breaker could not be kept in the store')
    return this.#keep(entryOf(record, await this.#lastToken(record), policy, timer.now()))
  }

  #keep(entry: Entry): Entry {
    const { id, caller, downstream } = entry.name
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
      if (entry.usedAt > before || entry.pending !== undefined) continue
      this.#byId.delete(id)
      const ofCaller = this.#byCaller.get(entry.name.caller)
      ofCaller?.delete(entry.name.downstream)
      if (ofCaller?.size === 0) this.#byCaller.delete(entry.name.caller)
    }
  }

  async #lastToken({ id, revision }: CircuitRecord): Promise<string> {
    if (revision === 0) return ''
    const [last] = await this.#ports.store.tokens(id, { limit: 1 })
    return last?.jti ?? ''
  }
}
