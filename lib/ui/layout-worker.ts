import ELK, { type ELK as Elk, type ElkEdgeSection, type ElkNode } from 'elkjs/lib/elk-api.js'
import { type EdgeRoute, type GraphLayout, type LayoutInput, nodeSize, type Point } from './layout-terms'

/*
 * elk lays out small graphs more beautifully than we do, in up to a second; so it works in a worker of its own, which
 * is started with the first graph and kept.
 */
const layoutOptions = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.mergeEdges': 'true',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.considerModelOrder.strategy': 'PREFER_NODES',
  'elk.spacing.nodeNode': '52',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
  'elk.padding': '[top=0,left=0,bottom=0,right=0]',
}

let elk: Elk | undefined

function theElk(): Elk {
  elk ??= new ELK({
    workerFactory: () => new Worker(new URL('elkjs/lib/elk-worker.min.js', import.meta.url)),
  })
  return elk
}

/** Lays the graph out with elk, in its worker. Rejects when elk cannot (the layered layout stands in). */
export async function elkLayout(input: LayoutInput): Promise<GraphLayout> {
  const known = new Set(input.nodes)
  const edges = input.edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to)
  const drawn = await theElk().layout({
    id: 'graph',
    layoutOptions,
    children: input.nodes.map((id) => ({ id, ...nodeSize })),
    edges: edges.map(({ from, to }, at) => ({ id: `e${at}`, sources: [from], targets: [to] })),
  })
  return readElk(drawn, edges)
}

function readElk(drawn: ElkNode, edges: LayoutInput['edges']): GraphLayout {
  const nodes = new Map<string, Point>()
  for (const child of drawn.children ?? []) {
    nodes.set(child.id, { x: Math.round(child.x ?? 0), y: Math.round(child.y ?? 0) })
  }
  const sections = new Map((drawn.edges ?? []).map((edge) => [edge.id, edge.sections?.[0]]))
  const routes: EdgeRoute[] = edges.flatMap(({ from, to }, at) => {
    const section = sections.get(`e${at}`)
    return section ? [{ from, to, points: pointsOf(section) }] : []
  })
  return { nodes, routes, width: drawn.width ?? 0, height: drawn.height ?? 0 }
}

function pointsOf(section: ElkEdgeSection): Point[] {
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
  return points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }))
}
