/** Pixels at 100 %. Nodes have one size, so a layout never has to measure. */
export const nodeSize = { width: 208, height: 48 }

export interface Point {
  x: number
  y: number
}

export interface LayoutInput {
  nodes: readonly string[]
  edges: readonly { from: string; to: string }[]
}

/** An edge as a polyline of horizontal and vertical pieces, from the side of one node to the side of another. */
export interface EdgeRoute {
  from: string
  to: string
  points: Point[]
}

/** Where everything stands: top left corners of nodes, routes of edges. The picture starts at 0, 0. */
export interface GraphLayout {
  nodes: ReadonlyMap<string, Point>
  routes: EdgeRoute[]
  width: number
  height: number
}
