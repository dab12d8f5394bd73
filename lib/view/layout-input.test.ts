import { describe, expect, it } from 'vitest'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { layoutInput } from './layout-input'

function graphOf(nodes: string, edges: string, starts: string[]): WorkflowGraph {
  return {
    order: 'stepwise',
    nodes: nodes.split(' ').map((id) => ({ id })),
    edges: edges.split(' ').map((pair) => {
      const [from, to] = pair.split('>')
      return { from, to, extra: {} }
    }),
    starts: starts.map((node) => ({ name: node, node })),
  } as unknown as WorkflowGraph
}

describe('what is laid out of a walk', () => {
  it('is read from the start on, however the text is ordered', () => {
    expect(layoutInput(graphOf('c b a', 'a>b b>c c>a', ['a'])).nodes).toEqual(['a', 'b', 'c'])
  })

  it('has another start before what both lead to', () => {
    expect(layoutInput(graphOf('a b s', 'a>b s>b', ['a', 's'])).nodes).toEqual(['s', 'a', 'b'])
  })

  it('names every node once, also those nothing leads to', () => {
    expect(layoutInput(graphOf('a b lone', 'a>b b>a', ['a'])).nodes.toSorted()).toEqual(['a', 'b', 'lone'])
  })

  it('has one line between two steps', () => {
    expect(layoutInput(graphOf('a b', 'a>b a>b b>b', ['a'])).edges).toHaveLength(2)
  })
})
