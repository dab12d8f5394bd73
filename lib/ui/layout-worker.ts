import ELK, {
  type ELK as Elk,
  type ElkEdgeSection,
  type ElkExtendedEdge,
  type ElkNode,
} from 'elkjs/lib/elk-api.js'
import {
  type EdgeRoute,
  type GraphLayout,
  type LayoutEdge,
  type LayoutInput,
  nodeSize,
  type Point,
} from '@/lib/view/layout-terms'
import { apart, withWaysBack } from '@/lib/view/ways-back'

/*
 * elk lays out small graphs more beautifully than we do, in up to two seconds; so it works in a worker of its own, which
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
  'elk.spacing.edgeLabel': '0',
  'elk.padding': '[top=0,left=0,bottom=0,right=0]',
}

const onTheLine = { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' }

/** Px: a line of 12 px letters. */
const wordsHeight = 16

interface Started {
  elk: Elk
  /** Rejects when the worker cannot be loaded or breaks: elk itself would leave whoever waits without an answer. */
  broken: Promise<never>
}

let started: Started | undefined

function theElk(): Started {
  started ??= start()
  return started
}

function start(): Started {
  let fail: (reason: Error) => void
  const broken = new Promise<never>((_, reject) => {
    fail = reject
  })
  // Whoever waits for a layout meets it; with nobody waiting it must not be "unhandled".
  broken.catch(() => {})
  const elk = new ELK({
    workerFactory: () => {
      const worker = new Worker(new URL('elkjs/lib/elk-worker.min.js', import.meta.url))
      worker.addEventListener('error', (event) => {
        started = undefined
        fail(new Error(event.message || 'The layout worker could not be loaded'))
      })
      return worker
    },
  })
  return { elk, broken }
}

/** Lays the graph out with elk, in its worker. Rejects when elk cannot, or its worker is not to be had. */
export async function elkLayout(input: LayoutInput): Promise<GraphLayout> {
  const { edges, back } = apart(input)
  const { elk, broken } = theElk()
  const drawing = elk.layout({
    id: 'graph',
    layoutOptions,
    children: input.nodes.map((id) => ({ id, ...nodeSize })),
    edges: edges.map(({ from, to, words }, at) => ({
      id: `e${at}`,
      sources: [from],
      targets: [to],
      ...(words === undefined
        ? {}
        : {
            labels: [
              { id: `w${at}`, text: ' ', width: words, height: wordsHeight, layoutOptions: onTheLine },
            ],
          }),
    })),
  })
  const drawn = await Promise.race([drawing, broken])
  return withWaysBack(readElk(drawn, edges), back)
}

function readElk(drawn: ElkNode, edges: readonly LayoutEdge[]): GraphLayout {
  const nodes = new Map<string, Point>()
  for (const child of drawn.children ?? []) {
    nodes.set(child.id, { x: Math.round(child.x ?? 0), y: Math.round(child.y ?? 0) })
  }
  const byId = new Map((drawn.edges ?? []).map((edge) => [edge.id, edge]))
  const routes: EdgeRoute[] = edges.flatMap(({ from, to }, at) => {
    const section = byId.get(`e${at}`)?.sections?.[0]
    if (!section) return []
    const words = wordsOf(byId.get(`e${at}`))
    return [{ from, to, points: pointsOf(section), ...(words && { words }) }]
  })
  return { nodes, routes, width: drawn.width ?? 0, height: drawn.height ?? 0 }
}

/** The middle of an edge's words. */
function wordsOf(edge: ElkExtendedEdge | undefined): Point | undefined {
  const label = edge?.labels?.[0]
  if (label?.x === undefined || label.y === undefined) return undefined
  return {
    x: Math.round(label.x + (label.width ?? 0) / 2),
    y: Math.round(label.y + (label.height ?? 0) / 2),
  }
}

function pointsOf(section: ElkEdgeSection): Point[] {
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
  return points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }))
}
