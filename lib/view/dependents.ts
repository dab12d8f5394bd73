import type { Run, Visit } from '@/lib/engine/run'
import { readsOf } from '@/lib/engine/undoable'
import { labelOf } from '@/lib/workflow/graph-index'

/** A step that was made from what another one gave, at first hand or through steps between. */
export interface Dependent {
  node: string
  visit: number
  label: string
  /** It read the output itself. */
  direct: boolean
  /** Whose output it read, of those that the finding reaches. */
  reads: string[]
}

/**
 * The steps that used what a step gave, and those that used what these gave, in the order of the workflow. What was read
 * decides, not what is drawn: an edge alone makes nobody depend. Steps that have not begun, or are taken back, are none.
 */
export function dependentsOf(run: Run, node: string): Dependent[] {
  const reached = new Set([node])
  const found = new Map<string, Dependent>()
  const made = [...run.visits.values()].filter(isMade).map((visit) => ({ visit, reads: readsOf(run, visit) }))
  // A Set is walked in the order it grows, so it serves as the queue too.
  for (const from of reached) {
    for (const { visit, reads } of made) {
      if (!reads.includes(from)) continue
      const known = found.get(visit.node)
      if (known) {
        known.reads.push(from)
        continue
      }
      if (visit.node === node) continue
      reached.add(visit.node)
      found.set(visit.node, {
        node: visit.node,
        visit: visit.visit,
        label: labelOf(run.graph, visit.node),
        direct: from === node,
        reads: [from],
      })
    }
  }
  const place = new Map(run.graph.order.map((id, at) => [id, at]))
  return [...found.values()].sort((a, b) => (place.get(a.node) ?? 0) - (place.get(b.node) ?? 0))
}

/** Whether something was made, or is being made, from what it read. */
function isMade({ state }: Visit): boolean {
  return state.status !== 'pending' && state.status !== 'rolled_back'
}
