/*
 * The graph of a reported run: nobody drew it. Each step that an agent reports adds a node, with edges from the steps it
 * follows, so the order of the tokens is a topological one. One index belongs to one run; copies of the run share it,
 * because what is added again changes nothing and what has no visit yet is not drawn.
 */
import type { GraphEdge, GraphNode, WorkflowGraph } from './graph'
import type { GraphIndex } from './graph-index'

export interface GrowingIndex extends GraphIndex {
  /** Adds a node after its parents, which are known. Adding it again changes nothing. */
  grow(node: GraphNode, parents: readonly string[]): void
}

/** True for the index of a reported run's graph, once `growingIndex` made it. */
export function grows(index: GraphIndex): index is GrowingIndex {
  return 'grow' in index
}

/** An empty index that grows, for a run of a graph that has no nodes of its own. */
export function growingIndex(graph: WorkflowGraph): GrowingIndex {
  return new Growing(graph)
}

class Growing implements GrowingIndex {
  readonly nodes = new Map<string, GraphNode>()
  readonly parents = new Map<string, readonly string[]>()
  readonly children = new Map<string, string[]>()
  readonly edgesFrom = new Map<string, number[]>()
  readonly order: string[] = []
  readonly #edges: GraphEdge[] = []
  readonly #bare: WorkflowGraph
  #graph: WorkflowGraph

  constructor(graph: WorkflowGraph) {
    this.#bare = graph
    this.#graph = graph
  }

  /** A value, as graphs are: another one once a node was added, the same until then. */
  get graph(): WorkflowGraph {
    if (this.#graph.nodes.length !== this.order.length) {
      this.#graph = { ...this.#bare, nodes: [...this.nodes.values()], edges: this.#edges.slice() }
    }
    return this.#graph
  }

  grow(node: GraphNode, parents: readonly string[]): void {
    if (this.nodes.has(node.id)) return
    const known = [...new Set(parents)].filter((parent) => this.nodes.has(parent))
    this.nodes.set(node.id, node)
    this.parents.set(node.id, known)
    this.children.set(node.id, [])
    this.edgesFrom.set(node.id, [])
    this.order.push(node.id)
    for (const from of known) {
      this.children.get(from)?.push(node.id)
      this.edgesFrom.get(from)?.push(this.#edges.length)
      this.#edges.push({ from, to: node.id, extra: {} })
    }
  }
}
