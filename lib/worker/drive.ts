/*
 * Driving one run under a lease: ask what is due, take it in hand, wait for a change, ask again. What is in hand is
 * the only thing remembered, and only so that nothing is taken in hand twice; losing it (a crash) costs one recovery.
 */
import { isProblem } from '@/lib/base/problem'
import { type Due, due } from '@/lib/engine/due'
import { workedUpWords } from '@/lib/engine/limits'
import type { LeaseRef } from '@/lib/engine/ports'
import { HandedOver } from './handed-over'
import type { Hold } from './hold'
import { followError } from './on-error'
import type { WorkerPorts } from './ports'
import { placeKey, Steps } from './steps'
import { takeBack } from './take-back'
import { undoRollback } from './undo'

/** After a fault the same item waits this long before it is taken in hand again. */
export const faultPauseMs = 2000
/** After a refusal because the run moved on: what is due then is asked anew, but never in a tight circle. */
const moveOnPauseMs = 100

export class RunDriver {
  private readonly inHand = new Map<string, Promise<void>>()
  private readonly coolUntil = new Map<string, number>()
  private readonly steps: Steps
  private signalled = false
  private wakeUp: () => void = () => undefined
  private readonly ports: WorkerPorts
  readonly hold: Hold
  private readonly draining: AbortSignal

  /** `draining`: take nothing more in hand. */
  constructor(ports: WorkerPorts, hold: Hold, draining: AbortSignal) {
    this.ports = ports
    this.hold = hold
    this.draining = draining
    this.steps = new Steps(ports, hold, draining)
  }

  private get lease(): LeaseRef {
    return this.hold.lease
  }

  /** Something happened to the run: look again. */
  wake(): void {
    this.signalled = true
    this.wakeUp()
  }

  /**
   * Drives until nothing is due that this worker can do, or it drains or loses the lease. What is in hand is over when
   * this is: whoever gets the run next may trust that nobody here is still at it.
   */
  async drive(): Promise<void> {
    const look = () => this.wake()
    this.draining.addEventListener('abort', look)
    this.hold.lost.addEventListener('abort', look)
    try {
      await this.driveOn()
    } finally {
      await Promise.allSettled(this.inHand.values())
      this.draining.removeEventListener('abort', look)
      this.steps.close()
    }
  }

  private async driveOn(): Promise<void> {
    while (!this.hold.lost.aborted && !this.draining.aborted) {
      this.signalled = false
      const { now: list, alarmAt } = await this.ports.book.read(this.lease.runId, (run) =>
        due(run, this.ports.timer.now()),
      )
      this.steps.keepWaiting(
        new Set(list.flatMap((item) => ('visit' in item ? placeKey(item.node, item.visit) : []))),
      )
      for (const item of list) this.take(item)
      const coolAt = this.coolAt(list)
      if (this.inHand.size === 0 && coolAt === undefined) break
      await this.sleep(Math.min(alarmAt ?? Number.POSITIVE_INFINITY, coolAt ?? Number.POSITIVE_INFINITY))
    }
  }

  /** When the first thing that is due, and waits after a fault, may be taken in hand again. */
  private coolAt(list: Due[]): number | undefined {
    const times = list
      .map((item) => keyOf(item))
      .flatMap((key) => (this.inHand.has(key) ? [] : (this.coolUntil.get(key) ?? [])))
    return times.length > 0 ? Math.min(...times) : undefined
  }

  private take(item: Due): void {
    const key = keyOf(item)
    if (this.inHand.has(key)) return
    const cool = this.coolUntil.get(key)
    if (cool !== undefined && cool > this.ports.timer.now()) return
    this.coolUntil.delete(key)
    const work = this.handle(item)
      .catch((error) => this.fault(key, item, error))
      .finally(() => {
        this.inHand.delete(key)
        this.wake()
      })
    this.inHand.set(key, work)
  }

  private async handle(item: Due): Promise<void> {
    const { book } = this.ports
    const { runId } = this.lease
    const { along } = this.hold
    switch (item.do) {
      case 'prepare':
        return this.steps.prepare(item.node, item.visit)
      case 'begin':
        return this.steps.beginWith(item.node, item.visit, item.action)
      case 'attend':
        return this.steps.recover(item.node, item.visit, item.attempt)
      case 'lapse':
        await book.execute(runId, { type: 'lapse', node: item.node, visit: item.visit }, along)
        return
      case 'silence':
        await book.execute(runId, { type: 'silence', approval: item.approval }, along)
        return
      case 'undo':
        return undoRollback(this.ports, this.hold, this.draining, item.rollback)
      case 'take_back':
        return takeBack(this.ports, this.hold, item.approval)
      case 'follow_error':
        return followError(this.ports, this.hold, item.error)
      case 'expire':
        await book.execute(runId, { type: 'cancel', by: 'engine', ...outOfTime(item.exhausted) }, along)
        return
      case 'finish':
        await book.execute(runId, { type: 'finish' }, along)
        return
      default:
        item satisfies never
    }
  }

  private fault(key: string, item: Due, thrown: unknown): void {
    const error = thrown instanceof HandedOver ? thrown.fault : thrown
    // It waits on without this worker, which stops or has lost the run.
    if (!error) return
    if (isProblem(error, 'lease_lost')) return this.hold.lose()
    const now = this.ports.timer.now()
    // The run moved on between asking and doing; asking again says what is due now.
    const codes = ['run_moved_on', 'run_ended', 'rollback_plan_changed'] as const
    if (codes.some((code) => isProblem(error, code))) {
      this.coolUntil.set(key, now + moveOnPauseMs)
      return
    }
    this.coolUntil.set(key, now + faultPauseMs)
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    this.ports.log.error(
      { run: this.lease.runId, item, fault },
      `Could not ${item.do} in ${this.lease.runId}; trying again`,
    )
  }

  private async sleep(until: number): Promise<void> {
    if (this.signalled) return
    const woken = new Promise<void>((resolve) => {
      this.wakeUp = resolve
    })
    if (!Number.isFinite(until)) return woken
    const over = new AbortController()
    await Promise.race([woken, this.ports.timer.waitUntil(until, over.signal)])
    over.abort()
  }
}

function outOfTime(exhausted: 'max_wall_time_sec' | undefined) {
  if (exhausted === undefined) return { reason: 'The run is out of its time budget' }
  return { reason: workedUpWords, exhausted }
}

/** What must not be done twice at once: one thing per visit of a node, per question, per rollback. */
function keyOf(item: Due): string {
  switch (item.do) {
    case 'prepare':
    case 'begin':
    case 'attend':
    case 'lapse':
      return `step ${item.node} ${item.visit}`
    case 'silence':
      return `silence ${item.approval}`
    case 'undo':
      return `undo ${item.rollback}`
    case 'follow_error':
      return `error ${item.error}`
    case 'take_back':
    case 'expire':
    case 'finish':
      return item.do
    default:
      return item satisfies never
  }
}
