import { setMaxListeners } from 'node:events'
import { Problem } from '@/lib/base/problem'
import type { LeaseRef } from '@/lib/engine/ports'

/**
 * A lease as its holder knows it. The store's fence keeps a worker that lost its lease from writing; this keeps it from
 * acting. A process that stood still for a minute wakes in the middle of its code, before anything could tell it that
 * its run has gone to another: so it looks at the clock itself, right before each effect.
 */
export class Hold {
  readonly lease: LeaseRef
  /** Another worker may have the run from then on, ms since the epoch. */
  private until: number
  private readonly gone = new AbortController()

  constructor(lease: LeaseRef, until: number) {
    this.lease = lease
    this.until = until
    // Each act of a rollback listens: many listeners are no leak here.
    setMaxListeners(0, this.gone.signal)
  }

  /** Fires when the lease is lost or a shutdown can wait no longer: effects in hand are not waited for any more. */
  get lost(): AbortSignal {
    return this.gone.signal
  }

  /** What goes along with whatever its holder writes. */
  get along(): { lease: LeaseRef; lost: AbortSignal } {
    return { lease: this.lease, lost: this.lost }
  }

  prolong(until: number): void {
    this.until = Math.max(this.until, until)
  }

  lose(): void {
    this.gone.abort()
  }

  /** Throws Problem `lease_lost` when the run may be another worker's by now. */
  check(now: number): void {
    if (!this.gone.signal.aborted && now < this.until) return
    const { owner, runId } = this.lease
    throw new Problem(
      'lease_lost',
      `${owner} has not heard in time that it still holds ${runId}; it stops here`,
    )
  }
}
