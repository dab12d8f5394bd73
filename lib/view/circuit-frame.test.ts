import { describe, expect, it } from 'vitest'
import { evolve, newRun } from '@/lib/engine/evolve'
import type { FactBody } from '@/lib/engine/facts'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import { frameOf } from './frame'

const classifier = 'spiffe://lab/agent/classifier'
const hash = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'

const step = (id: string, agent?: string): GraphNode => ({
  id,
  label: id,
  kind: agent ? 'agent' : 'task',
  config: agent ? { agent } : {},
  priority: 'normal',
  extra: {},
})
const graph: WorkflowGraph = {
  name: 'wf',
  description: '',
  format: 'atd',
  order: 'topological',
  vocabulary: 'atd',
  nodes: [step('detect'), step('classify', classifier), step('again', classifier)],
  edges: [
    { from: 'detect', to: 'classify', extra: {} },
    { from: 'detect', to: 'again', extra: {} },
  ],
  starts: [],
  artifacts: [],
  budget: {},
  policy: { roots: [], privateTargets: [] },
  rules: [],
  extra: {},
}

const ofCircuit = {
  circuit: 'c1',
  caller: 'workflow:wf',
  downstream: classifier,
  errorRate: 0.75,
  windowS: 60,
  cooldownS: 30,
  change: 'change-1',
}
const at = { node: 'classify', visit: 1, attempt: 1 }
const begun: FactBody = {
  type: 'workflow_start',
  wfId: 'wf',
  description: '',
  nodeCount: 3,
  version: hash,
  by: 'person:ada',
  dryRun: false,
  input: hash,
}
const done: FactBody[] = [
  {
    type: 'task_start',
    node: 'detect',
    visit: 1,
    attempt: 1,
    action: hash,
    reads: [],
    consequence: 'read_only',
  },
  { type: 'task_complete', node: 'detect', visit: 1, attempt: 1, output: hash },
]
const rejected: FactBody = { type: 'call_rejected', ...at, ...ofCircuit, because: 'open', retryAt: 90_000 }

function frameAfter(...bodies: FactBody[]) {
  const run = newRun(indexGraph(graph))
  const all = [begun, ...done, ...bodies]
  for (const [n, body] of all.entries()) evolve(run, { jti: `t${n}`, at: n * 1000, par: [], ...body })
  return frameOf(run)
}

describe('a breaker on a run’s graph', () => {
  it('stands before every step whose agent it keeps from being called', () => {
    const { nodes } = frameAfter(rejected)
    const breaker = { circuit: 'c1', downstream: classifier, shown: 'open', until: 90_000 }
    expect(nodes.get('classify')?.breaker).toEqual(breaker)
    expect(nodes.get('again')?.breaker).toEqual(breaker)
    expect(nodes.get('detect')?.breaker).toBeUndefined()
  })

  it('is what the waiting step says, with the time of its next try', () => {
    const frame = frameAfter(rejected)
    expect(frame.nodes.get('classify')).toMatchObject({
      shown: 'pending',
      word: 'waits for classifier',
      time: { until: 90_000 },
    })
  })

  it('is told as the person’s who forced it', () => {
    const forced = frameAfter({ ...rejected, because: 'forced' })
    expect(forced.nodes.get('classify')?.breaker?.shown).toBe('forced_open')
  })

  it('counts no time down while a person is asked: no probe goes by itself', () => {
    const held = frameAfter({ ...rejected, because: 'held' }).nodes.get('classify')
    expect(held?.breaker).toEqual({ circuit: 'c1', downstream: classifier, shown: 'open', held: true })
    expect(held?.word).toBe('waits for classifier')
    expect(held?.time).toBeUndefined()
  })

  it('counts no time down while a probe is out', () => {
    const probing = frameAfter({ ...rejected, because: 'probing' })
    expect(probing.nodes.get('classify')?.breaker).toEqual({
      circuit: 'c1',
      downstream: classifier,
      shown: 'half_open',
    })
  })

  it('goes when it closes, and when it lets the step go', () => {
    const counts = { calls: 0, failures: 0, until: 91_000, reopened: 0 }
    const closed = frameAfter(rejected, { type: 'circuit_close', ...at, ...ofCircuit, ...counts })
    expect(closed.nodes.get('classify')?.breaker).toBeUndefined()
    const released = frameAfter(rejected, {
      type: 'circuit_released',
      node: 'classify',
      visit: 1,
      circuit: 'c1',
      downstream: classifier,
      by: 'person:ada',
    })
    expect(released.nodes.get('again')?.breaker).toBeUndefined()
  })
})
