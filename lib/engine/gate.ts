import type { GraphNode } from '@/lib/workflow/graph'
import type { Visit } from './run'

/** True when a person must decide before the node acts (ATD `hitl_required`, NOTES 3.10). */
export function requiresApproval(node: GraphNode): boolean {
  return node.approval !== undefined || node.kind === 'pause_for_approval'
}

/** What comes next for a resolved step: ask a person, offer it to agents, or begin. */
export function nextFor(node: GraphNode, visit: Visit, dryRun: boolean): 'ask' | 'offer' | 'begin' {
  if (dryRun) return 'begin'
  if (requiresApproval(node) && visit.state.status === 'pending') return 'ask'
  return node.kind === 'task' ? 'offer' : 'begin'
}
