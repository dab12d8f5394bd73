import { isProblem, type Problem } from '@/lib/base/problem'

/**
 * A step waits for something that goes on without it, and this worker cannot wait on: it stops, or its store does not
 * answer. Nothing is recorded, and whoever has the run takes the step up where it is, as after a crash.
 */
export class HandedOver extends Error {
  override readonly name = 'HandedOver'
  /** What the store said, when that is why. */
  readonly fault?: Problem

  constructor(node: string, fault?: Problem) {
    super(`${node} waits on; another worker takes it up`)
    this.fault = fault
  }
}

const storeFaults = ['store_busy', 'store_full', 'store_read_only', 'lease_lost'] as const

/** What waiting comes to when the store does not answer: a child run goes on, whatever its parent could read of it. */
export function handedOverOr(error: unknown, node: string): unknown {
  const isFault = storeFaults.some((code) => isProblem(error, code))
  return isFault ? new HandedOver(node, error as Problem) : error
}
