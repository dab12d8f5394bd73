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
/** Characters that fit on a node beside its shape, and on its second line. */
const labelChars = 25
const wordChars = 22

/** The drawing; nothing when the graph has no step or too many. */
export function graphSvg(graph: WorkflowGraph, frame: RunFrame, label: string): Markup | undefined {
  if (graph.nodes.length === 0 || graph.nodes.length > drawnNodesMax) return undefined
  const layout = layeredLayout(layoutInput(graph))
  const routes = [...layout.routes, ...ownLoops(layout, frame.edges)]
  const extent = extentOf(layout, routes)
  const width = extent.right - extent.left + 2 * margin
  const height = extent.bottom - extent.top + 2 * margin
  const view = `${extent.left - margin} ${extent.top - margin} ${width} ${height}`
  return html`<div class="scroll"><svg role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="${view}">
${routes.map((route) => edge(route, frame.edges))}
${routes.map((route) => wordsOn(route, frame.edges))}
${[...frame.nodes.values()].map((node) => drawnNode(node, layout.nodes.get(node.id)))}
</svg></div>`
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

function wordsOn({ from, to, words }: EdgeRoute, edges: EdgeFrames): Markup | undefined {
  const frame = edges.get(edgeKey(from, to))
  const text = frame ? cut(edgeWords(frame), 40) : ''
  if (!words || text === '') return undefined
  const width = Math.round(text.length * 6.4) + 8
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
