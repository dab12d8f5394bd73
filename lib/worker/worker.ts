/*
 * A worker: leases runs that are due, drives each, keeps the leases alive, and lets go in good order. Any number of
 * workers, in the server or alone, may share one store: the lease keeps two from doing the same work, the ledger's
 * fence keeps two from writing the same token.
 */
import { setMaxListeners } from 'node:events'
import type { RunId } from '@/lib/base/ids'
import { faultPauseMs, RunDriver } from './drive'
import { Hold } from './hold'
import type { WorkerPorts } from './ports'
import { sendSignals } from './signals'

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
  /** Takes no more, lets effects finish (up to `graceMs`), releases the leases and what is kept for it. */
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
  private readonly stopped = new AbortController()
  private readonly drivers = new Map<RunId, { driver: RunDriver; done: Promise<void> }>()
  private wakeUp: () => void = () => undefined
  private signalled = false
  private claiming: Promise<void> = Promise.resolve()
  private beating: Promise<void> = Promise.resolve()
  private telling: Promise<void> = Promise.resolve()
  private unlisten: () => void = () => undefined

  constructor(ports: WorkerPorts, owner: string) {
    this.ports = ports
    this.owner = owner
    // Each run that is driven listens, and each step that waits for child runs: many listeners are no leak here.
    setMaxListeners(0, this.draining.signal)
  }

  start(): void {
    this.unlisten = this.ports.onAppend(({ runId }) => {
      const running = this.drivers.get(runId)
      if (running) running.driver.wake()
      else this.wake()
    })
    this.claiming = this.claimLoop()
    this.beating = this.heartbeatLoop()
    const { signals } = this.ports
    if (signals) this.telling = sendSignals(this.ports, signals, this.draining.signal)
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
    void timer.waitUntil(timer.now() + graceMs, grace.signal).then(() => {
      for (const { driver } of this.drivers.values()) driver.hold.lose()
    })
    // A claim that was under way may still bring a run: it is let go like the others.
    await this.claiming
    await this.telling
    await Promise.allSettled([...this.drivers.values()].map(({ done }) => done))
    grace.abort()
    this.stopped.abort()
    await this.beating
    // What was kept for it runs out by itself if that cannot be said.
    await this.ports.leases.keepNothing(this.owner).catch(() => undefined)
  }

  private async claimLoop(): Promise<void> {
    const { leases, timer, log } = this.ports
    while (!this.draining.signal.aborted) {
      this.signalled = false
      let nextDue: number | undefined
      try {
        const room = maxRuns + this.ports.childWaits.count - this.drivers.size
        // Without room the end of any drive wakes this loop.
        if (room > 0) {
          const until = timer.now() + leaseMs
          const claimed = await leases.claimDue(this.owner, room, timer.now(), leaseMs)
          for (const lease of claimed) this.driveRun(new Hold(lease, until))
          nextDue = claimed.length > 0 ? timer.now() : await leases.nextDue(this.owner, timer.now())
        }
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.error({ owner: this.owner, fault }, `${this.owner} could not look for due runs; trying again`)
      }
      await this.sleep(Math.min(nextDue ?? Number.POSITIVE_INFINITY, timer.now() + idleLookMs))
    }
  }

  private driveRun(hold: Hold): void {
    const { runId } = hold.lease
    const driver = new RunDriver(this.ports, hold, this.draining.signal)
    // This worker may itself have had the run and slept through its lease: what is in hand there ends first.
    const before = this.drivers.get(runId)
    before?.driver.hold.lose()
    const done = Promise.resolve(before?.done)
      .then(() => driver.drive())
      .catch((error) => this.fault(runId, error))
      .then(() => this.ports.leases.release(hold.lease))
      .catch(() => undefined)
      .finally(() => {
        if (this.drivers.get(runId)?.driver === driver) this.drivers.delete(runId)
        this.wake()
      })
    this.drivers.set(runId, { driver, done })
  }

  /** A run that cannot even be read keeps its lease for a moment, so that it is not claimed again in a tight circle. */
  private async fault(runId: RunId, error: unknown): Promise<void> {
    const { log, timer } = this.ports
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    log.error({ run: runId, fault }, `Stopped driving ${runId}; trying again`)
    await timer.waitUntil(timer.now() + faultPauseMs, this.draining.signal)
  }

  /** Beats until the last driver is done: a lease must not run out while a shutdown waits for effects. */
  private async heartbeatLoop(): Promise<void> {
    const { timer, log } = this.ports
    for (;;) {
      await timer.waitUntil(timer.now() + heartbeatMs, this.stopped.signal)
      if (this.stopped.signal.aborted) return
      try {
        if (this.drivers.size > 0) await this.beat()
        // Also what it has no lease on now: a run that waits for an answer is still this worker's to go on with.
        await this.ports.leases.keepOn(this.owner, timer.now() + leaseMs)
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.warn({ owner: this.owner, fault }, `${this.owner} missed a heartbeat`)
      }
    }
  }

  private async beat(): Promise<void> {
    const { leases, timer, log } = this.ports
    const mine = [...this.drivers.values()].map(({ driver }) => driver.hold)
    const until = timer.now() + leaseMs
    const asked = mine.map(({ lease }) => lease)
    const held = await leases.heartbeat(asked, timer.now(), leaseMs)
    const epochs = new Map(held.map((lease) => [lease.runId, lease.epoch]))
    for (const hold of mine) {
      const { runId, epoch } = hold.lease
      if (epochs.get(runId) === epoch) {
        hold.prolong(until)
        continue
      }
      log.warn({ run: runId, owner: this.owner }, `Lost the lease on ${runId}`)
      hold.lose()
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
