import { type GraphLayout, nodeSize, type Point } from '@/lib/view/layout-terms'

/** Below this a step is a plain box: its words would be under 7 px. What fits at it is opened whole. */
export const farZoom = 0.5
/** A thousand steps are never put on one screen: at 20 % a box is still a box. */
export const minZoom = 0.2
export const maxZoom = 1.5
/** What does not fit even so opens at this, and is panned. */
const readableZoom = 0.7
/** At 100 % nothing grows: a graph of two steps is not a poster. */
const naturalZoom = 1
const margin = 16
/** The agent's name stands above its step. */
const above = 24
/** The runs that a step began are counted under it. */
const below = 20

export interface Area {
  width: number
  height: number
  /** Px at the top that the tools cover. */
  top: number
}

export interface View {
  x: number
  y: number
  zoom: number
}

/** The view to open with: all of it if its words can be made out, else as much as reads well around `at`. */
export function firstView(layout: GraphLayout, area: Area, at?: Point): View {
  const whole = zoomToFit(layout, area)
  return whole >= farZoom
    ? placed(layout, area, Math.min(whole, naturalZoom))
    : placed(layout, area, readableZoom, at ?? firstPoint(layout))
}

/** The view that shows all of it, as far as `minZoom` lets it. */
export function fitView(layout: GraphLayout, area: Area, at?: Point): View {
  const whole = zoomToFit(layout, area)
  // The middle of what does not fit may be empty.
  const around = at ?? (whole < minZoom ? firstPoint(layout) : undefined)
  return placed(layout, area, Math.max(minZoom, Math.min(whole, naturalZoom)), around)
}

/** The view moved no further than it takes to have all of a step in sight, with what stands above and below it. */
export function revealed(view: View, area: Area, at: Point): View {
  const { zoom } = view
  const low = { x: at.x * zoom - margin, y: (at.y - above) * zoom - margin }
  const high = {
    x: (at.x + nodeSize.width) * zoom + margin,
    y: (at.y + nodeSize.height + below) * zoom + margin,
  }
  return {
    // Where there is no room for all, its beginning is what can be read.
    x: Math.max(Math.min(view.x, area.width - high.x), -low.x),
    y: Math.max(Math.min(view.y, area.height - high.y), area.top - low.y),
    zoom,
  }
}

/** True when all of a step is in sight. */
export function inSight({ x, y, zoom }: View, area: Area, at: Point): boolean {
  const left = at.x * zoom + x
  const top = at.y * zoom + y
  const right = left + nodeSize.width * zoom
  const bottom = top + nodeSize.height * zoom
  return left >= 0 && top >= area.top && right <= area.width && bottom <= area.height
}

function zoomToFit(layout: GraphLayout, area: Area): number {
  return Math.min(
    (area.width - 2 * margin) / Math.max(layout.width, 1),
    (area.height - area.top - 2 * margin) / Math.max(layout.height + above, 1),
  )
}

/** Along each axis: from the left edge, or in the middle where there is room, or around `at` where there is none. */
function placed(layout: GraphLayout, area: Area, zoom: number, at?: Point): View {
  const free = { x: area.width - layout.width * zoom, y: area.height - area.top - layout.height * zoom }
  const target = at ?? { x: 0, y: layout.height / 2 }
  const x =
    free.x >= 2 * margin
      ? free.x / 2
      : clamp(area.width / 3 - (target.x + nodeSize.width / 2) * zoom, free.x - margin, margin)
  const y =
    free.y >= 2 * margin
      ? area.top + free.y / 2
      : clamp(
          area.top + (area.height - area.top) / 2 - (target.y + nodeSize.height / 2) * zoom,
          area.top + free.y - margin,
          area.top + margin + above * zoom,
        )
  return { x, y, zoom }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}

/** The uppermost step of the first column. */
function firstPoint(layout: GraphLayout): Point {
  const points = [...layout.nodes.values()]
  return points.reduce((best, point) => (point.x < best.x ? point : best), points[0] ?? { x: 0, y: 0 })
}
