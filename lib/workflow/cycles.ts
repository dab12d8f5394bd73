import type { WorkflowGraph } from './graph'

export interface Cycle {
  /** Ids in the order they are passed; the last one's edge leads back to the first. */
  nodes: string[]
  /** Index of the edge that leads back to the first node. */
  closingEdge: number
}

interface Arc {
  to: string
  edge: number
}

/**
 * One cycle for each knot of nodes that lie on cycles outside declared loops; edges from a node to itself are left
 * to their own check. In stepwise order an edge with a bound on its iterations, or into a node with a bound on its
 * visits, declares a loop; in topological order nothing does.
 */
export function findCycles(graph: WorkflowGraph): Cycle[] {
  const arcs = undeclaredArcs(graph)
  const cycles: Cycle[] = []
  for (const knot of knots(arcs)) cycles.push(shortestCycle(knot, arcs))
  return cycles
}

function undeclaredArcs(graph: WorkflowGraph): Map<string, Arc[]> {
  const arcs = new Map<string, Arc[]>(graph.nodes.map((node) => [node.id, []]))
  const bounded = new Set(graph.nodes.filter((node) => node.maxVisits !== undefined).map((node) => node.id))
  for (const [edge, { from, to, maxIterations }] of graph.edges.entries()) {
    if (from === to || !arcs.has(to)) continue
    if (graph.order === 'stepwise' && (maxIterations !== undefined || bounded.has(to))) continue
    arcs.get(from)?.push({ to, edge })
  }
  return arcs
}

/*
 * Tarjan's strongly connected components of two or more nodes, with its own stack: a chain of 5,000 nodes would be
 * 5,000 calls deep.
 */
function knots(arcs: Map<string, Arc[]>): Set<string>[] {
  const found: Set<string>[] = []
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const enter = (id: string) => {
    order.set(id, order.size)
    low.set(id, order.size - 1)
    open.push(id)
    isOpen.add(id)
    return { id, next: 0 }
  }
  const lower = (id: string, to: number) => low.set(id, Math.min(low.get(id) ?? to, to))
  for (const root of arcs.keys()) {
    if (order.has(root)) continue
    const path = [enter(root)]
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const arc = arcs.get(top.id)?.[top.next++]
      if (arc) {
        const seen = order.get(arc.to)
        if (seen === undefined) path.push(enter(arc.to))
        else if (isOpen.has(arc.to)) lower(top.id, seen)
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent) lower(parent.id, low.get(top.id) ?? 0)
      if (low.get(top.id) === order.get(top.id)) {
        const knot = closeKnot(top.id, open, isOpen)
        if (knot.size > 1) found.push(knot)
      }
    }
  }
  return found
}

function closeKnot(root: string, open: string[], isOpen: Set<string>): Set<string> {
  const knot = new Set<string>()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    isOpen.delete(id)
    knot.add(id)
    if (id === root) break
  }
  return knot
}

/** The shortest way from a node of the knot back to itself. The first node of the text would surprise least. */
function shortestCycle(knot: Set<string>, arcs: Map<string, Arc[]>): Cycle {
  const start = [...arcs.keys()].find((id) => knot.has(id)) as string
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (let at = 0; at < queue.length; at++) {
    const id = queue[at] as string
    for (const arc of arcs.get(id) ?? []) {
      if (arc.to === start) return { nodes: wayTo(id, start, cameFrom), closingEdge: arc.edge }
      if (!knot.has(arc.to) || cameFrom.has(arc.to)) continue
      cameFrom.set(arc.to, id)
      queue.push(arc.to)
    }
  }
  throw new Error(`No way back to "${start}" inside its own knot`)
}

function wayTo(id: string, start: string, cameFrom: Map<string, string>): string[] {
  const way = [id]
  for (let at = id; at !== start; ) {
    at = cameFrom.get(at) as string
    way.push(at)
  }
  return way.reverse()
}
