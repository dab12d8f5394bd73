import { describe, expect, it } from 'vitest'
import { layoutFor } from './layout-choice'

const graph = (nodes: number, edges: number) => ({
  nodes: Array.from({ length: nodes }, (_, at) => `n${at}`),
  edges: Array.from({ length: edges }, (_, at) => ({ from: `n${at % nodes}`, to: `n${(at + 1) % nodes}` })),
})

describe('who lays a graph out', () => {
  it('follows from its size alone', () => {
    expect(layoutFor(graph(1, 0))).toBe('elk')
    expect(layoutFor(graph(300, 450))).toBe('elk')
    expect(layoutFor(graph(301, 300))).toBe('layered')
    expect(layoutFor(graph(1_000, 1_400))).toBe('layered')
  })
  it('is not elk for a graph of few nodes and very many edges', () => {
    expect(layoutFor(graph(10, 30))).toBe('elk')
    expect(layoutFor(graph(40, 400))).toBe('layered')
    expect(layoutFor(graph(300, 600))).toBe('layered')
  })
})
