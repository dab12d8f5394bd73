/** Pixels at 100 %. Nodes have one size, so a layout never has to measure. */
export const nodeSize = { width: 208, height: 48 }

export interface Point {
  x: number
  y: number
}

export interface LayoutInput {
  /** In the order they are read: edges that lead back along it close a loop. */
  nodes: readonly string[]
  edges: readonly LayoutEdge[]
}

export interface LayoutEdge {
  from: string
  to: string
  /** Width of its words in px, when it wears any. */
  words?: number
}

/** An edge as a polyline of horizontal and vertical pieces, from the side of one node to the side of another. */
export interface EdgeRoute {
  from: string
  to: string
  points: Point[]
  /** The middle of its words, when it wears any. */
  words?: Point
}

/** Where everything stands: top left corners of nodes, routes of edges. The picture starts at 0, 0. */
export interface GraphLayout {
  nodes: ReadonlyMap<string, Point>
  routes: EdgeRoute[]
  width: number
  height: number
}
