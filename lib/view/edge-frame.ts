/*
 * The edges of a graph as it is drawn. Several edges between the same two steps are one line with all their labels; of
 * a walk each line says how often it was taken, and of a loop, how much of its bound is used up.
 */
import type { Run, Walk } from '@/lib/engine/run'
import type { GraphEdge, WorkflowGraph } from '@/lib/workflow/graph'

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

/** The edges of a run; `previous` as in `frameOf`: where no edge was taken since, the same map. */
export function edgeFrames(run: Run, previous?: EdgeFrames): EdgeFrames {
  const { walk } = run
  if (!walk) return previous ?? restingEdges(run.graph.graph)
  const redirected = redirectsOf(walk)
  const frames = framesOf(
    run.graph.graph,
    (number) => walk.taken.get(number) ?? 0,
    (node) => redirected.get(node) ?? 0,
    false,
  )
  const isSame =
    previous !== undefined &&
    previous.size === frames.size &&
    [...frames].every(([key, { count, taken }]) => {
      const before = previous.get(key)
      return before?.count === count && before.taken === taken
    })
  return isSame ? previous : frames
}

const resting = new WeakMap<WorkflowGraph, EdgeFrames>()

/** The edges of a workflow that does not run. */
export function restingEdges(graph: WorkflowGraph): EdgeFrames {
  const known = resting.get(graph)
  if (known) return known
  const made = framesOf(
    graph,
    () => 0,
    () => 0,
    true,
  )
  resting.set(graph, made)
  return made
}

function framesOf(
  graph: WorkflowGraph,
  takenOf: (number: number) => number,
  redirectsFrom: (node: string) => number,
  atRest: boolean,
): Map<string, EdgeFrame> {
  const lines = new Map<string, { edge: GraphEdge; taken: number }[]>()
  for (const [number, edge] of graph.edges.entries()) {
    const key = edgeKey(edge.from, edge.to)
    const line = lines.get(key) ?? []
    line.push({ edge, taken: takenOf(number) })
    lines.set(key, line)
  }
  const frames = new Map([...lines].map(([key, line]) => [key, frameOf(line, atRest)]))
  for (const { id, maxVisits, onMaxVisits } of graph.nodes) {
    if (maxVisits === undefined || onMaxVisits === undefined) continue
    const key = edgeKey(id, onMaxVisits)
    frames.set(key, withRedirect(frames.get(key), { id, maxVisits, onMaxVisits }, redirectsFrom(id)))
  }
  return frames
}

/** The way from a state at its limit: a line of its own, or one more label of the line that is there already. */
function withRedirect(
  line: EdgeFrame | undefined,
  { id, maxVisits, onMaxVisits }: { id: string; maxVisits: number; onMaxVisits: string },
  taken: number,
): EdgeFrame {
  const words = `after ${maxVisits} ${maxVisits === 1 ? 'visit' : 'visits'}`
  if (!line) {
    const count = taken > 1 ? `×${taken}` : ''
    return { from: id, to: onMaxVisits, label: words, count, taken, redirect: true }
  }
  const label = line.label === '' ? `done or ${words}` : `${line.label} or ${words}`
  return { ...line, label, taken: line.taken + taken }
}

/** How often the walk was sent on from each state that was at its limit. */
function redirectsOf({ path }: Walk): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { insteadOf = [] } of path) {
    for (const node of insteadOf) found.set(node, (found.get(node) ?? 0) + 1)
  }
  return found
}

function frameOf(line: { edge: GraphEdge; taken: number }[], atRest: boolean): EdgeFrame {
  const { from, to } = (line[0] as { edge: GraphEdge }).edge
  const taken = line.reduce((sum, one) => sum + one.taken, 0)
  return {
    from,
    to,
    label: labelOf(line.map(({ edge }) => edge.when)),
    count: countOf(line, taken, atRest),
    taken,
  }
}

/** An edge without a label goes on from what is done; beside a labelled one between the same steps that is worth saying. */
function labelOf(labels: (string | undefined)[]): string {
  const named = labels.flatMap((label) => label ?? [])
  if (named.length === 0) return ''
  const all = named.length < labels.length ? ['done', ...named] : named
  return [...new Set(all)].join(' or ')
}

function countOf(line: { edge: GraphEdge; taken: number }[], taken: number, atRest: boolean): string {
  const bounds = line.map(({ edge }) => edge.maxIterations)
  const [only] = bounds
  if (line.length === 1 && only !== undefined) return atRest ? `at most ${only}` : `${taken} of ${only}`
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
