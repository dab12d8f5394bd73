import type { GraphNode } from '@/lib/workflow/graph'
import type { Run } from './run'

/** Bounded concurrency within one run, unless the workflow's budget says less. */
const maxConcurrentSteps = 16

/** How many more steps may begin now. */
export function roomFor(run: Run): number {
  const bound = Math.min(run.graph.graph.budget.maxConcurrent ?? maxConcurrentSteps, maxConcurrentSteps)
  return Math.max(0, bound - (run.counts.get('running') ?? 0))
}

/** True when a person must decide before the node acts (ATD `hitl_required`, NOTES 3.10). */
export function requiresApproval(node: GraphNode): boolean {
  return node.approval !== undefined || node.kind === 'pause_for_approval'
}

/**
 * What comes next for a resolved step: ask a person, offer it to agents, or begin. A step is resolved before anybody
 * was asked about it; what was approved begins as it was approved and is never resolved again.
 */
export function nextFor(node: GraphNode, dryRun: boolean): 'ask' | 'offer' | 'begin' {
  // Nothing but an event leads on, so a dry run waits for it as well.
  if (node.kind === 'await_event') return 'ask'
  if (dryRun) return 'begin'
  if (requiresApproval(node)) return 'ask'
  return node.kind === 'task' ? 'offer' : 'begin'
}
