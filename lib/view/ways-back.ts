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

/** The layout with these edges drawn below, the shortest nearest. They lead back, or on to what is far away. */
export function withWaysBack(layout: GraphLayout, back: readonly LayoutEdge[]): GraphLayout {
  if (back.length === 0) return layout
  const boxes = [...layout.nodes.values()]
  const bottoms = new Highest(boxes.map(({ x, y }) => ({ x, y: y + nodeSize.height })))
  const tops = new Highest(boxes)
  const drawn = new Highest(layout.routes.flatMap(({ points }) => points))
  const lanes: { left: number; right: number; y: number }[] = []
  const routes = [...layout.routes]
  const nearFirst = [...back].sort((a, b) => spanOf(layout, a) - spanOf(layout, b))
  for (const edge of nearFirst) {
    const from = layout.nodes.get(edge.from)
    const to = layout.nodes.get(edge.to)
    if (!from || !to) continue
    const left = Math.min(to.x, from.x) - sideGap
    const right = Math.max(to.x, from.x) + nodeSize.width + sideGap
    let y = Math.max(bottoms.between(left - nodeSize.width, right), drawn.between(left, right)) + gap
    for (const lane of lanes)
      if (lane.left <= right && lane.right >= left) y = Math.max(y, lane.y + laneHeight)
    lanes.push({ left, right, y })
    const ends = { out: wayOut(from, tops), in: wayIn(to, tops) }
    const points = [
      ...ends.out,
      { x: (ends.out.at(-1) as Point).x, y },
      { x: (ends.in[0] as Point).x, y },
      ...ends.in,
    ]
    const middle = Math.round(((ends.out.at(-1) as Point).x + (ends.in[0] as Point).x) / 2)
    routes.push({ from: edge.from, to: edge.to, points, words: { x: middle, y } })
  }
  const height = lanes.reduce((most, { y }) => Math.max(most, y + laneHeight / 2), layout.height)
  return { ...layout, routes, height }
}

/** From the node to the level of its lane. */
function wayOut(node: Point, tops: Highest): Point[] {
  const x = node.x + nodeSize.width - outAt
  if (isFree(node, x, tops)) return [{ x, y: node.y + nodeSize.height }]
  const middle = node.y + nodeSize.height / 2
  const side = node.x + nodeSize.width
  return [
    { x: side, y: middle },
    { x: side + sideGap, y: middle },
  ]
}

/** From the level of the lane into the node. */
function wayIn(node: Point, tops: Highest): Point[] {
  const x = node.x + nodeSize.width - inAt
  if (isFree(node, x, tops)) return [{ x, y: node.y + nodeSize.height }]
  const middle = node.y + nodeSize.height / 2
  return [
    { x: node.x - sideGap, y: middle },
    { x: node.x, y: middle },
  ]
}

/** True when nothing stands below the node at that place. */
function isFree(node: Point, x: number, tops: Highest): boolean {
  return tops.between(x - nodeSize.width, x) <= node.y
}

/** The largest `y` between two places, of any number of points: tables of the largest of 1, 2, 4, … in a row. */
class Highest {
  readonly #xs: number[]
  readonly #rows: Float64Array[]

  constructor(points: readonly Point[]) {
    const sorted = [...points].sort((a, b) => a.x - b.x)
    this.#xs = sorted.map(({ x }) => x)
    let row = Float64Array.from(sorted, ({ y }) => y)
    this.#rows = [row]
    for (let width = 1; 2 * width <= sorted.length; width *= 2) {
      const wider = new Float64Array(sorted.length - 2 * width + 1)
      for (let at = 0; at < wider.length; at++)
        wider[at] = Math.max(row[at] as number, row[at + width] as number)
      this.#rows.push(wider)
      row = wider
    }
  }

  /** Of the points from `left` to `right`; minus infinity where there is none. */
  between(left: number, right: number): number {
    const from = this.#firstFrom(left, false)
    const until = this.#firstFrom(right, true)
    if (until <= from) return Number.NEGATIVE_INFINITY
    const level = Math.floor(Math.log2(until - from))
    const row = this.#rows[level] as Float64Array
    return Math.max(row[from] as number, row[until - 2 ** level] as number)
  }

  /** Index of the first point at that place or further; with `further`, of the first that is further. */
  #firstFrom(x: number, further: boolean): number {
    let low = 0
    let high = this.#xs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = this.#xs[middle] as number
      if (at < x || (further && at === x)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function spanOf(layout: GraphLayout, { from, to }: LayoutEdge): number {
  return Math.abs((layout.nodes.get(from)?.x ?? 0) - (layout.nodes.get(to)?.x ?? 0))
}
