/*
 * Where a node's values come from. A `*_from` member, and the `expr` of a decision, holds a dotted path: `trigger.x` is
 * the run's input, `load.content` the output of the node `load`. A node can only be sure of the outputs of its
 * ancestors: of any other node it depends on luck whether it is done by then. In stepwise order a loop may make it so,
 * so all of this is a warning.
 */
import type { JsonObject } from '@/lib/base/json'
import type { WorkflowGraph } from './graph'
import { type GraphIndex, indexGraph } from './graph-index'
import { quoted, type Report } from './graph-problem'

/** The config members that say where a value comes from (`path_from`, `input_from`, `expr`), with their dotted paths. */
export function sourceMembers(config: JsonObject): [member: string, path: string][] {
  const found: [string, string][] = []
  for (const [member, value] of Object.entries(config)) {
    if ((member.endsWith('_from') || member === 'expr') && typeof value === 'string')
      found.push([member, value])
  }
  return found
}

/** Reports every `*_from` path that does not begin with `trigger` or an ancestor. */
export function checkSources(graph: WorkflowGraph, report: Report): void {
  const reading = graph.nodes.some((node) => sourceMembers(node.config).length > 0)
  if (!reading) return
  const index = indexGraph(graph)
  const isAncestor = ancestry(index)
  for (const [at, node] of graph.nodes.entries()) {
    for (const [member, path] of sourceMembers(node.config)) {
      const source = sourceOf(path)
      if (source === 'trigger' || isAncestor(source, node.id)) continue
      const exists = index.nodes.has(source)
      report({
        severity: 'warning',
        code: exists ? 'source_not_before' : 'source_unknown',
        message: exists
          ? `Node ${quoted(node.id)} takes ${member} from ${quoted(path)}, but ${quoted(source)} is not one of the nodes before it.`
          : `Node ${quoted(node.id)} takes ${member} from ${quoted(path)}, which begins with neither "trigger" nor a node's id.`,
        mend: exists
          ? `Add an edge that makes ${quoted(source)} come first.`
          : 'Begin the path with "trigger" or the id of a node before this one.',
        path: ['nodes', at, 'config', member],
      })
    }
  }
}

/** What a path begins with: `load` of `load.items[0].id`. An id with a dot in it cannot be named by a path. */
export function sourceOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? ''
}

/*
 * Ancestors as one row of bits a node, filled in topological order: 5,000 nodes take 3 MB, and each edge ors one row
 * of 157 words into another. Loops need a second round, so it repeats until nothing moves.
 */
function ancestry(index: GraphIndex): (ancestor: string, of: string) => boolean {
  const place = new Map(index.order.map((id, at) => [id, at]))
  const words = Math.ceil(index.order.length / 32)
  const rows = new Uint32Array(words * index.order.length)
  for (let moved = true; moved; ) {
    moved = false
    for (const [at, id] of index.order.entries()) {
      for (const parent of index.parents.get(id) ?? []) {
        const from = place.get(parent) as number
        if (mix(rows, at * words, from * words, words, from)) moved = true
      }
    }
  }
  return (ancestor, of) => {
    const bit = place.get(ancestor)
    const row = place.get(of)
    if (bit === undefined || row === undefined) return false
    return (((rows[row * words + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 1
  }
}

function mix(rows: Uint32Array, into: number, from: number, words: number, bit: number): boolean {
  let moved = false
  for (let word = 0; word < words; word++) {
    const before = rows[into + word] ?? 0
    const own = word === bit >>> 5 ? 1 << (bit & 31) : 0
    const after = (before | (rows[from + word] ?? 0) | own) >>> 0
    if (after === before) continue
    rows[into + word] = after
    moved = true
  }
  return moved
}
