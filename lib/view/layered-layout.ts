/*
 * A layered layout of a graph, left to right: quick enough to run while a person waits (about 15 ms for 1,000 nodes),
 * so it draws what elk would take seconds for (layout-choice.ts).
 *
 *   1. layers      the longest path from a start; edges that close a loop are left out
 *   2. rails       an edge that passes a layer leaves a point there; all edges of one node share that point
 *   3. ordering    barycentre sweeps, the order with the fewest crossings is kept
 *   4. heights     each node goes as near to its neighbours as its layer allows (isotonic regression, exact)
 *   5. trunks      between two layers each node's edges share one vertical trunk; trunks that overlap get lanes
 *   6. ways back   edges that close a loop go below all that stands between their ends, each on a lane of its own; so do
 *                  edges across a great part of a long graph, which would leave a point in each of a hundred layers
 *
 * Pure: the same graph gives the same picture.
 */
import {
  type EdgeRoute,
  type GraphLayout,
  type LayoutEdge,
  type LayoutInput,
  nodeSize,
  type Point,
} from './layout-terms'
import { apart, withWaysBack } from './ways-back'

const rowGap = 36
const railGap = 14
const firstLane = 18
const laneWidth = 8
const minColumnGap = 48
/** Past this many lanes they are drawn closer together: a column gap stays crossable by eye. */
const maxLanes = 16
/** Of a graph whose edges pass many layers there are fewer: each goes over all cells, and there may be a million. */
const orderingSweeps = { most: 8, cells: 400_000 }
const placementSweeps = { most: 10, cells: 1_000_000 }

/** An edge that passes more layers than this goes below: no eye follows it through them. */
const passesAtMost = 40

/** A node, or the point where edges of `source` pass a layer. */
interface Cell {
  id: string
  source?: string
  layer: number
  /** Index within its layer. */
  at: number
  y: number
  height: number
  before: Cell[]
  after: Cell[]
  /** What its layer is being sorted by. */
  key: number
}

/** Lays the graph out. Edges whose ends are not among the nodes are left out. */
export function layeredLayout(input: LayoutInput): GraphLayout {
  if (input.nodes.length === 0) return { nodes: new Map(), routes: [], width: 0, height: 0 }
  const { edges: onward, back } = apart(input)
  const layerOf = layering(input.nodes, onward)
  const isFar = ({ from, to }: LayoutEdge) => (layerOf.get(to) ?? 0) - (layerOf.get(from) ?? 0) > passesAtMost
  const edges = onward.filter((edge) => !isFar(edge))
  const { layers, cells } = cellsOf(input.nodes, edges, layerOf)
  orderLayers(layers, sweepsFor(cells.size, orderingSweeps))
  placeHeights(layers, sweepsFor(cells.size, placementSweeps))
  return withWaysBack(draw(input, edges, layerOf, layers, cells), [...onward.filter(isFar), ...back])
}

function layering(nodes: readonly string[], edges: LayoutEdge[]): Map<string, number> {
  const children = new Map<string, string[]>(nodes.map((id) => [id, []]))
  const missing = new Map<string, number>(nodes.map((id) => [id, 0]))
  for (const { from, to } of edges) {
    children.get(from)?.push(to)
    missing.set(to, (missing.get(to) ?? 0) + 1)
  }
  const layer = new Map<string, number>()
  const queue = nodes.filter((id) => missing.get(id) === 0)
  const starts = [...queue]
  for (const id of queue) layer.set(id, 0)
  for (let at = 0; at < queue.length; at++) {
    const id = queue[at] as string
    for (const child of children.get(id) ?? []) {
      layer.set(child, Math.max(layer.get(child) ?? 0, (layer.get(id) ?? 0) + 1))
      const left = (missing.get(child) ?? 0) - 1
      missing.set(child, left)
      if (left === 0) queue.push(child)
    }
  }
  // A start that is needed late only stands beside what needs it.
  for (const id of starts) {
    const first = Math.min(...(children.get(id) ?? []).map((child) => layer.get(child) ?? 0))
    if (Number.isFinite(first) && first > 1) layer.set(id, first - 1)
  }
  return layer
}

function cellsOf(nodes: readonly string[], edges: LayoutEdge[], layerOf: Map<string, number>) {
  const layers: Cell[][] = []
  const cells = new Map<string, Cell>()
  const add = (id: string, layer: number, height: number, source?: string): Cell => {
    const cell: Cell = { id, source, layer, at: 0, y: 0, height, before: [], after: [], key: 0 }
    cells.set(id, cell)
    while (layers.length <= layer) layers.push([])
    cell.at = layers[layer]?.push(cell) ?? 0
    return cell
  }
  for (const id of nodes) add(id, layerOf.get(id) ?? 0, nodeSize.height)
  for (const { from, to } of edges) {
    let last = cells.get(from) as Cell
    const end = layerOf.get(to) ?? 0
    for (let layer = last.layer + 1; layer < end; layer++) {
      const id = railId(from, layer)
      const rail = cells.get(id) ?? add(id, layer, 0, from)
      if (!last.after.includes(rail)) link(last, rail)
      last = rail
    }
    link(last, cells.get(to) as Cell)
  }
  return { layers, cells }
}

function railId(source: string, layer: number): string {
  return `${layer}\n${source}`
}

function link(from: Cell, to: Cell): void {
  from.after.push(to)
  to.before.push(from)
}

function sweepsFor(count: number, { most, cells }: { most: number; cells: number }): number {
  return Math.min(most, Math.max(2, Math.floor(cells / count)))
}

function orderLayers(layers: Cell[][], sweeps: number): void {
  renumber(layers)
  let best = snapshot(layers)
  let fewest = crossings(layers)
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0
    const order = forward ? layers : [...layers].reverse()
    for (const layer of order) {
      for (const cell of layer) cell.key = barycentre(cell, forward ? cell.before : cell.after)
      layer.sort((a, b) => a.key - b.key || a.at - b.at)
      layer.forEach((cell, at) => {
        cell.at = at
      })
    }
    const now = crossings(layers)
    if (now < fewest) {
      fewest = now
      best = snapshot(layers)
    }
  }
  best.forEach((order, layer) => {
    layers[layer] = order
  })
  renumber(layers)
}

function renumber(layers: Cell[][]): void {
  for (const layer of layers) {
    layer.forEach((cell, at) => {
      cell.at = at
    })
  }
}

function snapshot(layers: Cell[][]): Cell[][] {
  return layers.map((layer) => [...layer])
}

function barycentre(cell: Cell, neighbours: Cell[]): number {
  if (neighbours.length === 0) return cell.at
  return neighbours.reduce((sum, other) => sum + other.at, 0) / neighbours.length
}

/** Counts pairs of edges that cross between neighbouring layers: inversions, by a Fenwick tree. */
function crossings(layers: Cell[][]): number {
  let total = 0
  for (const [index, layer] of layers.entries()) {
    const size = layers[index + 1]?.length ?? 0
    if (size === 0) continue
    const tree = new Int32Array(size + 1)
    let placed = 0
    for (const cell of layer) {
      const targets = cell.after.map((other) => other.at).sort((a, b) => a - b)
      for (const at of targets) {
        let upTo = 0
        for (let i = at + 1; i > 0; i -= i & -i) upTo += tree[i] as number
        total += placed - upTo
      }
      for (const at of targets) {
        placed++
        for (let i = at + 1; i <= size; i += i & -i) tree[i] = (tree[i] as number) + 1
      }
    }
  }
  return total
}

/** Centre to centre, for two neighbours in one layer. */
function separation(a: Cell, b: Cell): number {
  const gap = a.height === 0 || b.height === 0 ? railGap : rowGap
  return a.height / 2 + b.height / 2 + gap
}

function placeHeights(layers: Cell[][], sweeps: number): void {
  for (const layer of layers) {
    let y = 0
    layer.forEach((cell, at) => {
      if (at > 0) y += separation(layer[at - 1] as Cell, cell)
      cell.y = y
    })
    const middle = y / 2
    for (const cell of layer) cell.y -= middle
  }
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const forward = sweep % 2 === 0
    const order = forward ? layers : [...layers].reverse()
    for (const layer of order) settle(layer, (cell) => wish(cell, forward))
  }
  for (const layer of layers) settle(layer, straightWish)
  for (const layer of layers) for (const cell of layer) cell.y = Math.round(cell.y)
}

/** Where a cell would like to be: level with the middle of its neighbours, those just placed counting double. */
function wish(cell: Cell, forward: boolean): number {
  let sum = 0
  let weight = 0
  for (const [neighbours, w] of [
    [cell.before, forward ? 2 : 1],
    [cell.after, forward ? 1 : 2],
  ] as const) {
    if (neighbours.length === 0) continue
    const mean = neighbours.reduce((total, other) => total + other.y, 0) / neighbours.length
    sum += mean * w
    weight += w
  }
  return weight === 0 ? cell.y : sum / weight
}

/** Straight where a parent meets one child. */
function straightWish(cell: Cell): number {
  const [before] = cell.before
  if (cell.before.length === 1 && before && before.after.length === 1) return before.y
  return cell.y
}

/** Moves a layer's cells as near to their wishes as order and separation allow: pool adjacent violators. */
function settle(layer: Cell[], wishOf: (cell: Cell) => number): void {
  const offsets: number[] = []
  const blocks: { sum: number; count: number }[] = []
  layer.forEach((cell, at) => {
    offsets.push(at === 0 ? 0 : (offsets[at - 1] as number) + separation(layer[at - 1] as Cell, cell))
    let block = { sum: wishOf(cell) - (offsets[at] as number), count: 1 }
    let previous = blocks[blocks.length - 1]
    while (previous && previous.sum / previous.count > block.sum / block.count) {
      block = { sum: previous.sum + block.sum, count: previous.count + block.count }
      blocks.pop()
      previous = blocks[blocks.length - 1]
    }
    blocks.push(block)
  })
  let at = 0
  for (const block of blocks) {
    for (let i = 0; i < block.count; i++, at++) {
      ;(layer[at] as Cell).y = block.sum / block.count + (offsets[at] as number)
    }
  }
}

/** One cell's edges to the next layer: where their trunk stands, as a lane from the right. */
interface Trunk {
  cell: Cell
  top: number
  bottom: number
  lane: number
}

function trunksOf(layer: Cell[]): { trunks: Map<Cell, Trunk>; lanes: number } {
  const all: Trunk[] = []
  for (const cell of layer) {
    const heights = [cell.y, ...cell.after.map((other) => other.y)]
    const top = Math.min(...heights)
    const bottom = Math.max(...heights)
    if (bottom > top) all.push({ cell, top, bottom, lane: 0 })
  }
  all.sort((a, b) => a.top - b.top)
  const ends: number[] = []
  for (const trunk of all) {
    const free = ends.findIndex((end) => end + 6 < trunk.top)
    trunk.lane = free === -1 ? ends.length : free
    ends[trunk.lane] = trunk.bottom
  }
  return { trunks: new Map(all.map((trunk) => [trunk.cell, trunk])), lanes: ends.length }
}

function draw(
  input: LayoutInput,
  edges: LayoutEdge[],
  layerOf: Map<string, number>,
  layers: Cell[][],
  cells: Map<string, Cell>,
): GraphLayout {
  // Long edges have a cell in each layer they pass: there may be more of them than a call takes arguments.
  let top = Number.POSITIVE_INFINITY
  let bottom = Number.NEGATIVE_INFINITY
  for (const { y, height } of layers.flat()) {
    top = Math.min(top, y - height / 2)
    bottom = Math.max(bottom, y + height / 2)
  }
  const trunks = layers.map(trunksOf)
  const columns: number[] = []
  let x = 0
  for (const { lanes } of trunks) {
    columns.push(x)
    const width = firstLane + Math.min(lanes, maxLanes) * laneWidth + 14
    x += nodeSize.width + Math.max(minColumnGap, width)
  }
  const nodes = new Map<string, Point>()
  for (const id of input.nodes) {
    const cell = cells.get(id) as Cell
    nodes.set(id, { x: columns[cell.layer] ?? 0, y: cell.y - cell.height / 2 - top })
  }
  const trunkX = (cell: Cell): number => {
    const { trunks: here, lanes } = trunks[cell.layer] as { trunks: Map<Cell, Trunk>; lanes: number }
    const step = lanes <= maxLanes ? laneWidth : (laneWidth * maxLanes) / lanes
    return (columns[cell.layer + 1] ?? 0) - firstLane - (here.get(cell)?.lane ?? 0) * step
  }
  const routes = edges.map((edge) => routeOf(edge, layerOf, cells, columns, top, trunkX))
  const last = columns[columns.length - 1] ?? 0
  return { nodes, routes, width: last + nodeSize.width, height: bottom - top }
}

function routeOf(
  edge: LayoutEdge,
  layerOf: Map<string, number>,
  cells: Map<string, Cell>,
  columns: number[],
  top: number,
  trunkX: (cell: Cell) => number,
): EdgeRoute {
  let cell = cells.get(edge.from) as Cell
  const points: Point[] = [{ x: (columns[cell.layer] ?? 0) + nodeSize.width, y: cell.y - top }]
  const end = layerOf.get(edge.to) ?? 0
  for (let layer = cell.layer + 1; layer <= end; layer++) {
    const next = cells.get(layer === end ? edge.to : railId(edge.from, layer)) as Cell
    if (next.y !== cell.y) {
      const x = trunkX(cell)
      points.push({ x, y: cell.y - top }, { x, y: next.y - top })
    }
    cell = next
  }
  points.push({ x: columns[cell.layer] ?? 0, y: cell.y - top })
  return worded({ from: edge.from, to: edge.to, points }, edge)
}

/** Words stand over the last piece of their edge, just before its arrow: the one piece that is seldom shared. */
function worded(route: EdgeRoute, { words }: LayoutEdge): EdgeRoute {
  const end = route.points[route.points.length - 1]
  if (words === undefined || !end) return route
  return { ...route, words: { x: Math.round(end.x - 10 - words / 2), y: end.y - 9 } }
}
