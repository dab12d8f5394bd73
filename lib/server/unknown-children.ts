import type { JsonObject } from '@/lib/base/json'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, type GraphProblem, quoted } from '@/lib/workflow/graph-problem'
import { readAuthored } from './authored-files'
import type { Installation } from './installation'
import { libraryVersion } from './library-version'

/** Warns of workflows that steps name and that are not here now; they may still be brought before the run. */
export async function unknownChildren(
  installation: Pick<Installation, 'store' | 'authoredFolders' | 'ports'>,
  graph: WorkflowGraph,
): Promise<GraphProblem[]> {
  const problems: GraphProblem[] = []
  for (const [at, node] of graph.nodes.entries()) {
    for (const { workflow, path } of childrenNamed(node)) {
      const isHere =
        (await readAuthored(installation, workflow)) !== undefined ||
        (await libraryVersion(installation, workflow)) !== undefined
      if (!isHere) problems.push(unknown(node.id, workflow, ['nodes', at, 'config', ...path]))
    }
  }
  return problems
}

function childrenNamed({ kind, config }: GraphNode): { workflow: string; path: GraphPath }[] {
  const { workflow, branches } = config
  if (kind === 'parallel' && Array.isArray(branches)) {
    return branches.flatMap((branch, at) => {
      const named = (branch as JsonObject | null)?.workflow
      return typeof named === 'string' ? [{ workflow: named, path: ['branches', at, 'workflow'] }] : []
    })
  }
  const calls = kind === 'call' || kind === 'map'
  return calls && typeof workflow === 'string' ? [{ workflow, path: ['workflow'] }] : []
}

function unknown(node: string, workflow: string, path: GraphPath): GraphProblem {
  return {
    severity: 'warning',
    code: 'child_unknown',
    message: `Step ${quoted(node)} runs the workflow ${quoted(workflow)}, and there is none of that name or path here.`,
    mend: 'Import it first, under that name; or check the path.',
    path,
  }
}
