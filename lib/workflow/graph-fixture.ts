import type { GraphEdge, GraphNode, WorkflowGraph } from './graph'

/** A graph in few words, for tests: nodes by id with what differs, edges as `a>b`. */
export function graphOf(
  nodes: Record<string, Partial<GraphNode>>,
  edges: string[] = [],
  more: Partial<WorkflowGraph> = {},
): WorkflowGraph {
  return {
    name: 'test',
    description: '',
    format: 'atd',
    order: 'topological',
    vocabulary: 'atd',
    nodes: Object.entries(nodes).map(([id, node]) => ({
      id,
      label: id,
      kind: 'task',
      config: {},
      priority: 'normal',
      extra: {},
      ...node,
    })),
    edges: edges.map(edgeOf),
    starts: [],
    artifacts: [],
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    extra: {},
    ...more,
  }
}

function edgeOf(text: string): GraphEdge {
  const [from = '', to = ''] = text.split('>')
  return { from, to, extra: {} }
}
