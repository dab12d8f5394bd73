/** Where a run begins: [[start_nodes]], each landed on its node. */
import type { Json } from '@/lib/base/json'
import type { Start, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { readEntries } from './read-entries'
import { fits } from './refusals'
import * as shapes from './shapes'

export interface WrittenStart {
  name: string
  source: NonNullable<Start['source']>
  entry?: string
}

export function readStarts(list: Json | undefined, path: GraphPath, tell: Tell): [WrittenStart, number][] {
  const names = new Set<string>()
  return readEntries(list, path, tell, (entry, place) => {
    const isWhole = fits(shapes.startNode, entry, place, tell)
    const { name, source, entry_node: node } = entry
    if (typeof name !== 'string') return undefined
    if (names.has(name))
      tell({
        path: [...place, 'name'],
        code: 'duplicate_start',
        message: `The start ${quoted(name)} is declared twice; a trigger would not know which one is meant.`,
        mend: 'Give each start a name of its own.',
      })
    names.add(name)
    return {
      name,
      source: isWhole ? (source as WrittenStart['source']) : 'manual',
      ...(typeof node === 'string' ? { entry: node } : {}),
    }
  })
}

/** Each start with the node it lands on: the one it names, or else the only node that no edge leads to. */
export function enter(
  written: [WrittenStart, number][],
  graph: WorkflowGraph,
  path: GraphPath,
  tell: Tell,
): { starts: Start[]; at: number[]; implied: string[] } {
  const result: ReturnType<typeof enter> = { starts: [], at: [], implied: [] }
  const roots = rootsOf(graph)
  for (const [{ name, source, entry }, at] of written) {
    const node = entry ?? (roots.length === 1 ? roots[0] : undefined)
    if (node === undefined) {
      const found = roots.length === 0 ? 'no node' : roots.slice(0, 5).map(quoted).join(', ')
      tell({
        path: [...path, at],
        code: 'ambiguous_start',
        message: `Start ${quoted(name)} names no "entry_node", and the workflow has ${roots.length === 0 ? 'none' : 'several'} to begin with: ${found} ${roots.length === 0 ? 'is' : 'are'} without an edge that leads there.`,
        mend: 'Add "entry_node" with the id of the node it begins at.',
      })
      continue
    }
    result.starts.push({ name, node, source })
    result.at.push(at)
    if (entry === undefined) result.implied.push(name)
  }
  return result
}

/** Nodes that no edge leads to. */
export function rootsOf(graph: Pick<WorkflowGraph, 'nodes' | 'edges'>): string[] {
  const reached = new Set(graph.edges.map((edge) => edge.to))
  return graph.nodes.map((node) => node.id).filter((id) => !reached.has(id))
}
