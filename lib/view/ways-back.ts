/*
 * Edges that close a loop, which no layout from left to right has a place for: each goes below all that stands between
 * its ends, on a lane of its own. It leaves and comes in from below where the way is free, else at the sides.
 *
 *      ╭──────╮    ╭──────╮    ╭──────╮
 *      │ draft├───▶│ write├───▶│ again├──▶
 *      ╰────▲─╯    ╰──────╯    ╰────┬─╯
 *           ╰───────── true ────────╯
 */
import { type GraphLayout, type LayoutEdge, type LayoutInput, nodeSize, type Point } from './layout-terms'

/** Px below a node: the runs it began stand there. */
const gap = 30
const laneHeight = 16
const sideGap = 12
/** Px from a node's right side to where a way back leaves it, and comes in. */
const outAt = 24
const inAt = 52

/** The edges that lead on, and apart those that lead back along a path from a start. None from a node to itself, each pair once. */
export function apart(input: LayoutInput): { edges: LayoutEdge[]; back: LayoutEdge[] } {
  const known = new Set(input.nodes)
  const out = new Map<string, string[]>(input.nodes.map((id) => [id, []]))
  const seen = new Set<string>()
  const clean = input.edges.filter(({ from, to }) => {
    const key = `${from}\n${to}`
    if (from === to || !known.has(from) || !known.has(to) || seen.has(key)) return false
    seen.add(key)
    out.get(from)?.push(to)
    return true
  })
  const closing = backEdges(input.nodes, out)
  const isBack = ({ from, to }: LayoutEdge) => closing.has(`${from}\n${to}`)
  return { edges: clean.filter((edge) => !isBack(edge)), back: clean.filter(isBack) }
}

/** Edges to a node that is still open on the way from a start: depth first, without recursion. */
function backEdges(nodes: readonly string[], out: Map<string, string[]>): Set<string> {
  const back = new Set<string>()
  const state = new Map<string, 'open' | 'closed'>()
  for (const root of nodes) {
    if (state.has(root)) continue
    const path: { id: string; next: number }[] = [{ id: root, next: 0 }]
    state.set(root, 'open')
    while (path.length > 0) {
      const top = path[path.length - 1] as { id: string; next: number }
      const child = out.get(top.id)?.[top.next++]
      if (child === undefined) {
        state.set(top.id, 'closed')
        path.pop()
      } else if (state.get(child) === 'open') back.add(`${top.id}\n${child}`)
      else if (!state.has(child)) {
        state.set(child, 'open')
        path.push({ id: child, next: 0 })
      }
    }
  }
  return back
}

/** The layout with these edges drawn back, the shortest nearest. */
export function withWaysBack(layout: GraphLayout, back: readonly LayoutEdge[]): GraphLayout {
  if (back.length === 0) return layout
  const boxes = [...layout.nodes.values()]
  const lanes: { left: number; right: number; y: number }[] = []
  const routes = [...layout.routes]
  const nearFirst = [...back].sort((a, b) => spanOf(layout, a) - spanOf(layout, b))
  for (const edge of nearFirst) {
    const from = layout.nodes.get(edge.from)
    const to = layout.nodes.get(edge.to)
    if (!from || !to) continue
    const [left, right] = [to.x - sideGap, from.x + nodeSize.width + sideGap]
    const between = boxes.filter(({ x }) => x + nodeSize.width >= left && x <= right)
    const low = layout.routes.flatMap(({ points }) => points.filter(({ x }) => x >= left && x <= right))
    let y = Math.max(...between.map((box) => box.y + nodeSize.height), ...low.map((point) => point.y)) + gap
    for (const lane of lanes)
      if (lane.left <= right && lane.right >= left) y = Math.max(y, lane.y + laneHeight)
    lanes.push({ left, right, y })
    const ends = { out: wayOut(from, boxes), in: wayIn(to, boxes) }
    const points = [
      ...ends.out,
      { x: (ends.out.at(-1) as Point).x, y },
      { x: (ends.in[0] as Point).x, y },
      ...ends.in,
    ]
    const middle = Math.round(((ends.out.at(-1) as Point).x + (ends.in[0] as Point).x) / 2)
    routes.push({ from: edge.from, to: edge.to, points, words: { x: middle, y } })
  }
  const height = Math.max(layout.height, ...lanes.map((lane) => lane.y + laneHeight / 2))
  return { ...layout, routes, height }
}

/** From the node to the level of its lane. */
function wayOut(node: Point, boxes: readonly Point[]): Point[] {
  const x = node.x + nodeSize.width - outAt
  if (isFree(node, x, boxes)) return [{ x, y: node.y + nodeSize.height }]
  const middle = node.y + nodeSize.height / 2
  const side = node.x + nodeSize.width
  return [
    { x: side, y: middle },
    { x: side + sideGap, y: middle },
  ]
}

/** From the level of the lane into the node. */
function wayIn(node: Point, boxes: readonly Point[]): Point[] {
  const x = node.x + nodeSize.width - inAt
  if (isFree(node, x, boxes)) return [{ x, y: node.y + nodeSize.height }]
  const middle = node.y + nodeSize.height / 2
  return [
    { x: node.x - sideGap, y: middle },
    { x: node.x, y: middle },
  ]
}

/** True when nothing stands below the node at that place. */
function isFree(node: Point, x: number, boxes: readonly Point[]): boolean {
  return !boxes.some((box) => box.y > node.y && box.x <= x && x <= box.x + nodeSize.width)
}

function spanOf(layout: GraphLayout, { from, to }: LayoutEdge): number {
  return (layout.nodes.get(from)?.x ?? 0) - (layout.nodes.get(to)?.x ?? 0)
}
