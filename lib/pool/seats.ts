import type { Resources } from '@/lib/workflow/graph'
import { Queues } from './queues'
import { type Decision, minuteMs, type PoolRules, type PoolState, schedule, type Working } from './schedule'
import type { PoolAsk, PoolLimits, PoolUse } from './terms'

/** A workflow whose steps began less than this many turns ago keeps its turn. */
const turnsKept = 10_000

/** A pool as it changes: who has a place, who waits. Knows no clock; times are ms since the epoch. */
export class Seats implements PoolState {
  limits: PoolLimits
  capacity?: Resources
  readonly working = new Map<string, Working>()
  readonly queues = new Queues()
  elsewhere: ReadonlyMap<string, { running: number; requests: number }> = new Map()
  readonly begun = new Map<string, number[]>()
  readonly servedAt = new Map<string, number>()
  readonly told = new Set<string>()
  turn = 0
  oldWentFirst: ReadonlySet<string> = new Set()

  constructor(limits: PoolLimits, capacity?: Resources) {
    this.limits = limits
    this.capacity = capacity
  }

  /** False when as many steps of the workflow wait as may. */
  join(ask: PoolAsk): boolean {
    if (this.queues.waiting(ask.workflow) >= this.limits.queuePerWorkflow) return false
    this.queues.join(ask)
    return true
  }

  /** It neither waits nor works here any more. */
  leave(ask: PoolAsk): void {
    this.told.delete(ask.id)
    if (!this.queues.leave(ask)) this.working.delete(ask.id)
  }

  /** False when its place was taken before. */
  effectBegins(id: string): boolean {
    const work = this.working.get(id)
    if (!work || work.leaving) return false
    work.effectBegun = true
    return true
  }

  /** Decides, and changes the state accordingly. */
  schedule(now: number, rules?: PoolRules): Decision {
    this.forget(now)
    const decision = schedule(this, now, rules)
    for (const ask of decision.start) this.begin(ask, now, decision.degraded.get(ask.id))
    for (const id of decision.preempt) {
      const work = this.working.get(id)
      if (work) work.leaving = true
    }
    for (const { id } of decision.exhausted) this.told.add(id)
    this.oldWentFirst = decision.oldWentFirst
    return decision
  }

  /** Each workflow that works or waits here, or did within the last minute. */
  use(pool: string): PoolUse[] {
    const running = new Map<string, number>()
    for (const { ask } of this.working.values())
      running.set(ask.workflow, (running.get(ask.workflow) ?? 0) + 1)
    const workflows = new Set([...running.keys(), ...this.queues.lines.keys(), ...this.begun.keys()])
    return [...workflows].map((workflow) => {
      const oldestAt = this.queues.oldest(workflow)
      return {
        pool,
        workflow,
        running: running.get(workflow) ?? 0,
        queued: this.queues.waiting(workflow),
        requests: this.begun.get(workflow)?.length ?? 0,
        ...(oldestAt !== undefined && { oldestAt }),
      }
    })
  }

  /** Nobody works or waits, and nothing of the last minute counts. */
  isIdle(now: number): boolean {
    this.forget(now)
    return this.working.size === 0 && this.queues.lines.size === 0 && this.begun.size === 0
  }

  private begin(ask: PoolAsk, now: number, less: Resources | undefined): void {
    this.queues.leave(ask)
    this.told.delete(ask.id)
    const gets = less ?? (this.capacity ? ask.resources : {})
    this.working.set(ask.id, { ask, gets, at: now, effectBegun: false, leaving: false })
    this.servedAt.set(ask.workflow, ++this.turn)
    const times = this.begun.get(ask.workflow)
    if (times) times.push(now)
    else this.begun.set(ask.workflow, [now])
  }

  private forget(now: number): void {
    for (const [workflow, times] of this.begun) {
      const past = times.findIndex((at) => at > now - minuteMs)
      if (past < 0) this.begun.delete(workflow)
      else if (past > 0) times.splice(0, past)
    }
    if (this.servedAt.size < turnsKept) return
    for (const [workflow, turn] of this.servedAt) {
      if (turn < this.turn - turnsKept) this.servedAt.delete(workflow)
    }
  }
}
