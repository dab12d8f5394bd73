/** The words of pools and of who goes next, shared across rooms: types alone. Times are ms since the epoch. */
import type { Priority, Resources } from '@/lib/workflow/graph'

/** What is shared: an agent by its SPIFFE id, or `here`, the processor and memory of this installation. */
export type PoolName = `spiffe://${string}` | 'here'

/** Cascade section 4.5: bulkheads of a shared pool. */
export interface PoolLimits {
  /** Steps at work in the pool at once, all workflows together. */
  connections: number
  /** Of one workflow. */
  connectionsPerWorkflow: number
  /** Steps of one workflow that may wait; one more is refused. */
  queuePerWorkflow: number
  /** Requests of one workflow in a minute; absent: any number. */
  requestsPerMinute?: number
}

/** One workflow in one pool, as screens show it. */
export interface PoolUse {
  pool: string
  workflow: string
  running: number
  queued: number
  /** Steps that began within the last minute. */
  requests: number
  /** Since when the first of its queue waits. */
  oldestAt?: number
}

/** A step that wants into a pool. */
export interface PoolAsk {
  id: string
  pool: PoolName
  workflow: string
  priority: Priority
  resources: Resources
  since: number
}
