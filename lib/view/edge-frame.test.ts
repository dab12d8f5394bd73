import { describe, expect, it } from 'vitest'
import type { Run } from '@/lib/engine/run'
import type { GraphEdge, WorkflowGraph } from '@/lib/workflow/graph'
import { edgeFrames, edgeKey, edgeWords, restingEdges, widestWords } from './edge-frame'

const edge = (from: string, to: string, more: Partial<GraphEdge> = {}): GraphEdge => ({
  from,
  to,
  extra: {},
  ...more,
})

function graphOf(...edges: GraphEdge[]): WorkflowGraph {
  return { edges } as WorkflowGraph
}

/** A run that took the edges so often, by their number. */
function walked(graph: WorkflowGraph, taken: Record<number, number>): Run {
  const counts = new Map(Object.entries(taken).map(([number, n]) => [Number(number), n]))
  return { graph: { graph }, walk: { path: [], taken: counts, outputs: new Map() } } as unknown as Run
}

const loop = graphOf(edge('a', 'b'), edge('b', 'a', { when: 'true', maxIterations: 3 }), edge('b', 'c'))

describe('edges of a workflow at rest', () => {
  it('say what takes them, and how often a loop may go round', () => {
    const frames = restingEdges(loop)
    expect([...frames.values()].map(edgeWords)).toEqual(['', 'true, at most 3', ''])
  })

  it('are one line between two steps, with all that takes it', () => {
    const frames = restingEdges(graphOf(edge('a', 'b'), edge('a', 'b', { when: 'error' })))
    expect([...frames.values()].map(edgeWords)).toEqual(['done or error'])
  })
})

describe('edges of a walk', () => {
  it('count what was taken, of its bound where there is one', () => {
    const frames = edgeFrames(walked(loop, { 0: 3, 1: 2 }))
    expect([...frames.values()].map(edgeWords)).toEqual(['×3', 'true, 2 of 3', ''])
    expect(frames.get(edgeKey('b', 'c'))?.taken).toBe(0)
  })

  it('never need more room than they were given', () => {
    for (const taken of [0, 1, 3]) {
      const frame = edgeFrames(walked(loop, { 1: taken })).get(edgeKey('b', 'a'))
      const resting = restingEdges(loop).get(edgeKey('b', 'a'))
      expect(edgeWords(frame as never).length).toBeLessThanOrEqual(widestWords(resting as never).length)
    }
  })

  it('are the same as before while none was taken', () => {
    const before = edgeFrames(walked(loop, { 0: 1 }))
    expect(edgeFrames(walked(loop, { 0: 1 }), before)).toBe(before)
    expect(edgeFrames(walked(loop, { 0: 2 }), before)).not.toBe(before)
  })
})
