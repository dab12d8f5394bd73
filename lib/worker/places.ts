import type { GraphNode } from '@/lib/workflow/graph'
import { HandedOver } from './handed-over'
import { type Place, type Pools, poolOf } from './pools'

/** A step that wants a place in its pool. */
export interface PlaceWish {
  /** Names the step and its visit within the worker's run. */
  key: string
  runId: string
  workflow: string
  node: GraphNode
  now: number
}

/**
 * The places of one run's steps, as long as a worker has the run. A step that loses its place to critical work asks again
 * as of when it first asked; one that is not due any more (paused, cancelled, taken back) stops waiting at once.
 */
export class Places {
  readonly #pools: Pools
  readonly #stop: AbortSignal
  readonly #since = new Map<string, number>()
  readonly #waiting = new Map<string, AbortController>()

  /** `stop`: nobody may wait on. */
  constructor(pools: Pools, stop: AbortSignal) {
    this.#pools = pools
    this.#stop = stop
  }

  /** Waits for a place; undefined where the step needs none. Throws HandedOver when it may not wait on, and EffectFailed `bulkhead_full`. */
  async enter({ key, runId, workflow, node, now }: PlaceWish): Promise<Place | undefined> {
    const pool = poolOf(node)
    if (pool === undefined) return undefined
    const since = this.#since.get(key) ?? now
    this.#since.set(key, since)
    const gone = new AbortController()
    this.#waiting.set(key, gone)
    const signal = AbortSignal.any([this.#stop, gone.signal])
    const ask = {
      id: `${runId} ${key}`,
      pool,
      workflow,
      priority: node.priority,
      resources: node.resources ?? {},
      since,
    }
    try {
      return await this.#pools.enter(ask, signal)
    } catch (error) {
      throw signal.aborted ? new HandedOver(node.id) : error
    } finally {
      this.#waiting.delete(key)
    }
  }

  /** Who waits and is not among these waits no longer. */
  keepOnly(due: ReadonlySet<string>): void {
    for (const [key, gone] of this.#waiting) if (!due.has(key)) gone.abort()
  }

  /** The step has begun: the next time it asks is another time. */
  begun(key: string): void {
    this.#since.delete(key)
  }
}
