import { describe, expect, it } from 'vitest'
import { begun, done, paused, runOf, started, type Word } from '@/lib/engine/histories'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { gaugesOf } from './gauges'

const graph: WorkflowGraph = {
  ...graphOf({ plan: {}, code: { maxVisits: 10 } }, [], {
    order: 'stepwise',
    format: 'promptpack',
    budget: { maxTotalVisits: 30, maxToolCalls: 20, maxActiveS: 60 },
  }),
  edges: [
    { from: 'plan', to: 'code', when: 'Ready', extra: {} },
    { from: 'code', to: 'code', when: 'Again', extra: {} },
  ],
}

const turn =
  (node: string, label: string, toolCalls: number): Word =>
  (run, at) =>
    ({ ...done(node, label)(run, at), toolCalls }) as ReturnType<Word>

describe('gauges', () => {
  it('say how much of each limit is used, the state the walk is in first', () => {
    const run = runOf(graph, [
      begun(),
      started('plan'),
      turn('plan', 'Ready', 1),
      started('code'),
      turn('code', 'Again', 3),
    ])
    const gauges = gaugesOf(run, run.lastAt)
    expect(gauges.flatMap(({ words }) => words ?? [])).toEqual([
      'visit 2 of 10',
      '3 of 30 visits',
      '4 of 20 tool calls',
    ])
    expect(gauges[0]).toMatchObject({ of: 'visits', node: 'code', reached: false })
    expect(gauges.at(-1)).toMatchObject({ of: 'active_time', used: 4_000, bound: 60_000, unit: 'ms' })
  })

  it('do not count the time a run stood still for people', () => {
    const run = runOf(graph, [begun(), started('plan'), paused()])
    expect(gaugesOf(run, run.lastAt + 50_000).at(-1)).toMatchObject({ used: 2_000, reached: false })
  })

  it('are only those there are: a run without limits says which visit it is at', () => {
    const free = runOf(graphOf({ a: {} }, [], { order: 'stepwise' }), [begun()])
    expect(gaugesOf(free, free.lastAt)).toEqual([
      { of: 'visits', node: 'a', used: 1, unit: 'visits', words: 'visit 1', reached: false },
    ])
    expect(gaugesOf(runOf(graphOf({ a: {} }), [begun()]), 0)).toEqual([])
  })
})
