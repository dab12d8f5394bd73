import { withMargin } from '@/lib/runners/time-left'
import type { Timer } from './timer'

interface Work {
  until: number
  over: AbortController
}

/** The time that work is given. `until`: when the signal fires for want of it, ms since the epoch. */
export interface WorkTime {
  signal: AbortSignal
  until: number
  /** For what the work asks of others: less by a margin, and the same for all of it. */
  request(): { signal: AbortSignal; until: number }
  /** True once what the work asked of others was given up. */
  requestOver(): boolean
}

/**
 * Signals for work that has to end in time. Nearly all of it ends long before, so nothing is armed and disarmed for
 * each piece of work: one wait stands for the nearest end there was when it was armed, and looks around when it fires.
 * A controller, a timer and an abort for each of a step's three pieces took longer than the step itself.
 */
export class Deadlines {
  private readonly underWay = new Set<Work>()
  private readonly timer: Timer
  private readonly stop: AbortSignal
  private armed: Work | undefined

  /** `stop` ends all work at once. */
  constructor(timer: Timer, stop: AbortSignal) {
    this.timer = timer
    this.stop = stop
    stop.addEventListener('abort', this.stopAll)
  }

  /** Works under a signal that fires after `limitMs`, or when everything has to stop. */
  async within<T>(limitMs: number, work: (time: WorkTime) => Promise<T>): Promise<T> {
    const begunAt = this.timer.now()
    const item = this.begin(begunAt + limitMs)
    let asked: Work | undefined
    const request = () => {
      asked ??= this.begin(begunAt + withMargin(limitMs))
      return { signal: asked.over.signal, until: asked.until }
    }
    const requestOver = () => asked?.over.signal.aborted ?? false
    try {
      return await work({ signal: item.over.signal, until: item.until, request, requestOver })
    } finally {
      this.underWay.delete(item)
      if (asked) this.underWay.delete(asked)
    }
  }

  private begin(until: number): Work {
    const item: Work = { until, over: new AbortController() }
    if (this.stop.aborted) item.over.abort()
    this.underWay.add(item)
    if (!this.armed || this.armed.until > until) this.arm(until)
    return item
  }

  /** Nothing is under way any more, nor will be. */
  close(): void {
    this.stop.removeEventListener('abort', this.stopAll)
    this.armed?.over.abort()
  }

  private arm(until: number): void {
    this.armed?.over.abort()
    const armed: Work = { until, over: new AbortController() }
    this.armed = armed
    void this.timer.waitUntil(until, armed.over.signal).then(() => {
      if (this.armed !== armed || armed.over.signal.aborted) return
      this.armed = undefined
      this.lookAround()
    })
  }

  private lookAround(): void {
    const now = this.timer.now()
    let next = Number.POSITIVE_INFINITY
    for (const { until, over } of this.underWay) {
      if (until <= now) over.abort()
      else next = Math.min(next, until)
    }
    if (Number.isFinite(next)) this.arm(next)
  }

  private readonly stopAll = (): void => {
    for (const { over } of this.underWay) over.abort()
  }
}
