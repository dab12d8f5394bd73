/*
 * What must hold of a stepwise graph besides: every node can be come to from a start, and from every node there is at
 * most one way on for each thing that can happen there. Which labels can happen is known from the kinds.
 *
 * An edge that can never be taken is a warning: the run ends earlier than its author thinks, but it ends.
 */
import type { GraphEdge, GraphNode, WorkflowGraph } from './graph'
import { quoted, type Report } from './graph-problem'
import type { KindFacts, KindLookup } from './kind-facts'
import { nearestName } from './nearest-name'

/** Reports nodes that no start leads to, and edges that are ambiguous or can never be taken. */
export function checkSteps(graph: WorkflowGraph, kinds: KindLookup | undefined, report: Report): void {
  const leaving = new Map<string, [GraphEdge, number][]>(graph.nodes.map((node) => [node.id, []]))
  for (const [at, edge] of graph.edges.entries()) leaving.get(edge.from)?.push([edge, at])
  if (graph.starts.length > 0) checkReachable(graph, leaving, report)
  for (const node of graph.nodes) {
    const edges = leaving.get(node.id) ?? []
    checkAlone(node, edges, report)
    const kind = kinds?.(node.kind)
    if (kind) checkLabels(node, kind, edges, report)
  }
}

function checkReachable(
  graph: WorkflowGraph,
  leaving: ReadonlyMap<string, [GraphEdge, number][]>,
  report: Report,
): void {
  const reached = new Set(graph.starts.map(({ node }) => node))
  // A set grows while it is walked, and what is added is walked as well.
  for (const id of reached) for (const [edge] of leaving.get(id) ?? []) reached.add(edge.to)
  for (const [at, node] of graph.nodes.entries()) {
    if (reached.has(node.id)) continue
    report({
      severity: 'error',
      code: 'unreachable_node',
      message: `Node ${quoted(node.id)} cannot be reached from any start.`,
      mend: 'Add an edge that leads there, name it as the entry of a start, or remove it.',
      path: ['nodes', at],
    })
  }
}

/** Two edges for the same thing: the run could not choose. Without a label it always comes to that. */
function checkAlone(node: GraphNode, edges: readonly [GraphEdge, number][], report: Report): void {
  const first = new Map<string | undefined, GraphEdge>()
  for (const [edge, at] of edges) {
    const earlier = first.get(edge.when)
    if (!earlier) {
      first.set(edge.when, edge)
      continue
    }
    // The same edge twice is told as such.
    if (earlier.to === edge.to) continue
    const both = `${quoted(earlier.to)} and ${quoted(edge.to)}`
    report({
      severity: edge.when === undefined ? 'error' : 'warning',
      code: 'ambiguous_edges',
      message:
        edge.when === undefined
          ? `Node ${quoted(node.id)} has several edges without "when", to ${both}; a run follows exactly one.`
          : `Node ${quoted(node.id)} has several edges for ${quoted(edge.when)}, to ${both}; a run that comes to it with both open fails.`,
      mend: 'Keep one, or tell them apart by "when".',
      path: ['edges', at],
    })
  }
}

/** Kinds that end the run, and kinds that cannot fail: they decide on values and touch nothing. */
const endings = new Set(['terminate', 'fail'])
const infallible = new Set(['condition', 'switch', 'merge', 'terminate', 'fail', 'pause_for_approval'])

function checkLabels(
  node: GraphNode,
  kind: KindFacts,
  edges: readonly [GraphEdge, number][],
  report: Report,
): void {
  // Only a label needs to be known; asking costs a check of the config.
  const own = edges.some(([edge]) => edge.when !== undefined) ? labelsOf(node, kind) : 'any'
  if (own === undefined) return
  const labels = own === 'any' || infallible.has(node.kind) ? own : [...new Set([...own, 'error'])]
  // Some kinds always carry a label: a condition is true or false, and a switch has a value.
  const isAlwaysLabelled = node.kind === 'condition' || node.kind === 'switch'
  for (const [edge, at] of edges) {
    const why = endings.has(node.kind)
      ? 'the run ends there'
      : edge.when === undefined
        ? isAlwaysLabelled && 'it always takes an edge with a label'
        : labels !== 'any' && !labels.includes(edge.when) && `it never says ${quoted(edge.when)}`
    if (!why) continue
    const nearest = labels === 'any' ? undefined : nearestName(edge.when ?? '', labels)
    report({
      severity: 'warning',
      code: 'edge_never_taken',
      message: `The edge from ${quoted(node.id)} to ${quoted(edge.to)} can never be taken: ${quoted(node.id)} is a ${node.kind}, and ${why}.`,
      mend: nearest
        ? `Did you mean ${quoted(nearest)}?`
        : labels === 'any' || labels.length === 0
          ? 'Remove the edge, or correct its "when".'
          : `Its labels are ${labels.map(quoted).join(', ')}.`,
      path: edge.when === undefined ? ['edges', at] : ['edges', at, 'when'],
    })
  }
}

function labelsOf(node: GraphNode, kind: KindFacts): string[] | 'any' | undefined {
  if (!kind.labels) return undefined
  // A config that its schema refuses was told already; its labels cannot be asked for.
  return kind.config.safeParse(node.config).success ? kind.labels(node.config) : undefined
}
