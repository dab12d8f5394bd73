import type { LayoutInput } from '@/lib/view/layout-terms'

/** Above these elk takes longer than a person waits: about 1.5 s at 300 nodes and 450 edges, on a slow machine. */
const elkNodes = 300
const elkEdges = 450

/**
 * Who lays a graph out. Its size alone decides, never the time it takes: the same graph has one shape on every visit
 * and every machine. A graph of few nodes and many edges is as hard for elk as a large one (40 nodes with 400 edges
 * took it 10 s), so edges have a bound by nodes as well.
 */
export function layoutFor({ nodes, edges }: LayoutInput): 'elk' | 'layered' {
  const fits = nodes.length <= elkNodes && edges.length <= elkEdges && edges.length <= 2 * nodes.length + 20
  return fits ? 'elk' : 'layered'
}
