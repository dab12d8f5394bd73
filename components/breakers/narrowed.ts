import { type GraphLayout, nodeSize, type Point } from '@/lib/view/layout-terms'

/** Px: who calls and is called has a name and no time beside it, so it takes less than a step of a graph. */
export const partyWidth = 168

/**
 * The layout with narrower nodes: everything at and right of a column moves to the left by what its nodes gave up. What
 * passes through a column keeps its place within it, so that nothing changes its order.
 */
export function narrowed(layout: GraphLayout): GraphLayout {
  const columns = [...new Set([...layout.nodes.values()].map(({ x }) => x))].sort((a, b) => a - b)
  const give = nodeSize.width - partyWidth
  const moved = (x: number) => {
    let less = 0
    for (const column of columns) {
      if (x <= column) break
      less += give * Math.min(1, (x - column) / nodeSize.width)
    }
    return Math.round(x - less)
  }
  const point = ({ x, y }: Point): Point => ({ x: moved(x), y })
  return {
    nodes: new Map([...layout.nodes].map(([id, at]) => [id, point(at)])),
    routes: layout.routes.map((route) => ({
      ...route,
      points: route.points.map(point),
      ...(route.words && { words: point(route.words) }),
    })),
    width: moved(layout.width),
    height: layout.height,
  }
}
