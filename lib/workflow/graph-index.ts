import type { GraphNode, WorkflowGraph } from './graph'

/** A graph with its lookups: nodes by id, parents, children. Made once per version and shared. */
export interface GraphIndex {
  readonly graph: WorkflowGraph
  readonly nodes: ReadonlyMap<string, GraphNode>
  readonly parents: ReadonlyMap<string, readonly string[]>
  readonly children: ReadonlyMap<string, readonly string[]>
  /** The numbers of the edges that leave a node, in the order of the text. */
  readonly edgesFrom: ReadonlyMap<string, readonly number[]>
  /** Nodes in topological order; nodes on a loop come last, in the order of the text. */
  readonly order: readonly string[]
}

/** Builds the lookups of a checked graph. Edges that dangle are left out: checks.ts has refused them. */
export function indexGraph(graph: WorkflowGraph): GraphIndex {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]))
  const parents = new Map<string, string[]>(graph.nodes.map((node) => [node.id, []]))
  const children = new Map<string, string[]>(graph.nodes.map((node) => [node.id, []]))
  const edgesFrom = new Map<string, number[]>(graph.nodes.map((node) => [node.id, []]))
  for (const [number, edge] of graph.edges.entries()) {
    if (!nodes.has(edge.from) || !nodes.has(edge.to)) continue
    parents.get(edge.to)?.push(edge.from)
    children.get(edge.from)?.push(edge.to)
    edgesFrom.get(edge.from)?.push(number)
  }
  return { graph, nodes, parents, children, edgesFrom, order: topologicalOrder(graph, parents, children) }
}

function topologicalOrder(
  graph: WorkflowGraph,
  parents: Map<string, string[]>,
  children: Map<string, string[]>,
): string[] {
  const missing = new Map([...parents].map(([id, list]) => [id, list.length]))
  const order = graph.nodes.map((node) => node.id).filter((id) => missing.get(id) === 0)
  for (let at = 0; at < order.length; at++) {
    for (const child of children.get(order[at] as string) ?? []) {
      const left = (missing.get(child) ?? 0) - 1
      missing.set(child, left)
      if (left === 0) order.push(child)
    }
  }
  if (order.length === graph.nodes.length) return order
  const placed = new Set(order)
  return [...order, ...graph.nodes.map((node) => node.id).filter((id) => !placed.has(id))]
}

/** A node's name for people; its id where the author gave it none, or the graph has no such node. */
export function labelOf({ nodes }: Pick<GraphIndex, 'nodes'>, node: string): string {
  return nodes.get(node)?.label || node
}

/** The same, of a node at hand. */
export function nodeLabel({ id, label }: Pick<GraphNode, 'id' | 'label'>): string {
  return label || id
}

/** The SPIFFE id of the agent that does a node; undefined where this installation does. */
export function agentOf({ nodes }: Pick<GraphIndex, 'nodes'>, node: string): string | undefined {
  const { kind, config } = nodes.get(node) ?? {}
  return kind === 'agent' && typeof config?.agent === 'string' ? config.agent : undefined
}

/** The node and everything that follows it, in topological order. */
export function withDescendants(index: GraphIndex, node: string): string[] {
  const reached = new Set([node])
  const queue = [node]
  for (let at = 0; at < queue.length; at++) {
    for (const child of index.children.get(queue[at] as string) ?? []) {
      if (reached.has(child)) continue
      reached.add(child)
      queue.push(child)
    }
  }
  return index.order.filter((id) => reached.has(id))
}
