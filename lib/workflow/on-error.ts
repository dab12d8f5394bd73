/*
 * Where "rollback" can never follow from an error. Only what the failed step itself did is taken back by itself, to the
 * checkpoint that was taken before it (lib/engine/follow-error.ts), and a step without an effect has none, whatever
 * checkpoints the steps before it have. The run ends as if nothing had been said, so this is a warning.
 */
import type { GraphNode, WorkflowGraph } from './graph'
import { quoted, type Report } from './graph-problem'
import type { KindLookup } from './kind-facts'

/** Reports steps, and workflows, whose "rollback" has no checkpoint to go back to. */
export function checkOnError(graph: WorkflowGraph, kinds: KindLookup, report: Report): void {
  const inherits: GraphNode[] = []
  for (const [at, node] of graph.nodes.entries()) {
    if (node.onError === undefined) inherits.push(node)
    if (node.onError !== 'rollback' || mayHaveCheckpoint(node, kinds)) continue
    const label = node.label === '' || node.label === node.id ? '' : ` (${quoted(node.label)})`
    report({
      severity: 'warning',
      code: 'nothing_to_roll_back',
      message: `Node ${quoted(node.id)}${label} says "rollback" on an error, but ${node.kind} changes nothing and takes no checkpoint to go back to: nothing follows, and what steps before it did stays.`,
      mend: 'Choose "escalate", so that a person is asked, or say "rollback" of a step that has an effect: it takes a checkpoint first.',
      path: ['nodes', at, 'onError'],
    })
  }
  if (graph.containment?.onError !== 'rollback' || inherits.length === 0) return
  if (inherits.some((node) => mayHaveCheckpoint(node, kinds))) return
  report({
    severity: 'warning',
    code: 'nothing_to_roll_back',
    message:
      'The workflow says "rollback" on an error, but no step that it holds for takes a checkpoint to go back to: nothing follows from an error in one.',
    mend: 'Choose "escalate", so that a person is asked, or add a step that has an effect: it takes a checkpoint first.',
    path: ['containment', 'onError'],
  })
}

/** False only for what is known to change nothing: a kind or a config that is not understood is told elsewhere. */
function mayHaveCheckpoint(node: GraphNode, kinds: KindLookup): boolean {
  const kind = kinds(node.kind)
  if (!kind?.consequence || !kind.config.safeParse(node.config).success) return true
  return kind.consequence(node.config) !== 'read_only'
}
