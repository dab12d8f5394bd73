import { describe, expect, it } from 'vitest'
import { evolve, newRun } from '@/lib/engine/evolve'
import type { Fact, FactBody } from '@/lib/engine/facts'
import * as histories from '@/lib/engine/histories'
import type { Run } from '@/lib/engine/run'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import { frameOf, restingFrame, shownOf } from './frame'
import { headlineOf } from './headline'
import { agentName, asSentence, plainActor, wholeActor } from './plain-words'
import { ledgerRow, visitView } from './visit-view'

const hash = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'

function node(id: string, more: Partial<GraphNode> = {}): GraphNode {
  return { id, label: id, kind: 'task', config: {}, priority: 'normal', extra: {}, ...more }
}

function graphOf(nodes: GraphNode[], edges: string): WorkflowGraph {
  return {
    name: 'wf',
    description: '',
    format: 'atd',
    order: 'topological',
    vocabulary: 'atd',
    nodes,
    edges: edges
      .split(' ')
      .filter(Boolean)
      .map((pair) => {
        const [from, to] = pair.split('>') as [string, string]
        return { from, to, extra: {} }
      }),
    starts: [],
    artifacts: [],
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    extra: {},
  }
}

/** Folds facts written as bodies; ids and times count up, one second each. */
function story(graph: WorkflowGraph, ...bodies: FactBody[]): { run: Run; facts: Fact[] } {
  const run = newRun(indexGraph(graph))
  const facts = bodies.map((body, at): Fact => ({ jti: `t${at + 1}`, at: (at + 1) * 1000, par: [], ...body }))
  for (const fact of facts) evolve(run, fact)
  return { run, facts }
}

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
const of = (id: string) => ({ node: id, visit: 1, attempt: 1 })
const started = (id: string): FactBody => ({
  type: 'task_start',
  ...of(id),
  action: hash,
  reads: [],
  consequence: 'reversible',
})
const done = (id: string): FactBody => ({ type: 'task_complete', ...of(id), output: hash })
const failed = (id: string): FactBody => ({
  type: 'error',
  ...of(id),
  severity: 'error',
  errorType: 'action_failed',
  code: 'effect_failed',
  description: 'The router refused it',
  upstream: [],
})
const asked = (id: string): FactBody => ({
  type: 'approval_asked',
  node: id,
  visit: 1,
  approval: 'appr_1',
  kind: 'approval',
  role: 'operator:oncall',
  reason: 'r',
  sentence: `Do ${id}`,
  action: hash,
  reads: [],
  consequence: 'reversible',
  target: 'x',
  onSilence: 'hold',
})

const chain = graphOf([node('a'), node('b'), node('c')], 'a>b b>c')
const refused = (id: string, by: string, comment: string): FactBody => ({
  type: 'approval_decided',
  node: id,
  visit: 1,
  approval: 'appr_1',
  verdict: 'refuse',
  by,
  action: hash,
  comment,
})
const ended: FactBody = {
  type: 'workflow_complete',
  wfId: 'wf',
  terminalStatus: 'failed',
  elapsedS: 7,
  reason: 'a failed: …',
}

describe('the frame of a run', () => {
  it('counts what is there in one sentence', () => {
    const { run } = story(chain, begun, started('a'), done('a'), started('b'))
    const frame = frameOf(run)
    expect(frame.sentence).toBe('3 steps: 1 done, 1 running, 1 pending')
    expect(frame.nodes.get('a')).toMatchObject({ shown: 'done', time: { took: 1000 } })
    expect(frame.nodes.get('b')).toMatchObject({ shown: 'running', time: { since: 4000 } })
    expect(frame.headline).toEqual({ shown: 'running', words: 'running', since: 1000 })
  })

  it('says for whom the run waits, and since when', () => {
    const { run } = story(chain, begun, asked('a'))
    const frame = frameOf(run)
    expect(frame.nodes.get('a')?.shown).toBe('waiting')
    expect(frame.headline).toEqual({ shown: 'waiting', words: 'waiting for operator:oncall', since: 2000 })
  })

  it('says of a rollback that is under way whether it waits for somebody', () => {
    const words = [
      histories.begun(),
      histories.started('a'),
      histories.done('a'),
      histories.rollbackAsked('a'),
    ]
    expect(headlineOf(histories.runOf(chain, words))).toMatchObject({ words: 'rolling back' })
    const question = {
      kind: 'rollback_critical',
      action: histories.planOf('a'),
      role: 'operator:oncall',
    } as const
    const asked = histories.runOf(chain, [...words, histories.approvalAsked('a', question)])
    expect(headlineOf(asked)).toMatchObject({
      shown: 'waiting',
      words: 'rollback waiting for operator:oncall',
    })
  })

  it('shows what stands behind a failed step as skipped', () => {
    const { run } = story(chain, begun, started('a'), failed('a'))
    const shown = [...frameOf(run).nodes.values()].map((each) => each.shown)
    expect(shown).toEqual(['failed', 'skipped', 'skipped'])
  })

  it('shows everything that never began as skipped once the run is over', () => {
    const { run } = story(graphOf([node('a'), node('b')], ''), begun, started('a'), done('a'), {
      type: 'workflow_complete',
      wfId: 'wf',
      terminalStatus: 'partial',
      elapsedS: 7,
      reason: 'cancelled by ada',
    })
    const frame = frameOf(run)
    expect(frame.nodes.get('b')?.shown).toBe('skipped')
    expect(frame.headline).toEqual({
      shown: 'failed',
      words: 'partly done',
      why: 'cancelled by ada',
      took: 7000,
    })
  })

  it('says once that a run failed: where by the name of the step, why by its own sentence', () => {
    const labelled = graphOf([{ ...node('a'), label: 'Check the flows' }], '')
    const { run } = story(labelled, begun, started('a'), failed('a'), {
      type: 'workflow_complete',
      wfId: 'wf',
      terminalStatus: 'failed',
      elapsedS: 7,
      reason: 'a failed: boom',
    })
    expect(frameOf(run).headline).toEqual({
      shown: 'failed',
      words: 'failed at Check the flows',
      why: 'The router refused it',
      took: 7000,
    })
  })

  it('says of a run that succeeded that it was flagged since, when, and what it had come to', () => {
    const labelled = graphOf([{ ...node('a'), label: 'Label traffic' }, node('b')], '')
    const { run } = story(
      labelled,
      begun,
      started('a'),
      done('a'),
      started('b'),
      done('b'),
      { ...ended, terminalStatus: 'success', reason: '' },
      {
        ...failed('a'),
        code: 'semantic_failure',
        description: 'person:ada finds that this is wrong: Not our peer',
      } as FactBody,
    )
    const frame = frameOf(run)
    expect(frame.headline).toEqual({
      shown: 'failed',
      words: 'flagged at Label traffic',
      why: 'ada finds that this is wrong: Not our peer',
      took: 7000,
      flagged: { at: 7000, before: 'succeeded' },
    })
    expect(frame.nodes.get('a')).toMatchObject({ shown: 'failed', word: 'flagged', time: { took: 1000 } })
  })

  it('says plainly what a step was done without', () => {
    const seen = { circuit: 'c1', caller: 'workflow:wf', downstream: 'spiffe://lab/agent/monitor' }
    const { run } = story(
      chain,
      begun,
      {
        type: 'call_rejected',
        ...of('a'),
        ...seen,
        because: 'open',
        errorRate: 1,
        windowS: 60,
        cooldownS: 30,
        retryAt: 32_000,
        change: 't0',
      },
      { ...done('a'), label: 'degraded' } as FactBody,
    )
    const frame = frameOf(run).nodes.get('a')
    expect(frame).toMatchObject({ shown: 'done', word: 'done without monitor', without: 'monitor' })
    expect(frame?.time).toBeUndefined()
  })

  it('names who cancelled or refused as people are named', () => {
    const { run } = story(
      chain,
      begun,
      { type: 'cancel_asked', by: 'person:ada', reason: 'Enough.' },
      { ...ended, reason: 'Cancelled by person:ada: Enough.' },
    )
    const refusal = story(
      chain,
      begun,
      asked('a'),
      refused('a', 'person:bo', 'Not now'),
      { ...failed('a'), code: 'approval_refused', description: 'Refused by person:bo: Not now' } as FactBody,
      ended,
    )
    expect(frameOf(refusal.run).headline).toEqual({
      shown: 'failed',
      words: 'refused by bo',
      why: 'Not now',
      took: 7000,
    })
    expect(frameOf(run).headline).toEqual({
      shown: 'cancelled',
      words: 'cancelled by ada',
      why: 'Enough',
      took: 7000,
    })
  })

  it('calls a run that was out of its time failed: nobody asked for that', () => {
    const { run } = story(
      chain,
      begun,
      { type: 'cancel_asked', by: 'engine', reason: 'The run is out of its time budget' },
      { ...ended, reason: 'The run is out of its time budget' },
    )
    expect(frameOf(run).headline).toEqual({
      shown: 'failed',
      words: 'failed',
      why: 'The run is out of its time budget',
      took: 7000,
    })
  })

  it('keeps amber for people: work that is offered or retried is not "waiting"', () => {
    expect(shownOf({ status: 'waiting', for: 'agent', since: 5 })).toEqual({
      shown: 'pending',
      word: 'offered',
      time: { since: 5 },
    })
    const error = {
      jti: 't',
      severity: 'warning',
      errorType: 'timeout',
      code: 'c',
      description: 'd',
    } as const
    expect(shownOf({ status: 'waiting', for: 'retry', until: 9, error })).toEqual({
      shown: 'running',
      word: 'retrying',
      time: { until: 9 },
    })
  })

  it('shows a state it has never heard of under its raw name', () => {
    expect(shownOf({ status: 'dreaming' } as never)).toMatchObject({ shown: 'unknown', word: 'dreaming' })
  })

  it('names people and agents by their names', () => {
    expect(plainActor('person:ada')).toBe('ada')
    expect(plainActor('agent:spiffe://example.com/agent/edge')).toBe('edge')
    expect(wholeActor('agent:spiffe://example.com/agent/edge')).toBe('spiffe://example.com/agent/edge')
    expect(plainActor('silence')).toBe('silence')
  })

  it('reads what the ledger says as people do: names, and one full stop', () => {
    expect(asSentence('Restores the file')).toBe('Restores the file.')
    expect(asSentence('Restores the file.')).toBe('Restores the file.')
    expect(asSentence('')).toBe('')
    expect(asSentence('Refused by person:ada: Not now')).toBe('Refused by ada: Not now.')
    expect(asSentence('"spiffe://lab/agent/edge-07" held it; agent:spiffe://lab/agent/b: no.')).toBe(
      '"edge-07" held it; b: no.',
    )
  })

  it('gives unchanged nodes as the same objects', () => {
    const { run } = story(chain, begun, started('a'))
    const before = frameOf(run)
    evolve(run, { jti: 'x', at: 9000, par: [], ...done('a') })
    const after = frameOf(run, before)
    expect(after.nodes.get('c')).toBe(before.nodes.get('c'))
    expect(after.nodes.get('a')).not.toBe(before.nodes.get('a'))
  })

  it('marks what cannot be undone before it runs', () => {
    const frames = restingFrame(
      graphOf(
        [
          node('send', {
            kind: 'http_request',
            config: { method: 'POST', url: 'https://example.com/notice' },
          }),
          node('write', { kind: 'task', reversible: false }),
          node('look', { kind: 'task' }),
        ],
        '',
      ),
    )
    expect([...frames.values()].map((frame) => frame.irreversible)).toEqual([true, true, false])
  })

  it('names an agent by the last part of its id', () => {
    expect(agentName('spiffe://lab.example/agent/edge-router-07')).toBe('edge-router-07')
  })
})

describe('the inspector’s view of a visit', () => {
  it('gathers the tokens, the question and the output of that visit alone', () => {
    const { run, facts } = story(chain, begun, started('a'), done('a'), asked('b'))
    const rows = facts.map((fact, at) =>
      ledgerRow({ seq: at + 1, hash }, { exec_act: fact.type, jti: fact.jti, par: [], iat: 0 }, fact),
    )
    const a = visitView(run, rows, 'a')
    expect(a?.tokens.map((row) => row.act)).toEqual(['task_start', 'task_complete'])
    expect(a?.output).toBe(hash)
    const b = visitView(run, rows, 'b')
    expect(b?.open?.role).toBe('operator:oncall')
    expect(visitView(run, rows, 'b', 2)).toBeUndefined()
    expect(visitView(run, rows, 'nowhere')).toBeUndefined()
  })
})

describe('the frame of a walk', () => {
  const walking: WorkflowGraph = {
    ...graphOf(
      [node('load'), node('ask'), node('tell', { kind: 'fail', config: { reason: 'no luck' } }), node('end')],
      '',
    ),
    format: 'agentd',
    order: 'stepwise',
    starts: [{ name: 'main', node: 'load' }],
    edges: [
      { from: 'load', to: 'ask', extra: {} },
      { from: 'ask', to: 'load', when: 'again', maxIterations: 1, extra: {} },
      { from: 'ask', to: 'tell', when: 'error', extra: {} },
      { from: 'ask', to: 'end', extra: {} },
    ],
  }
  const at = (id: string, visit: number) => ({ node: id, visit, attempt: 1 })
  const start = (id: string, visit: number): FactBody => ({
    type: 'task_start',
    ...at(id, visit),
    action: hash,
    reads: [],
    consequence: 'read_only',
  })
  const end = (id: string, visit: number, label?: string): FactBody => ({
    type: 'task_complete',
    ...at(id, visit),
    output: hash,
    label,
  })
  const step = (id: string, visit: number, label?: string) => [start(id, visit), end(id, visit, label)]

  it('says “not reached” of steps it never came to, and never “skipped”', () => {
    const { run } = story(walking, begun, ...step('load', 1))
    const frame = frameOf(run)
    expect(frame.nodes.get('end')).toMatchObject({ shown: 'pending', word: 'not reached' })
    expect(frame.nodes.get('ask')?.word).toBe('pending')
    expect(frame.sentence).toBe('4 steps: 1 done, 3 not reached')
  })

  it('says “taken over” of a step that a fork carries, and no time, for nothing was done here', () => {
    const carried: FactBody = {
      type: 'step_carried',
      node: 'load',
      visit: 1,
      output: hash,
      tookMs: 5000,
      from: 't9',
    }
    const { run } = story(walking, begun, carried, ...step('ask', 1, 'again'), ...step('load', 2))
    const earlier = story(walking, begun, carried)
    const frame = frameOf(earlier.run)
    expect(frame.nodes.get('load')).toMatchObject({ shown: 'done', word: 'taken over' })
    expect(frame.nodes.get('load')?.time).toBeUndefined()
    expect(frame.counts.get('done')).toBe(1)
    expect(visitView(earlier.run, [], 'load')).toMatchObject({ carriedFrom: 't9' })
    // Done here again, it is done.
    expect(frameOf(run).nodes.get('load')).toMatchObject({ visit: 2, word: 'done' })
  })

  it('shows the latest visit of a step, and how often its loop was taken', () => {
    const { run } = story(walking, begun, ...step('load', 1), ...step('ask', 1, 'again'), ...step('load', 2))
    const frame = frameOf(run)
    expect(frame.nodes.get('load')).toMatchObject({ visit: 2, shown: 'done' })
    expect(frame.edges.get('ask\nload')).toMatchObject({ label: 'again', count: '1 of 1', taken: 1 })
  })

  it('marks a failure that its author foresaw, and does not count it as one', () => {
    const { run } = story(walking, begun, ...step('load', 1), ...step('ask', 1, 'error'))
    const frame = frameOf(run)
    expect(frame.nodes.get('ask')).toMatchObject({ shown: 'done', handled: true, word: 'error, went on' })
    expect(frame.counts.get('failed')).toBeUndefined()
  })

  it('does not say that it went on where no edge takes the error', () => {
    const { run } = story(walking, begun, ...step('load', 1, 'error'))
    expect(frameOf(run).nodes.get('load')?.word).toBe('ended with error')
  })

  it('says of an agent’s loop that it ran out of steps, not that it succeeded', () => {
    const loop: WorkflowGraph = {
      ...walking,
      nodes: [node('think', { kind: 'agent_think', config: { max_steps: 1 } })],
      starts: [{ name: 'main', node: 'think' }],
      edges: [{ from: 'think', to: 'think', when: 'again', maxIterations: 1, extra: {} }],
    }
    const { run } = story(loop, begun, ...step('think', 1, 'again'), ...step('think', 2, 'exhausted'), {
      type: 'workflow_complete',
      wfId: 'wf',
      terminalStatus: 'success',
      elapsedS: 1,
      reason: '',
    })
    expect(headlineOf(run)).toMatchObject({ shown: 'failed', words: 'out of steps after 1' })
    expect(frameOf(run).nodes.get('think')).toMatchObject({ word: 'out of steps after 1', isEnd: true })
  })

  it('ends in agentd’s words, at its last step', () => {
    const over = (terminalStatus: 'success' | 'failed', reason: string): FactBody => ({
      type: 'workflow_complete',
      wfId: 'wf',
      terminalStatus,
      elapsedS: 1,
      reason,
    })
    const walked = [begun, ...step('load', 1), ...step('ask', 1), ...step('end', 1)]
    expect(headlineOf(story(walking, ...walked, over('success', '')).run).words).toBe('completed at end')
    const lost = [begun, ...step('load', 1), ...step('ask', 1, 'error'), ...step('tell', 1)]
    const failed = headlineOf(story(walking, ...lost, over('failed', 'no luck')).run)
    expect(failed).toMatchObject({ words: 'failed at tell', why: 'no luck', shown: 'failed' })
  })
})
