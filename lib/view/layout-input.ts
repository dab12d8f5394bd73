/*
 * A workflow's graph as a layout takes it: one line between two steps however many edges there are, with room for its
 * words, and the nodes of a walk in the order a reader follows them, so that only what leads back is drawn as leading
 * back.
 */

import type { WorkflowGraph } from '@/lib/workflow/graph'
import { restingEdges, widestWords } from './edge-frame'
import type { LayoutInput } from './layout-terms'

/** Px a letter of 12 px takes, and the room around words. */
const letterWidth = 6.4
const wordsPadding = 12

/** What is laid out of a graph. The same graph gives the same input. */
export function layoutInput(graph: WorkflowGraph): LayoutInput {
  const edges = [...restingEdges(graph).values()].map((frame) => {
    const words = widestWords(frame)
    const line = { from: frame.from, to: frame.to }
    return words === '' ? line : { ...line, words: Math.round(words.length * letterWidth) + wordsPadding }
  })
  const nodes = graph.order === 'stepwise' ? readingOrder(graph) : graph.nodes.map((node) => node.id)
  return { nodes, edges }
}

/** Depth first from the starts, each node before those it leads to, unless they lead back to it. */
function readingOrder(graph: WorkflowGraph): string[] {
  const out = new Map<string, string[]>(graph.nodes.map((node) => [node.id, []]))
  // With the ways from states at their limit: what only they lead to comes after them as well.
  for (const { from, to } of restingEdges(graph).values()) out.get(from)?.push(to)
  const seen = new Set<string>()
  const left: string[] = []
  const roots = [...graph.starts.map((start) => start.node), ...graph.nodes.map((node) => node.id)]
  // What only a later root leads to stands before what an earlier one does: it can lead there, and never the other way.
  for (const root of roots) visit(root, out, seen, left)
  return left.toReversed()
}

/** Appends what is reached from a root, each node after all it leads to. Without recursion: a chain may be long. */
function visit(root: string, out: Map<string, string[]>, seen: Set<string>, left: string[]): void {
  if (seen.has(root) || !out.has(root)) return
  seen.add(root)
  const path = [{ id: root, rest: [...(out.get(root) ?? [])] }]
  while (path.length > 0) {
    const top = path[path.length - 1] as { id: string; rest: string[] }
    const next = top.rest.pop()
    if (next === undefined) {
      left.push(top.id)
      path.pop()
    } else if (!seen.has(next) && out.has(next)) {
      seen.add(next)
      path.push({ id: next, rest: [...(out.get(next) ?? [])] })
    }
  }
}
