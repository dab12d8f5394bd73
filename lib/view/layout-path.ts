import { nodeSize, type Point } from './layout-terms'

const cornerRadius = 6
const arrowLength = 7
const arrowHalf = 3.5

/** SVG path of a route with rounded corners, ending where its arrow head begins. */
export function routePath(points: readonly Point[]): string {
  const first = points[0]
  const last = points[points.length - 1]
  if (!first || !last || points.length < 2) return ''
  const way = [...points.slice(0, -1), stopShort(points[points.length - 2] as Point, last)]
  let path = `M${first.x} ${first.y}`
  for (let at = 1; at < way.length - 1; at++) {
    const [a, b, c] = [way[at - 1] as Point, way[at] as Point, way[at + 1] as Point]
    const radius = Math.min(cornerRadius, distance(a, b) / 2, distance(b, c) / 2)
    const into = towards(b, a, radius)
    const out = towards(b, c, radius)
    path += `L${into.x} ${into.y}Q${b.x} ${b.y} ${out.x} ${out.y}`
  }
  const end = way[way.length - 1] as Point
  return `${path}L${end.x} ${end.y}`
}

/** The way of an edge from a node to itself: out at the right, over it, and in from above. `at` is its top left corner. */
export function ownLoop(at: Point): { points: Point[]; words: Point } {
  const right = at.x + nodeSize.width
  const top = at.y - 20
  const down = right - 28
  const points = [
    { x: right, y: at.y + 14 },
    { x: right + 14, y: at.y + 14 },
    { x: right + 14, y: top },
    { x: down, y: top },
    { x: down, y: at.y },
  ]
  return { points, words: { x: (down + right + 14) / 2, y: top - 10 } }
}

/** SVG path of the arrow head at the end of a route. */
export function arrowPath(points: readonly Point[]): string {
  const last = points[points.length - 1]
  const before = points[points.length - 2]
  if (!last || !before) return ''
  if (last.x === before.x) {
    const down = last.y >= before.y ? 1 : -1
    return `M${last.x} ${last.y - down}l${-arrowHalf} ${-arrowLength * down}h${arrowHalf * 2}z`
  }
  const to = last.x >= before.x ? 1 : -1
  return `M${last.x - to} ${last.y}l${-arrowLength * to} ${-arrowHalf}v${arrowHalf * 2}z`
}

function stopShort(before: Point, last: Point): Point {
  return towards(last, before, Math.min(5, distance(before, last)))
}

function distance(a: Point, b: Point): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
}

/** The point `by` pixels from `from` on the straight way to `to`. */
function towards(from: Point, to: Point, by: number): Point {
  const length = distance(from, to)
  if (length === 0) return from
  return { x: from.x + ((to.x - from.x) * by) / length, y: from.y + ((to.y - from.y) * by) / length }
}
