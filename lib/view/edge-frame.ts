/*
 * The edges of a graph as it is drawn. Several edges between the same two steps are one line with all their labels; of
 * a walk each line says how often it was taken, and of a loop, how much of its bound is used up.
 */
import type { Run, Walk } from '@/lib/engine/run'
import type { GraphEdge, WorkflowGraph } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'

export interface EdgeFrame {
  from: string
  to: string
  /** What takes it: "true", "done or error"; empty when it is the only way on and says nothing. */
  label: string
  /** "2 of 3" of a loop, "×3" of what was taken several times, "at most 3" before a run; else empty. */
  count: string
  /** How often the walk took it; 0 where nothing walks. */
  taken: number
  /** No event takes it: it is where the walk goes in place of a state that was entered as often as it may be. */
  redirect?: true
}

/** Edges by `edgeKey`. */
export type EdgeFrames = ReadonlyMap<string, EdgeFrame>

/** The key of the line between two steps. */
export function edgeKey(from: string, to: string): string {
  return `${from}\n${to}`
}

/**
 * The edges of a run; `previous` as in `frameOf`: lines that are as they were are the same objects, and where all are,
 * the same map.
 */
export function edgeFrames(run: Run, previous?: EdgeFrames): EdgeFrames {
  const { walk } = run
  const { graph } = run.graph
  if (!walk) return reportedEdges(run, restingEdges(graph))
  const redirected = redirectsOf(walk)
  const lines = linesOf(graph)
  let isSame = previous !== undefined && previous.size === lines.length
  const frames = lines.map((line) => {
    const before = previous?.get(line.key)
    let onEdges = 0
    for (const number of line.numbers) onEdges += walk.taken.get(number) ?? 0
    const onward = line.redirects === undefined ? 0 : (redirected.get(line.redirects) ?? 0)
    const count = countOf(line, onEdges, onward, false)
    if (before?.count === count && before.taken === onEdges + onward) return before
    isSame = false
    return frameOf(line, count, onEdges + onward)
  })
  if (isSame && previous) return previous
  return new Map(lines.map(({ key }, at) => [key, frames[at] as EdgeFrame]))
}

/** What agents report grows a graph that the run's past shares: then only the edges there were. */
function reportedEdges({ graph, visits }: Run, all: EdgeFrames): EdgeFrames {
  if (!graph.graph.reported || visits.size === graph.order.length) return all
  return new Map([...all].filter(([, { to }]) => visits.has(to)))
}

const resting = new WeakMap<WorkflowGraph, EdgeFrames>()

/** The edges of a workflow that does not run. */
export function restingEdges(graph: WorkflowGraph): EdgeFrames {
  const known = resting.get(graph)
  if (known) return known
  const made = new Map(
    linesOf(graph).map((line) => [line.key, frameOf(line, countOf(line, 0, 0, true), 0)] as const),
  )
  resting.set(graph, made)
  return made
}

/** A line as the graph has it: all that does not change while a run goes on. */
interface Line {
  key: string
  from: string
  to: string
  label: string
  /** Numbers of its edges in the graph. */
  numbers: number[]
  /** How often its one edge may be taken. */
  bound?: number
  /** The node at its limit that the walk is sent on from along it. */
  redirects?: string
}

const linesByGraph = new WeakMap<WorkflowGraph, readonly Line[]>()

/** Made once for each graph: of a few thousand edges it would be most of what a frame costs. */
function linesOf(graph: WorkflowGraph): readonly Line[] {
  const known = linesByGraph.get(graph)
  if (known) return known
  const between = new Map<string, { numbers: number[]; edges: GraphEdge[] }>()
  for (const [number, edge] of graph.edges.entries()) {
    const key = edgeKey(edge.from, edge.to)
    const line = between.get(key) ?? { numbers: [], edges: [] }
    line.numbers.push(number)
    line.edges.push(edge)
    between.set(key, line)
  }
  const names = new Map(graph.nodes.map((node) => [node.id, nodeLabel(node)]))
  const lines = new Map(
    [...between].map(([key, { numbers, edges }]) => [key, lineOf(key, numbers, edges, names)]),
  )
  for (const { id, maxVisits, onMaxVisits } of graph.nodes) {
    if (maxVisits === undefined || onMaxVisits === undefined) continue
    const key = edgeKey(id, onMaxVisits)
    lines.set(key, withRedirect(lines.get(key), key, { id, maxVisits, onMaxVisits }))
  }
  const made = [...lines.values()]
  linesByGraph.set(graph, made)
  return made
}

/** A bound that no author wrote: it closes a loop whose end is seen to elsewhere. */
const technicalBound = 10_000

function lineOf(
  key: string,
  numbers: number[],
  edges: readonly GraphEdge[],
  names: ReadonlyMap<string, string>,
): Line {
  const { from, to, maxIterations } = edges[0] as GraphEdge
  return {
    key,
    from,
    to,
    // A label that is the id of the next step says which comes next: people know that by its name.
    label: labelOf(edges.map(({ when }) => (when === to ? (names.get(to) ?? when) : when))),
    numbers,
    ...(edges.length === 1 &&
      maxIterations !== undefined &&
      maxIterations < technicalBound && { bound: maxIterations }),
  }
}

/** The way from a state at its limit: a line of its own, or one more label of the line that is there already. */
function withRedirect(
  line: Line | undefined,
  key: string,
  { id, maxVisits, onMaxVisits }: { id: string; maxVisits: number; onMaxVisits: string },
): Line {
  const words = `after ${maxVisits} ${maxVisits === 1 ? 'visit' : 'visits'}`
  if (!line) return { key, from: id, to: onMaxVisits, label: words, numbers: [], redirects: id }
  const label = line.label === '' ? `done or ${words}` : `${line.label} or ${words}`
  return { ...line, label, redirects: id }
}

/** How often the walk was sent on from each state that was at its limit. */
function redirectsOf({ path }: Walk): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { insteadOf } of path) {
    if (insteadOf === undefined) continue
    for (const node of insteadOf) found.set(node, (found.get(node) ?? 0) + 1)
  }
  return found
}

function frameOf({ from, to, label, numbers }: Line, count: string, taken: number): EdgeFrame {
  return { from, to, label, count, taken, ...(numbers.length === 0 && { redirect: true as const }) }
}

/** An edge without a label goes on from what is done; beside a labelled one between the same steps that is worth saying. */
function labelOf(labels: (string | undefined)[]): string {
  const named = labels.flatMap((label) => label ?? [])
  if (named.length === 0) return ''
  const all = named.length < labels.length ? ['done', ...named] : named
  return [...new Set(all)].join(' or ')
}

/** `onEdges`: how often its edges were taken; `onward`: how often the walk was sent on along it. */
function countOf({ bound, numbers }: Line, onEdges: number, onward: number, atRest: boolean): string {
  if (bound !== undefined) return atRest ? `at most ${bound}` : `${onEdges} of ${bound}`
  const taken = numbers.length === 0 ? onward : onEdges
  return taken > 1 ? `×${taken}` : ''
}

/** The longest words a line can come to wear: the layout makes room for them once, and nothing moves later. */
export function widestWords(frame: EdgeFrame): string {
  const bound = /\d+$/.exec(frame.count)?.[0]
  const count = bound === undefined ? '' : `at most ${bound}`
  return edgeWords({ label: frame.label, count })
}

/** The words on a line: "true, 2 of 3". */
export function edgeWords({ label, count }: Pick<EdgeFrame, 'label' | 'count'>): string {
  if (label === '' || count === '') return label || count
  return count.startsWith('×') ? `${label} ${count}` : `${label}, ${count}`
}
