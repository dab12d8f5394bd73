/*
 * The pools of one process: who waits and who has a place, in memory, decided by lib/pool/schedule.ts after every change.
 * Nothing of it has to survive: a step that had a place when the process ended is recovered by the run's ledger, and
 * enters anew.
 *
 * Processes that share a store tell one another how full their part of each pool is, once a second, and count what the
 * others told: so limits hold for all of them together but for the last second. A process that says nothing for 15 s is
 * taken for dead.
 */
import type { PoolRules } from '@/lib/pool/schedule'
import { Seats } from '@/lib/pool/seats'
import type { PoolAsk, PoolLimits, PoolName, PoolUse } from '@/lib/pool/terms'
import { EffectFailed } from '@/lib/runners/runner'
import type { Resources } from '@/lib/workflow/graph'
import type { Place, Pools } from './pools'
import type { WorkerLog } from './ports'
import type { Timer } from './timer'

/** What a pool has, as administrators set it. */
export interface PoolTerms {
  limits: PoolLimits
  /** Of `here`: what is handed out. */
  capacity?: Resources
  /** Absent: the usual ones. */
  rules?: PoolRules
}

/** Where processes tell one another how full pools are (lib/store/pool-use.ts). */
export interface PoolUseBook {
  /** All that this process has, in place of what it told before. Nothing: it has nothing. */
  tell(owner: string, use: readonly PoolUse[], now: number): Promise<void>
  /** What other processes told, and is not too old. */
  others(owner: string, now: number): Promise<PoolUse[]>
}

export interface PoolPorts {
  timer: Timer
  /** Names this process; no other one has the name. */
  owner: string
  termsOf(pool: PoolName): Promise<PoolTerms>
  use: PoolUseBook
  /** Critical work could not begin for a minute: tells a person. Called once for each ask. */
  exhausted(ask: PoolAsk): void
  log: WorkerLog
}

export interface PoolBook extends Pools {
  /** Says that this process has nothing any more. Nobody may enter afterwards. */
  close(): Promise<void>
}

/** What is full is tried again after this: half of a usual step. */
export const fullPauseMs = 5_000
const tellEveryMs = 1_000
/** What has not changed is told again this often, a third of what the others take for dead. */
const tellAgainMs = 5_000

/** Opens the pools of this process. */
export function openPools(ports: PoolPorts): PoolBook {
  return new Book(ports)
}

interface Waiter {
  ask: PoolAsk
  enter(place: Place): void
}

class Book implements PoolBook {
  private readonly pools = new Map<PoolName, Promise<Pool>>()
  private readonly open = new Map<PoolName, Pool>()
  private readonly over = new AbortController()
  private telling: Promise<void> | undefined
  private told = '[]'
  private toldAt = 0
  private readonly ports: PoolPorts

  constructor(ports: PoolPorts) {
    this.ports = ports
  }

  async enter(ask: PoolAsk, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted()
    const pool = await this.pool(ask.pool)
    signal.throwIfAborted()
    this.over.signal.throwIfAborted()
    const entering = pool.enter(ask, signal)
    this.telling ??= this.tellOn()
    return entering
  }

  async close(): Promise<void> {
    this.over.abort()
    for (const pool of this.open.values()) pool.close()
    await this.telling
  }

  private pool(name: PoolName): Promise<Pool> {
    let opening = this.pools.get(name)
    if (!opening) {
      opening = this.openPool(name)
      this.pools.set(name, opening)
      opening.catch(() => this.pools.delete(name))
    }
    return opening
  }

  private async openPool(name: PoolName): Promise<Pool> {
    const pool = new Pool(name, await this.ports.termsOf(name), this.ports)
    this.open.set(name, pool)
    return pool
  }

  /** Tells and hears once a second for as long as anybody is in a pool, and a last time when nobody is. */
  private async tellOn(): Promise<void> {
    const { timer, log } = this.ports
    do {
      await timer.waitUntil(timer.now() + tellEveryMs, this.over.signal)
      try {
        await this.tell()
        await this.hear()
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.warn({ fault }, 'Could not tell how full the pools are; trying again')
      }
    } while (!this.over.signal.aborted && this.open.size > 0)
    this.telling = undefined
  }

  private async tell(): Promise<void> {
    const { timer, owner, use: book } = this.ports
    const now = timer.now()
    const use: PoolUse[] = []
    for (const [name, { seats }] of this.open) {
      if (!this.over.signal.aborted && !seats.isIdle(now)) use.push(...seats.use(name))
      else this.shut(name)
    }
    const told = JSON.stringify(use)
    if (told === this.told && (use.length === 0 || now - this.toldAt < tellAgainMs)) return
    await book.tell(owner, use, now)
    this.told = told
    this.toldAt = now
  }

  private shut(name: PoolName): void {
    this.open.get(name)?.close()
    this.open.delete(name)
    this.pools.delete(name)
  }

  private async hear(): Promise<void> {
    const { timer, owner, use: book } = this.ports
    if (this.open.size === 0) return
    const others = await book.others(owner, timer.now())
    for (const [name, pool] of this.open) {
      const elsewhere = new Map<string, { running: number; requests: number }>()
      for (const { pool: of, workflow, running, requests } of others) {
        if (of !== name) continue
        const sum = elsewhere.get(workflow) ?? { running: 0, requests: 0 }
        elsewhere.set(workflow, { running: sum.running + running, requests: sum.requests + requests })
      }
      pool.changed(await this.ports.termsOf(name), elsewhere)
    }
  }
}

/** One pool: its seats, and the steps behind them. */
class Pool {
  readonly seats: Seats
  private readonly waiters = new Map<string, Waiter>()
  private readonly placed = new Map<string, AbortController>()
  private entered = 0
  private looking = false
  private alarm: { at: number; off: AbortController } | undefined
  private rules: PoolRules | undefined
  private readonly name: PoolName
  private readonly ports: PoolPorts

  constructor(name: PoolName, { limits, capacity, rules }: PoolTerms, ports: PoolPorts) {
    this.rules = rules
    this.name = name
    this.ports = ports
    this.seats = new Seats(limits, capacity)
  }

  enter(ask: PoolAsk, signal: AbortSignal): Promise<Place> {
    // Whoever asks twice by one name is two.
    const own: PoolAsk = { ...ask, id: `${++this.entered}` }
    if (!this.seats.join(own)) {
      // Those who came a moment ago may only seem to wait.
      this.decide()
      if (!this.seats.join(own)) return Promise.reject(this.full(ask))
    }
    return new Promise((resolve, reject) => {
      const givenUp = () => {
        this.waiters.delete(own.id)
        this.seats.leave(own)
        this.look()
        reject(signal.reason)
      }
      signal.addEventListener('abort', givenUp, { once: true })
      this.waiters.set(own.id, {
        ask,
        enter: (place) => {
          signal.removeEventListener('abort', givenUp)
          resolve(place)
        },
      })
      this.look()
    })
  }

  changed({ limits, capacity, rules }: PoolTerms, elsewhere: Seats['elsewhere']): void {
    const { seats } = this
    const before = JSON.stringify([seats.limits, seats.capacity, this.rules, [...seats.elsewhere]])
    if (before === JSON.stringify([limits, capacity, rules, [...elsewhere]])) return
    this.rules = rules
    seats.limits = limits
    seats.capacity = capacity
    seats.elsewhere = elsewhere
    this.look()
  }

  close(): void {
    this.alarm?.off.abort()
    this.alarm = undefined
  }

  /** Decides once for all that happens in one turn of the event loop. */
  private look(): void {
    if (this.looking) return
    this.looking = true
    queueMicrotask(() => {
      this.looking = false
      this.decide()
    })
  }

  private decide(): void {
    const decision = this.seats.schedule(this.ports.timer.now(), this.rules)
    for (const id of decision.preempt) this.placed.get(id)?.abort()
    for (const own of decision.exhausted) {
      const waiter = this.waiters.get(own.id)
      if (waiter) this.ports.exhausted(waiter.ask)
    }
    for (const own of decision.start) {
      const waiter = this.waiters.get(own.id)
      this.waiters.delete(own.id)
      waiter?.enter(this.place(own, decision.degraded.has(own.id)))
    }
    this.wakeAt(decision.nextAt)
  }

  private place(own: PoolAsk, degraded: boolean): Place {
    const taken = new AbortController()
    this.placed.set(own.id, taken)
    return {
      degraded,
      preempted: taken.signal,
      effectBegins: () => this.seats.effectBegins(own.id),
      leave: () => {
        if (!this.placed.delete(own.id)) return
        this.seats.leave(own)
        this.look()
      },
    }
  }

  private wakeAt(at: number | undefined): void {
    if (this.alarm && this.alarm.at === at) return
    this.alarm?.off.abort()
    this.alarm = undefined
    if (at === undefined) return
    const alarm = { at, off: new AbortController() }
    this.alarm = alarm
    void this.ports.timer.waitUntil(at, alarm.off.signal).then(() => {
      if (this.alarm !== alarm) return
      this.alarm = undefined
      this.decide()
    })
  }

  private full({ workflow }: PoolAsk): EffectFailed {
    const { queuePerWorkflow } = this.seats.limits
    return new EffectFailed(
      'bulkhead_full',
      `${queuePerWorkflow.toLocaleString('en-US')} steps of ${workflow} wait for ${this.name} already, which is as many as may; raise the queue of that agent under Bulkheads, or run less at once`,
      {
        errorType: 'resource_exhausted',
        retriable: true,
        retryAt: this.ports.timer.now() + fullPauseMs,
      },
    )
  }
}
