/*
 * Who goes next in a pool that workflows share (cascade section 4.5, ATD section 9). Pure: what runs and who waits come
 * in, what to do comes out, and whoever keeps the pool does it and asks again after every change.
 *
 * The rules, in the order they bind:
 *
 *   1. Never more than the pool's connections, a workflow's connections, its requests in any minute, or the capacity.
 *   2. By priority: critical, high, normal, low. Who has waited `starveAfterS` competes with whatever comes, as if there
 *      were no priorities; with critical work of its own workflow it takes turns.
 *   3. Among those who compete, the workflow that has least goes first, and among equals the one that was served longest
 *      ago: so neither a stream of critical work nor a backlog of old work shuts another workflow out.
 *   4. Nobody keeps places free for a workflow that does not want them: what one leaves, the others get at once.
 *   5. Critical work for which there is no room takes the places of lower work that has not begun its effect: as few as
 *      will do, the lowest and latest first. What has waited too long itself is left in peace. The place is handed over
 *      when its holder has left it.
 *   6. Critical work that has waited `exhaustAfterS` is told, once: a person has to hear of it.
 *   7. Hints never stop a step for good. Who asks for more than there is at all gets all there is; who has waited
 *      `starveAfterS` gets what is free. Both go on degraded.
 *
 * Memory and the like are handed out whole: the first critical step that does not fit keeps others from what is free,
 * or small steps would slip past it for ever. A step held back by its own workflow's bounds keeps nobody waiting.
 *
 * Costs grow with workflows and places, not with how many wait; with several resources, with the longest line too.
 */
import type { Priority, Resources } from '@/lib/workflow/graph'
import { atMost, dominantShare, fitsIn, minus, plus } from './amounts'
import { type Lines, priorities, type Queues } from './queues'
import type { PoolAsk, PoolLimits } from './terms'

export interface PoolRules {
  /** Nobody waits longer because others of higher priority keep coming (ATD: 300). */
  starveAfterS: number
  /** Critical work that could not begin by then is told (ATD: 60). */
  exhaustAfterS: number
}

export const usualRules: PoolRules = { starveAfterS: 300, exhaustAfterS: 60 }

/** A step that has a place. */
export interface Working {
  ask: PoolAsk
  /** What it was given of the capacity. */
  gets: Resources
  /** When it got the place. */
  at: number
  effectBegun: boolean
  /** Its place was taken, and it has not left yet. */
  leaving: boolean
}

export interface PoolState {
  limits: PoolLimits
  /** Absent: steps are only counted. */
  capacity?: Resources
  working: ReadonlyMap<string, Working>
  queues: Queues
  /** What other processes have of the same pool. */
  elsewhere: ReadonlyMap<string, { running: number; requests: number }>
  /** When each workflow's steps began, within the last minute, the oldest first. */
  begun: ReadonlyMap<string, readonly number[]>
  /** Steps that ever began, and at which of them each workflow was served last. */
  turn: number
  servedAt: ReadonlyMap<string, number>
  /** Critical steps that were told to have waited too long. */
  told: ReadonlySet<string>
  /** Workflows whose old work went before their critical work the last time both waited. */
  oldWentFirst: ReadonlySet<string>
}

export interface Decision {
  /** In this order. */
  start: PoolAsk[]
  /** Of those, the ones that get less than they asked for, and what. */
  degraded: Map<string, Resources>
  /** Steps that lose their places. */
  preempt: string[]
  /** Critical steps that nobody has been told of. */
  exhausted: PoolAsk[]
  /** What the state's member of that name becomes. */
  oldWentFirst: ReadonlySet<string>
  /** When time alone changes the answer, ms since the epoch. */
  nextAt?: number
}

export const minuteMs = 60_000

/** What a workflow would begin next. */
interface Turn {
  workflow: string
  /** Its step of the highest priority that fits, and the one that has waited too long for the longest time. */
  first?: PoolAsk
  old?: PoolAsk
}

/** What to do now, ms since the epoch. Does not change the state. */
export function schedule(state: PoolState, now: number, rules: PoolRules = usualRules): Decision {
  const round = new Round(state, now, rules)
  round.startAll()
  round.preempt()
  return round.decision()
}

class Round {
  private readonly start: PoolAsk[] = []
  private readonly started = new Set<string>()
  private readonly degraded = new Map<string, Resources>()
  private readonly taken: string[] = []
  private readonly running = new Map<string, number>()
  private readonly shares = new Map<string, Resources>()
  private readonly served = new Map<string, number>()
  private places: number
  private free: Resources
  /** The first critical step that did not fit, for which the rest is kept while its workflow may begin one. */
  private kept?: PoolAsk
  private readonly oldWentFirst: Set<string>
  private quotaAt = Number.POSITIVE_INFINITY
  private readonly state: PoolState
  private readonly now: number
  private readonly rules: PoolRules

  constructor(state: PoolState, now: number, rules: PoolRules) {
    this.state = state
    this.now = now
    this.rules = rules
    this.places = state.limits.connections
    this.free = state.capacity ?? {}
    this.oldWentFirst = new Set(state.oldWentFirst)
    for (const [workflow, { running }] of state.elsewhere) this.count(workflow, running, {})
    for (const { ask, gets } of state.working.values()) this.count(ask.workflow, 1, gets)
  }

  startAll(): void {
    for (let next = this.next(); next; next = this.next()) this.begin(next)
  }

  decision(): Decision {
    const { start, degraded, taken: preempt, oldWentFirst } = this
    const exhausted = this.exhausted()
    return { start, degraded, preempt, exhausted, oldWentFirst, nextAt: this.nextAt() }
  }

  private count(workflow: string, places: number, gets: Resources): void {
    this.places -= places
    this.running.set(workflow, this.runningOf(workflow) + places)
    if (!this.state.capacity) return
    this.free = minus(this.free, gets)
    this.shares.set(workflow, plus(this.shares.get(workflow) ?? {}, gets))
  }

  private runningOf(workflow: string): number {
    return this.running.get(workflow) ?? 0
  }

  private next(): PoolAsk | undefined {
    if (this.places <= 0) return undefined
    if (!this.kept || !this.mayBegin(this.kept.workflow)) this.kept = this.tooLarge()
    const turns = this.turns()
    const top = Math.min(...turns.flatMap(({ first, old }) => [rankOf(first), rankOf(old)]))
    let best: Turn | undefined
    for (const turn of turns) {
      if (!turn.old && rankOf(turn.first) > top) continue
      if (!best || this.goesBefore(turn.workflow, best.workflow)) best = turn
    }
    return best && this.firstOf(best)
  }

  private turns(): Turn[] {
    const turns: Turn[] = []
    for (const [workflow, lines] of this.state.queues.lines) {
      if (!this.mayBegin(workflow)) continue
      const first = this.first(lines)
      const old = this.old(lines)
      if (first || old) turns.push({ workflow, first, old })
    }
    return turns
  }

  private firstOf({ workflow, first, old }: Turn): PoolAsk | undefined {
    if (!old || !first || old === first || first.priority !== 'critical') return old ?? first
    if (this.oldWentFirst.delete(workflow)) return first
    this.oldWentFirst.add(workflow)
    return old
  }

  private begin(ask: PoolAsk): void {
    const gets = this.gets(ask)
    if (!fitsIn(ask.resources, gets) && this.state.capacity) this.degraded.set(ask.id, gets)
    this.count(ask.workflow, 1, gets)
    this.start.push(ask)
    this.served.set(ask.workflow, this.state.turn + this.start.length)
    this.started.add(ask.id)
  }

  private gets({ resources }: PoolAsk): Resources {
    return this.state.capacity ? atMost(resources, this.free) : {}
  }

  private old(lines: Lines): PoolAsk | undefined {
    let oldest: PoolAsk | undefined
    for (const priority of priorities) {
      const head = this.head(lines, priority)
      if (head && this.isOld(head) && head.since < (oldest?.since ?? Number.POSITIVE_INFINITY)) oldest = head
    }
    return oldest
  }

  private isOld({ since }: PoolAsk): boolean {
    return this.now - since >= this.rules.starveAfterS * 1000
  }

  private first(lines: Lines): PoolAsk | undefined {
    for (const priority of priorities) {
      const ask = this.fitting(lines, priority)
      if (ask) return ask
    }
    return undefined
  }

  private fitting(lines: Lines, priority: Priority): PoolAsk | undefined {
    const { capacity } = this.state
    if (!capacity) return this.head(lines, priority)
    const free = this.kept ? minus(this.free, this.kept.resources) : this.free
    return lines[priority].find((ask) => {
      if (this.started.has(ask.id)) return false
      const wanted = priority === 'critical' ? ask.resources : atMost(ask.resources, capacity)
      return fitsIn(wanted, free)
    })
  }

  /** The critical step that waits longest of those for which there is not enough free, and might be. */
  private tooLarge(): PoolAsk | undefined {
    const { capacity, queues } = this.state
    if (!capacity) return undefined
    let longest: PoolAsk | undefined
    for (const [workflow, { critical }] of queues.lines) {
      if (critical.length === 0 || !this.mayBegin(workflow)) continue
      const large = critical.find(
        ({ id, resources }) =>
          !this.started.has(id) && fitsIn(resources, capacity) && !fitsIn(resources, this.free),
      )
      if (large && large.since < (longest?.since ?? Number.POSITIVE_INFINITY)) longest = large
    }
    return longest
  }

  private head(lines: Lines, priority: Priority): PoolAsk | undefined {
    return lines[priority].find(({ id }) => !this.started.has(id))
  }

  private goesBefore(one: string, other: string): boolean {
    const less = this.share(one) - this.share(other)
    if (less !== 0) return less < 0
    const longer = this.servedAt(one) - this.servedAt(other)
    return longer !== 0 ? longer < 0 : one < other
  }

  private servedAt(workflow: string): number {
    return this.served.get(workflow) ?? this.state.servedAt.get(workflow) ?? 0
  }

  private share(workflow: string): number {
    const { capacity } = this.state
    const taken = this.shares.get(workflow)
    return capacity ? (taken ? dominantShare(taken, capacity) : 0) : this.runningOf(workflow)
  }

  private mayBegin(workflow: string): boolean {
    return this.runningOf(workflow) < this.state.limits.connectionsPerWorkflow && this.hasQuota(workflow)
  }

  private hasQuota(workflow: string): boolean {
    const { requestsPerMinute } = this.state.limits
    if (requestsPerMinute === undefined) return true
    const times = this.state.begun.get(workflow) ?? []
    const first = times.findIndex((at) => at > this.now - minuteMs)
    const recent = first < 0 ? 0 : times.length - first
    const mine = recent + this.start.filter((ask) => ask.workflow === workflow).length
    const others = this.state.elsewhere.get(workflow)?.requests ?? 0
    if (mine + others < requestsPerMinute) return true
    // What others began is known by its number alone: looked at again in a second.
    const at = others > 0 ? this.now + 1000 : (times[first] ?? this.now) + minuteMs
    this.quotaAt = Math.min(this.quotaAt, at)
    return false
  }

  preempt(): void {
    const victims = [...this.state.working.values()].filter((work) => this.mayLose(work))
    if (victims.length === 0) return
    victims.sort(lowestAndLatestFirst)
    // What those leave who were told to leave is spoken for, by the critical steps in their order.
    const room = new RoomToCome(this.state, this.places, this.free, this.running)
    for (const ask of this.criticalWaiting()) {
      if (!this.hasQuota(ask.workflow)) continue
      const gone = room.takeFor(ask, victims)
      this.taken.push(...gone.map((work) => work.ask.id))
      for (const work of gone) victims.splice(victims.indexOf(work), 1)
      if (victims.length === 0) return
    }
  }

  private mayLose({ ask, effectBegun, leaving }: Working): boolean {
    return !effectBegun && !leaving && ask.priority !== 'critical' && !this.isOld(ask)
  }

  /** Nobody looks further down than there are places to take. */
  private criticalWaiting(): PoolAsk[] {
    const most = this.state.working.size
    return [...this.state.queues.lines.values()]
      .flatMap((lines) => lines.critical.filter(({ id }) => !this.started.has(id)).slice(0, most))
      .sort((one, other) => one.since - other.since)
      .slice(0, most)
  }

  private exhausted(): PoolAsk[] {
    const before = this.now - this.rules.exhaustAfterS * 1000
    const found: PoolAsk[] = []
    for (const { critical } of this.state.queues.lines.values()) {
      for (const ask of critical) {
        if (ask.since > before) break
        if (!this.started.has(ask.id) && !this.state.told.has(ask.id)) found.push(ask)
      }
    }
    return found
  }

  private nextAt(): number | undefined {
    const times = [this.quotaAt]
    for (const lines of this.state.queues.lines.values()) {
      const unheard = firstAfter(lines.critical, this.now - this.rules.exhaustAfterS * 1000)
      if (unheard !== undefined) times.push(unheard + this.rules.exhaustAfterS * 1000)
      // Only where less than was asked for can be given does time make room.
      if (!this.state.capacity) continue
      for (const priority of priorities) {
        const young = firstAfter(lines[priority], this.now - this.rules.starveAfterS * 1000)
        if (young !== undefined) times.push(young + this.rules.starveAfterS * 1000)
      }
    }
    const next = Math.min(...times)
    return Number.isFinite(next) ? next : undefined
  }
}

/** Room as it will be when everybody has left who was told to. */
class RoomToCome {
  private places: number
  private free: Resources
  private readonly running: Map<string, number>
  private readonly state: PoolState

  constructor(state: PoolState, places: number, free: Resources, running: ReadonlyMap<string, number>) {
    this.state = state
    this.places = places
    this.free = free
    this.running = new Map(running)
    for (const work of state.working.values()) if (work.leaving) this.gone(work)
  }

  /** Room for the step is spoken for; those who have to leave for it. None when not even all of them would do. */
  takeFor(ask: PoolAsk, victims: readonly Working[]): Working[] {
    const needed = this.fewest(ask, victims)
    if (!needed) return []
    for (const work of needed) this.gone(work)
    this.places--
    this.free = minus(this.free, ask.resources)
    this.running.set(ask.workflow, (this.running.get(ask.workflow) ?? 0) + 1)
    return needed
  }

  private fewest(ask: PoolAsk, victims: readonly Working[]): Working[] | undefined {
    if (this.fits(ask, [])) return []
    const alone = victims.find((work) => this.fits(ask, [work]))
    if (alone) return [alone]
    // Largest first until it fits, then back whoever turned out not to be needed. With one resource that is the fewest.
    const largest = [...victims].sort((one, other) => this.helps(other, ask) - this.helps(one, ask))
    const needed: Working[] = []
    for (const work of largest) {
      if (this.fits(ask, needed)) break
      needed.push(work)
    }
    if (!this.fits(ask, needed)) return undefined
    for (const work of [...needed]) {
      const without = needed.filter((other) => other !== work)
      if (this.fits(ask, without)) needed.splice(needed.indexOf(work), 1)
    }
    return needed
  }

  private helps({ ask: { workflow }, gets }: Working, ask: PoolAsk): number {
    const own = workflow === ask.workflow ? 1e-6 : 0
    return own + dominantShare(atMost(gets, ask.resources), ask.resources)
  }

  private fits(ask: PoolAsk, without: readonly Working[]): boolean {
    const { limits, capacity } = this.state
    const own = without.filter(({ ask: { workflow } }) => workflow === ask.workflow).length
    if (this.places + without.length < 1) return false
    if ((this.running.get(ask.workflow) ?? 0) - own >= limits.connectionsPerWorkflow) return false
    if (!capacity) return true
    return fitsIn(
      ask.resources,
      without.reduce((sum, { gets }) => plus(sum, gets), this.free),
    )
  }

  private gone({ ask, gets }: Working): void {
    this.places++
    this.free = plus(this.free, gets)
    this.running.set(ask.workflow, (this.running.get(ask.workflow) ?? 0) - 1)
  }
}

function rankOf(ask: PoolAsk | undefined): number {
  return ask ? priorities.indexOf(ask.priority) : Number.POSITIVE_INFINITY
}

function lowestAndLatestFirst(one: Working, other: Working): number {
  const lower = priorities.indexOf(other.ask.priority) - priorities.indexOf(one.ask.priority)
  return lower || other.at - one.at
}

/** The first `since` of a line that is later than a time. */
function firstAfter(line: readonly PoolAsk[], time: number): number | undefined {
  let low = 0
  let high = line.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((line[middle] as PoolAsk).since > time) high = middle
    else low = middle + 1
  }
  return line[low]?.since
}
