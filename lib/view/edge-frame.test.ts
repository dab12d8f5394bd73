import { describe, expect, it } from 'vitest'
import type { Run } from '@/lib/engine/run'
import type { GraphEdge, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { edgeFrames, edgeKey, edgeWords, restingEdges, widestWords } from './edge-frame'

const edge = (from: string, to: string, more: Partial<GraphEdge> = {}): GraphEdge => ({
  from,
  to,
  extra: {},
  ...more,
})

function graphOf(...edges: GraphEdge[]): WorkflowGraph {
  return { nodes: [] as GraphNode[], edges } as WorkflowGraph
}

/** The graph with a state that may be entered so often, and where the walk goes after that. */
function limited(graph: WorkflowGraph, id: string, maxVisits: number, onMaxVisits: string): WorkflowGraph {
  return { ...graph, nodes: [{ id, maxVisits, onMaxVisits } as GraphNode] }
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

describe('the way from a state at its limit', () => {
  const tests = graphOf(
    edge('implement', 'test', { when: 'CodeReady' }),
    edge('test', 'done', { when: 'Pass' }),
  )

  it('is a line of its own that says after how many visits', () => {
    const frame = restingEdges(limited(tests, 'test', 10, 'review')).get(edgeKey('test', 'review'))
    expect(frame).toMatchObject({ label: 'after 10 visits', redirect: true, taken: 0 })
    expect(restingEdges(limited(tests, 'test', 1, 'review')).get(edgeKey('test', 'review'))?.label).toBe(
      'after 1 visit',
    )
  })

  it('is one more label where an event leads the same way', () => {
    const frame = restingEdges(limited(tests, 'test', 3, 'done')).get(edgeKey('test', 'done'))
    expect(frame && edgeWords(frame)).toBe('Pass or after 3 visits')
    expect(frame?.redirect).toBeUndefined()
  })

  it('counts how often the walk was sent that way, along a chain of limits too', () => {
    const graph = limited(tests, 'test', 2, 'review')
    const run = walked(graph, { 0: 3 })
    run.walk?.path.push({ visit: {} as never, insteadOf: ['test', 'review'], writes: 0 })
    expect(edgeFrames(run).get(edgeKey('test', 'review'))?.taken).toBe(1)
  })
})

describe('the edges of a turn', () => {
  it('name a tool as people know it, and no bound that nobody wrote', () => {
    const graph = {
      ...graphOf(
        edge('turn', 'tool_1', { when: 'tool_1' }),
        edge('tool_1', 'turn', { maxIterations: 10_000 }),
      ),
      nodes: [{ id: 'tool_1', label: 'run_tests' } as GraphNode],
    }
    expect([...restingEdges(graph).values()].map(edgeWords)).toEqual(['run_tests', ''])
    expect([...edgeFrames(walked(graph, { 0: 2, 1: 2 })).values()].map(edgeWords)).toEqual([
      'run_tests ×2',
      '×2',
    ])
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
