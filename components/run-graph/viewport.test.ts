import { describe, expect, it } from 'vitest'
import type { GraphLayout } from '@/lib/view/layout-terms'
import { farZoom, firstView, inSight, revealed } from './viewport'

const area = { width: 800, height: 400, top: 44 }
const view = { x: 0, y: 0, zoom: 1 }

/** Steps in a row, the left edges so many px apart. */
function row(steps: number, apart: number): GraphLayout {
  const nodes = new Map(Array.from({ length: steps }, (_, at) => [`s${at}`, { x: at * apart, y: 0 }]))
  return { nodes, routes: [], width: (steps - 1) * apart + 208, height: 48 }
}

describe('the first view', () => {
  const wide = { width: 912, height: 528, top: 44 }

  it('shows every step while words can be made out', () => {
    const layout = row(5, 380)
    const view = firstView(layout, wide)
    expect(view.zoom).toBeGreaterThanOrEqual(farZoom)
    expect(view.zoom).toBeLessThan(0.7)
    for (const at of layout.nodes.values()) expect(inSight(view, wide, at)).toBe(true)
  })

  it('does not grow a small graph', () => {
    expect(firstView(row(2, 300), wide).zoom).toBe(1)
  })

  it('shows the first step, or the one asked for, of a graph that does not fit', () => {
    const layout = row(40, 380)
    expect(firstView(layout, wide).zoom).toBe(0.7)
    expect(inSight(firstView(layout, wide), wide, { x: 0, y: 0 })).toBe(true)
    for (const at of layout.nodes.values()) expect(inSight(firstView(layout, wide, at), wide, at)).toBe(true)
  })
})

describe('a step brought into sight', () => {
  it('leaves the picture as it is where the step is in sight with room around it', () => {
    expect(revealed(view, area, { x: 300, y: 200 })).toEqual(view)
  })

  it('moves it no further than that takes', () => {
    const below = { x: 300, y: 380 }
    expect(inSight(view, area, below)).toBe(false)
    const moved = revealed(view, area, below)
    expect(moved).toMatchObject({ x: 0, zoom: 1 })
    expect(inSight(moved, area, below)).toBe(true)
    expect(moved.y).toBe(400 - (380 + 48 + 20 + 16))
  })

  it('keeps the beginning of a step that the picture has no room for', () => {
    const moved = revealed(view, { width: 100, height: 60, top: 44 }, { x: 500, y: 500 })
    expect(moved.x).toBe(-500 + 16)
    expect(moved.y).toBe(44 - (500 - 24 - 16))
  })
})
