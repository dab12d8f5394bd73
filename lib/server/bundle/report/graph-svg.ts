/** A run's graph as an inline drawing, as the console draws it: the same layout, shapes and words. */
import { type EdgeFrames, edgeKey, edgeWords } from '@/lib/view/edge-frame'
import type { NodeFrame, RunFrame } from '@/lib/view/frame'
import { layeredLayout } from '@/lib/view/layered-layout'
import { layoutInput } from '@/lib/view/layout-input'
import { arrowPath, ownLoop, routePath } from '@/lib/view/layout-path'
import { type EdgeRoute, type GraphLayout, nodeSize, type Point } from '@/lib/view/layout-terms'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { html, type Markup } from './markup'
import { shapeAt, stateClass } from './state-shapes'
import { cut, span } from './words'

/** More steps than this are a smear on paper: they are listed, not drawn. */
export const drawnNodesMax = 400

const margin = 24
/** A wide graph is drawn this much smaller before it has to be scrolled. */
const smallest = 0.7
/** Characters that fit on a node beside its shape, and on its second line. */
const labelChars = 25
const wordChars = 22
const wordsOnEdgeChars = 40

/** The drawing; nothing when the graph has no step or too many. */
export function graphSvg(graph: WorkflowGraph, frame: RunFrame, label: string): Markup | undefined {
  if (graph.nodes.length === 0 || graph.nodes.length > drawnNodesMax) return undefined
  const layout = withRoom(layeredLayout(layoutInput(graph)), frame.edges)
  const routes = [...layout.routes, ...ownLoops(layout, frame.edges)]
  const extent = extentOf(layout, routes)
  const width = extent.right - extent.left + 2 * margin
  const height = extent.bottom - extent.top + 2 * margin
  const view = `${extent.left - margin} ${extent.top - margin} ${width} ${height}`
  return html`<div class="scroll"><svg role="img" aria-label="${label}" style="min-width:${Math.round(width * smallest)}px" width="${width}" height="${height}" viewBox="${view}">
${routes.map((route) => edge(route, frame.edges))}
${routes.map((route) => wordsOn(route, frame.edges))}
${[...frame.nodes.values()].map((node) => drawnNode(node, layout.nodes.get(node.id)))}
</svg></div>`
}

/**
 * The layout with each column as far from the one before it as the words on the edges into it need: the quick layout
 * leaves 48 px there, and on paper nobody can move a step aside.
 */
function withRoom(layout: GraphLayout, edges: EdgeFrames): GraphLayout {
  const need = new Map<number, number>()
  const isLast = new Set<EdgeRoute>()
  for (const route of layout.routes) {
    const end = route.points.at(-1)
    const width = widthOnEdge(route, edges)
    // Words of a way back stand on a lane of their own.
    if (!end || !route.words || width === 0 || Math.abs(route.words.y - (end.y - 9)) > 1) continue
    isLast.add(route)
    need.set(end.x, Math.max(need.get(end.x) ?? 0, width + 26))
  }
  const steps = [...need].map(([x, room]) => ({ x, by: Math.max(0, room - firstLaneWidth) }))
  const moved = (x: number) => x + steps.reduce((sum, step) => sum + (x >= step.x ? step.by : 0), 0)
  const movedPoint = ({ x, y }: Point): Point => ({ x: moved(x), y })
  return {
    nodes: new Map([...layout.nodes].map(([id, at]) => [id, movedPoint(at)])),
    routes: layout.routes.map((route) => {
      const points = route.points.map(movedPoint)
      const end = points.at(-1) as Point
      const words = isLast.has(route)
        ? { x: end.x - 10 - widthOnEdge(route, edges) / 2, y: end.y }
        : route.words && movedPoint(route.words)
      return { ...route, points, ...(words && { words }) }
    }),
    width: moved(layout.width),
    height: layout.height,
  }
}

/** Px between the last trunk and the node it leads to, as the layout has it. */
const firstLaneWidth = 18

function widthOnEdge({ from, to }: EdgeRoute, edges: EdgeFrames): number {
  const frame = edges.get(edgeKey(from, to))
  const text = frame ? cut(edgeWords(frame), wordsOnEdgeChars) : ''
  return text === '' ? 0 : Math.round(text.length * 6.4) + 8
}

function ownLoops(layout: GraphLayout, edges: EdgeFrames): EdgeRoute[] {
  return [...edges.values()].flatMap(({ from, to }) => {
    const at = from === to ? layout.nodes.get(from) : undefined
    return at ? [{ from, to, ...ownLoop(at) }] : []
  })
}

function extentOf(layout: GraphLayout, routes: readonly EdgeRoute[]) {
  const extent = { left: 0, top: 0, right: layout.width, bottom: layout.height }
  for (const { x, y } of routes.flatMap(({ points, words }) => (words ? [...points, words] : points))) {
    extent.left = Math.min(extent.left, Math.floor(x))
    extent.top = Math.min(extent.top, Math.floor(y))
    extent.right = Math.max(extent.right, Math.ceil(x))
    extent.bottom = Math.max(extent.bottom, Math.ceil(y))
  }
  return extent
}

function edge({ from, to, points }: EdgeRoute, edges: EdgeFrames): Markup {
  const taken = (edges.get(edgeKey(from, to))?.taken ?? 0) > 0 ? ' taken' : ''
  return html`<path class="edge${taken}" d="${routePath(points)}"/><path class="arrow${taken}" d="${arrowPath(points)}"/>`
}

function wordsOn(route: EdgeRoute, edges: EdgeFrames): Markup | undefined {
  const { from, to, words } = route
  const frame = edges.get(edgeKey(from, to))
  const width = widthOnEdge(route, edges)
  if (!words || !frame || width === 0) return undefined
  const text = cut(edgeWords(frame), wordsOnEdgeChars)
  return html`<g class="on-edge"><rect x="${words.x - width / 2}" y="${words.y - 8}" width="${width}" height="16"/><text x="${words.x}" y="${words.y}">${text}</text></g>`
}

function drawnNode(frame: NodeFrame, at: Point | undefined): Markup | undefined {
  if (!at) return undefined
  const { label, shown, word, visit, isEnd, time } = frame
  const took = time && 'took' in time ? span(time.took) : ''
  const which = visit > 1 && !isEnd ? `, visit ${visit}` : ''
  return html`<g class="node n-${stateClass(shown)}" transform="translate(${at.x} ${at.y})"><title>${label}: ${word}</title>
<rect width="${nodeSize.width}" height="${nodeSize.height}" rx="4"/>${shapeAt(shown, 7, 7)}
<text x="28" y="19">${cut(label, labelChars)}</text><text class="word" x="28" y="37">${cut(`${word}${which}`, wordChars)}</text>
${took && html`<text class="word mono" x="${nodeSize.width - 8}" y="37" text-anchor="end">${took}</text>`}</g>`
}
