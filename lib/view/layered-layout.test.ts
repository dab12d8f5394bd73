import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layeredLayout } from './layered-layout'
import { arrowPath, routePath } from './layout-path'
import { type GraphLayout, nodeSize } from './layout-terms'

function graph(text: string) {
  const edges = text.split(' ').map((pair) => {
    const [from, to] = pair.split('>')
    return { from: from as string, to: to as string }
  })
  return { nodes: [...new Set(edges.flatMap((edge) => [edge.from, edge.to]))], edges }
}

function place(layout: GraphLayout, id: string) {
  const point = layout.nodes.get(id)
  if (!point) throw new Error(`${id} has no place`)
  return point
}

function overlaps(layout: GraphLayout): string[] {
  const boxes = [...layout.nodes]
  const found: string[] = []
  for (const [i, [a, p]] of boxes.entries()) {
    for (const [b, q] of boxes.slice(i + 1)) {
      if (Math.abs(p.x - q.x) < nodeSize.width && Math.abs(p.y - q.y) < nodeSize.height)
        found.push(`${a} on ${b}`)
    }
  }
  return found
}

const anyGraph = fc
  .record({
    size: fc.integer({ min: 1, max: 40 }),
    pairs: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 90 }),
  })
  .map(({ size, pairs }) => ({
    nodes: Array.from({ length: size }, (_, i) => `n${i}`),
    edges: pairs.map(([a, b]) => ({ from: `n${a % size}`, to: `n${b % size}` })),
  }))

describe('layered layout', () => {
  it('draws an empty graph as nothing', () => {
    expect(layeredLayout({ nodes: [], edges: [] })).toEqual({
      nodes: new Map(),
      routes: [],
      width: 0,
      height: 0,
    })
  })

  it('puts every child right of its parents, and a chain on one line', () => {
    const layout = layeredLayout(graph('a>b b>c c>d'))
    expect(place(layout, 'a').x).toBeLessThan(place(layout, 'b').x)
    expect(new Set([...layout.nodes.values()].map((point) => point.y)).size).toBe(1)
    expect(layout.routes.every((route) => route.points.length === 2)).toBe(true)
  })

  it('sets a parent level with the middle of its two children, and lets their edges share a trunk', () => {
    const layout = layeredLayout(graph('a>b a>c'))
    expect(place(layout, 'a').y).toBe((place(layout, 'b').y + place(layout, 'c').y) / 2)
    const trunks = new Set(layout.routes.map((route) => route.points[1]?.x))
    expect(trunks.size).toBe(1)
  })

  it('uncrosses two pairs that were written crossed', () => {
    const layout = layeredLayout({
      nodes: ['a', 'b', 'x', 'y'],
      edges: [
        { from: 'a', to: 'y' },
        { from: 'b', to: 'x' },
      ],
    })
    expect(place(layout, 'a').y < place(layout, 'b').y).toBe(place(layout, 'y').y < place(layout, 'x').y)
  })

  it('leads an edge that skips layers around the nodes between', () => {
    const layout = layeredLayout(graph('a>b b>c a>c'))
    const long = layout.routes.find((route) => route.from === 'a' && route.to === 'c')
    const b = place(layout, 'b')
    for (const point of long?.points ?? []) {
      const inside = point.x > b.x && point.x < b.x + nodeSize.width
      expect(inside && Math.abs(point.y - b.y - nodeSize.height / 2) < nodeSize.height / 2).toBe(false)
    }
  })

  it('draws a loop, its way back included', () => {
    const layout = layeredLayout(graph('a>b b>c c>b'))
    expect(layout.nodes.size).toBe(3)
    expect(layout.routes).toHaveLength(3)
    const back = layout.routes.find((route) => route.from === 'c' && route.to === 'b')
    // From below, into below: what leads on keeps the sides.
    expect(back?.points[0]?.y).toBe(place(layout, 'c').y + nodeSize.height)
    expect(back?.points.at(-1)?.y).toBe(place(layout, 'b').y + nodeSize.height)
    expect(layout.height).toBeGreaterThan(nodeSize.height)
  })

  it('never puts two nodes on each other, draws each edge once, and only level or upright', () => {
    fc.assert(
      fc.property(anyGraph, (input) => {
        const layout = layeredLayout(input)
        expect(layout.nodes.size).toBe(input.nodes.length)
        expect(overlaps(layout)).toEqual([])
        const wanted = new Set(input.edges.filter((e) => e.from !== e.to).map((e) => `${e.from}>${e.to}`))
        expect(new Set(layout.routes.map((e) => `${e.from}>${e.to}`))).toEqual(wanted)
        for (const { points } of layout.routes) {
          for (const [at, point] of points.slice(1).entries()) {
            const before = points[at]
            expect(point.x === before?.x || point.y === before?.y).toBe(true)
          }
        }
      }),
    )
  })

  it('lays out each of 1,000 nodes', () => {
    const nodes = Array.from({ length: 1000 }, (_, i) => `n${i}`)
    const edges = nodes.flatMap((to, i) =>
      i < 10
        ? []
        : [1, 2].map((k) => ({ from: nodes[Math.floor((i * 7 * k) % (i - (i % 10)))] as string, to })),
    )
    expect(layeredLayout({ nodes, edges }).nodes.size).toBe(1000)
  })
})

describe('the path of a route', () => {
  it('is straight between level nodes and stops before its arrow', () => {
    const points = [
      { x: 0, y: 10 },
      { x: 40, y: 10 },
    ]
    expect(routePath(points)).toBe('M0 10L35 10')
    expect(arrowPath(points)).toBe('M39 10l-7 -3.5v7z')
  })

  it('rounds its corners, less where there is little room', () => {
    const path = routePath([
      { x: 0, y: 0 },
      { x: 20, y: 0 },
      { x: 20, y: 4 },
      { x: 60, y: 4 },
    ])
    expect(path).toBe('M0 0L18 0Q20 0 20 2L20 2Q20 4 22 4L55 4')
  })
})
