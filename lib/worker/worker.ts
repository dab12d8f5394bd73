/*
 * A worker: leases runs that are due, drives each, keeps the leases alive, and lets go in good order. Any number of
 * workers, in the server or alone, may share one store: the lease keeps two from doing the same work, the ledger's
 * fence keeps two from writing the same token.
 */
import type { RunId } from '@/lib/base/ids'
import type { LeaseRef } from '@/lib/engine/ports'
import { RunDriver } from './drive'
import type { WorkerPorts } from './ports'

/** 30 s: two missed heartbeats and a skewed clock. */
export const leaseMs = 30_000
export const heartbeatMs = 10_000
/** Runs one worker drives at once. */
export const maxRuns = 256
/** How long a shutdown waits for effects in hand before it aborts them. */
export const graceMs = 30_000
/** Without a change the worker looks at the store at least this often: another process may have made a run due. */
const idleLookMs = 5000

export interface Worker {
  readonly owner: string
  /** Looks for due runs now. */
  wake(): void
  /** Takes no more, lets effects finish (up to `graceMs`), releases the leases. */
  stop(): Promise<void>
}

/** Starts a worker. `owner` names it in leases and logs. */
export function startWorker(ports: WorkerPorts, owner: string): Worker {
  const loop = new WorkerLoop(ports, owner)
  loop.start()
  return loop
}

class WorkerLoop implements Worker {
  readonly owner: string
  private readonly ports: WorkerPorts
  private readonly draining = new AbortController()
  private readonly abort = new AbortController()
  private readonly stopped = new AbortController()
  private readonly drivers = new Map<RunId, { driver: RunDriver; done: Promise<void> }>()
  private wakeUp: () => void = () => undefined
  private signalled = false
  private loops: Promise<unknown> = Promise.resolve()
  private unlisten: () => void = () => undefined

  constructor(ports: WorkerPorts, owner: string) {
    this.ports = ports
    this.owner = owner
  }

  start(): void {
    this.unlisten = this.ports.onAppend(({ runId }) => {
      const running = this.drivers.get(runId)
      if (running) running.driver.wake()
      else this.wake()
    })
    this.loops = Promise.all([this.claimLoop(), this.heartbeatLoop()])
  }

  wake(): void {
    this.signalled = true
    this.wakeUp()
  }

  async stop(): Promise<void> {
    this.unlisten()
    this.draining.abort()
    this.wake()
    const grace = new AbortController()
    const { timer } = this.ports
    void timer.waitUntil(timer.now() + graceMs, grace.signal).then(() => this.abort.abort())
    await Promise.allSettled([...this.drivers.values()].map(({ done }) => done))
    grace.abort()
    this.stopped.abort()
    await this.loops
  }

  private async claimLoop(): Promise<void> {
    const { leases, timer, log } = this.ports
    while (!this.draining.signal.aborted) {
      this.signalled = false
      let nextDue: number | undefined
      try {
        const room = maxRuns - this.drivers.size
        const claimed = room > 0 ? await leases.claimDue(this.owner, room, timer.now(), leaseMs) : []
        for (const lease of claimed) this.driveRun(lease)
        nextDue = claimed.length > 0 ? timer.now() : await leases.nextDue(timer.now())
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.error({ owner: this.owner, fault }, `${this.owner} could not look for due runs; trying again`)
      }
      await this.sleep(Math.min(nextDue ?? Number.POSITIVE_INFINITY, timer.now() + idleLookMs))
    }
  }

  private driveRun(lease: LeaseRef): void {
    const { log, leases } = this.ports
    const driver = new RunDriver(this.ports, lease, this.draining.signal, this.abort.signal)
    const done = driver
      .drive()
      .catch((error) => {
        const fault = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
        log.error({ run: lease.runId, fault }, `Stopped driving ${lease.runId}`)
      })
      .then(() => leases.release(lease))
      .catch(() => undefined)
      .finally(() => {
        this.drivers.delete(lease.runId)
        this.wake()
      })
    this.drivers.set(lease.runId, { driver, done })
  }

  /** Beats until the last driver is done: a lease must not run out while a shutdown waits for effects. */
  private async heartbeatLoop(): Promise<void> {
    const { timer, log } = this.ports
    for (;;) {
      await timer.waitUntil(timer.now() + heartbeatMs, this.stopped.signal)
      if (this.stopped.signal.aborted) return
      try {
        if (this.drivers.size > 0) await this.beat()
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.warn({ owner: this.owner, fault }, `${this.owner} missed a heartbeat`)
      }
    }
  }

  private async beat(): Promise<void> {
    const { leases, timer, log } = this.ports
    const mine = [...this.drivers.values()].map(({ driver }) => driver.lease)
    const held = await leases.heartbeat(mine, timer.now(), leaseMs)
    const epochs = new Map(held.map((lease) => [lease.runId, lease.epoch]))
    for (const [runId, { driver }] of this.drivers) {
      if (epochs.get(runId) === driver.lease.epoch || !mine.includes(driver.lease)) continue
      log.warn({ run: runId, owner: this.owner }, `Lost the lease on ${runId}`)
      driver.lose()
    }
  }

  private async sleep(until: number): Promise<void> {
    if (this.signalled || this.draining.signal.aborted) return
    const over = new AbortController()
    const woken = new Promise<void>((resolve) => {
      this.wakeUp = resolve
    })
    await Promise.race([woken, this.ports.timer.waitUntil(until, over.signal)])
    over.abort()
  }
}
