import type { Priority } from '@/lib/workflow/graph'
import type { PoolAsk } from './terms'

/** Most urgent first. */
export const priorities: readonly Priority[] = ['critical', 'high', 'normal', 'low']

/** A workflow's lines: one for each priority, the longest wait first. */
export type Lines = Record<Priority, PoolAsk[]>

/**
 * Who waits for a pool: each workflow in a queue of its own (cascade section 4.5), so that nobody stands behind the
 * backlog of another. A step that lost its place comes back to where its `since` puts it.
 */
export class Queues {
  private readonly byWorkflow = new Map<string, Lines>()
  private readonly counts = new Map<string, number>()

  /** Each workflow that waits, with its lines. */
  get lines(): ReadonlyMap<string, Readonly<Lines>> {
    return this.byWorkflow
  }

  /** Steps of a workflow that wait. */
  waiting(workflow: string): number {
    return this.counts.get(workflow) ?? 0
  }

  join(ask: PoolAsk): void {
    let lines = this.byWorkflow.get(ask.workflow)
    if (!lines) {
      lines = { critical: [], high: [], normal: [], low: [] }
      this.byWorkflow.set(ask.workflow, lines)
    }
    const line = lines[ask.priority]
    let at = line.length
    while (at > 0 && (line[at - 1] as PoolAsk).since > ask.since) at--
    line.splice(at, 0, ask)
    this.counts.set(ask.workflow, this.waiting(ask.workflow) + 1)
  }

  /** False when it did not wait. */
  leave({ id, workflow, priority }: PoolAsk): boolean {
    const line = this.byWorkflow.get(workflow)?.[priority]
    const at = line?.findIndex((other) => other.id === id) ?? -1
    if (!line || at < 0) return false
    line.splice(at, 1)
    const left = this.waiting(workflow) - 1
    if (left > 0) this.counts.set(workflow, left)
    else {
      this.counts.delete(workflow)
      this.byWorkflow.delete(workflow)
    }
    return true
  }

  /** Since when the first of a workflow's steps waits. */
  oldest(workflow: string): number | undefined {
    const heads = Object.values(this.byWorkflow.get(workflow) ?? {}).flatMap(([head]) => head?.since ?? [])
    return heads.length > 0 ? Math.min(...heads) : undefined
  }
}
