import { expect, it } from 'vitest'
import type { GraphNode } from '@/lib/workflow/graph'
import { containedLines, containmentLines } from './contained-words'

const node = (more: Partial<GraphNode>): GraphNode => ({
  id: 'a',
  label: 'a',
  kind: 'agent',
  config: {},
  priority: 'normal',
  extra: {},
  ...more,
})

it('says nothing of a step whose author says nothing', () => {
  expect(containedLines(node({ circuit: {}, resources: {} }))).toEqual([])
  expect(containmentLines(undefined)).toEqual([])
})

it('says what a step asks for, when its breaker opens and what follows from an error', () => {
  const said = node({
    resources: { cpu: 2, memoryMb: 4096, gpu: 0 },
    circuit: { threshold: 0.3, windowS: 120, minCalls: 1 },
    whenOpen: 'degrade',
    onError: 'escalate',
  })
  expect(containedLines(said)).toEqual([
    { label: 'Asks for', text: '2 processors, 4,096 MB of memory.' },
    {
      label: 'Breaker',
      text: 'Opens above 30 % of calls failed, within 120 s, from 1 call on. While it is open, the step is done without.',
    },
    { label: 'On error', text: 'A person is asked.' },
  ])
})

it('says of the whole workflow what follows by itself', () => {
  expect(containmentLines({ onError: 'nothing', onUnprepared: 'abort' })).toEqual([
    { label: 'On error', text: 'Nothing follows by itself.' },
    { label: 'Undo', text: 'Nothing is taken back when an agent cannot roll back.' },
  ])
})
