import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { GraphEdge, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { decide } from './decide'
import { due } from './due'
import { evolve } from './evolve'
import type { FactOf } from './facts'
import {
  approvalAsked,
  begun,
  checkpointed,
  done,
  goneOn,
  momentAfter,
  rollbackAsked,
  rolledBack,
  runOf,
  started,
  undone,
  type Word,
} from './histories'
import { endingOf, outcomeOf } from './outcome'
import type { Run } from './run'
import { outputOf } from './walk'

/** Edges as `a>b`, `a>b:label` or `a>b:label*3` (a loop bound). */
function stepwise(nodes: Record<string, Partial<GraphNode>>, edges: string[]): WorkflowGraph {
  const graph = graphOf(nodes, [], { order: 'stepwise', format: 'agentd' })
  return { ...graph, edges: edges.map(edgeOf) }
}

function edgeOf(text: string): GraphEdge {
  const [, from = '', to = '', when, bound] = /^(\w+)>(\w+)(?::(\w+)?(?:\*(\d+))?)?$/.exec(text) ?? []
  return { from, to, when, ...(bound && { maxIterations: Number(bound) }), extra: {} }
}

const step = (node: string, label?: string): Word[] => [started(node), done(node, label)]
const place = (run: Run) => run.walk?.path.at(-1)?.visit
const dueNodes = (run: Run) =>
  due(run, run.lastAt).now.map((item) => ('node' in item ? `${item.node} ${item.visit}` : item.do))

describe('a walk', () => {
  const routed = stepwise({ gate: {}, yes: {}, no: {} }, ['gate>yes:true', 'gate>no:false'])

  it('begins at its entry alone, whatever else has nothing before it', () => {
    const run = runOf(stepwise({ a: {}, lonely: {} }, []), [begun()])
    expect(dueNodes(run)).toEqual(['a 1'])
  })

  it('goes on along the edge that its label names, and leaves the others', () => {
    const run = runOf(routed, [begun(), ...step('gate', 'false')])
    expect(dueNodes(run)).toEqual(['no 1'])
    expect(run.visits.get('yes')?.state.status).toBe('pending')
  })

  it('is complete where no edge leads on, with what that step gave', () => {
    const run = runOf(routed, [begun(), ...step('gate', 'maybe')])
    expect(dueNodes(run)).toEqual(['finish'])
    expect(outcomeOf(run)).toEqual({ terminal: 'success', reason: '' })
  })

  it('follows no unlabelled edge with a label, and no labelled one without', () => {
    const both = stepwise({ a: {}, b: {}, c: {} }, ['a>b', 'a>c:error'])
    expect(dueNodes(runOf(both, [begun(), ...step('a')]))).toEqual(['b 1'])
    expect(dueNodes(runOf(both, [begun(), ...step('a', 'error')]))).toEqual(['c 1'])
  })

  it('fails, naming the edges, where two could be taken', () => {
    const run = runOf(stepwise({ a: {}, b: {}, c: {} }, ['a>b', 'a>c']), [begun(), ...step('a')])
    expect(outcomeOf(run)).toEqual({
      terminal: 'failed',
      reason: 'a has 2 matching out-edges: a → b, a → c',
    })
  })

  it('ends at terminate and fail, whatever leaves them', () => {
    const graph = stepwise({ a: { kind: 'fail', config: { reason: 'No good' } }, b: {} }, ['a>b'])
    const run = runOf(graph, [begun(), ...step('a')])
    expect(dueNodes(run)).toEqual(['finish'])
    expect(outcomeOf(run)).toEqual({ terminal: 'failed', reason: 'No good' })
  })

  it('visits a node again around a loop, as often as the edge allows', () => {
    const loop = stepwise({ write: {}, judge: {}, out: {} }, [
      'write>judge',
      'judge>write:again*2',
      'judge>out:good',
    ])
    const round = [...step('write'), ...step('judge', 'again')]
    const twice = runOf(loop, [begun(), ...round, ...round])
    expect(dueNodes(twice)).toEqual(['write 3'])
    const spent = runOf(loop, [begun(), ...round, ...round, ...round])
    expect(dueNodes(spent)).toEqual(['finish'])
    expect(spent.past.get('write')).toHaveLength(2)
  })

  it('reads the latest output of a node, also while it is visited again', () => {
    const loop = stepwise({ a: {}, b: {} }, ['a>b', 'b>a:*3'])
    const run = runOf(loop, [begun(), ...step('a'), ...step('b')])
    expect(run.visits.get('a')?.visit).toBe(2)
    expect(outputOf(run, 'a')).toBe(hashJson({ output: 'a' }))
  })
})

describe('a step of a walk that fails', () => {
  const failure = {
    severity: 'error' as const,
    errorType: 'action_failed' as const,
    code: 'policy_denied',
    description: 'fs.write denied on /etc',
    retriable: false,
  }
  const fail = (graph: WorkflowGraph) => {
    const run = runOf(graph, [begun(), started('a')])
    const wish = { type: 'failed', node: 'a', visit: 1, attempt: 1, failure } as const
    const { facts, values } = decide(run, wish, momentAfter(run))
    for (const fact of facts) evolve(run, fact)
    return { run, facts, values }
  }

  it('takes its error edge, with why as its output', () => {
    const { run, facts, values } = fail(stepwise({ a: {}, b: {} }, ['a>b:error']))
    expect(facts.map(({ type }) => type)).toEqual(['error', 'task_complete'])
    expect(facts[0]).toMatchObject({ severity: 'warning', code: 'policy_denied' })
    expect(values[0]?.json).toEqual({ error: 'fs.write denied on /etc', code: 'policy_denied' })
    expect(dueNodes(run)).toEqual(['b 1'])
  })

  it('ends the run as errored without one', () => {
    const { run } = fail(stepwise({ a: {}, b: {} }, ['a>b']))
    const { facts } = decide(run, { type: 'finish' }, momentAfter(run))
    for (const fact of facts) evolve(run, fact)
    expect(endingOf(run)).toEqual({
      status: 'errored',
      lastNode: 'a',
      reason: 'a (task) failed: fs.write denied on /etc',
    })
  })
})

describe('a rollback of a walk', () => {
  const loop = stepwise({ a: {}, b: {}, c: {} }, ['a>b', 'b>a:again*2', 'b>c:on'])
  const write = (node: string, label?: string): Word[] => [
    started(node, { consequence: 'reversible' }),
    checkpointed(node),
    done(node, label),
  ]
  const walked = [
    begun(),
    ...write('a'),
    ...write('b', 'again'),
    ...write('a'),
    ...write('b', 'on'),
    ...write('c'),
  ]

  it('covers what came after the latest visit of the node, and nothing before', () => {
    const run = runOf(loop, [
      ...walked,
      rollbackAsked('a'),
      undone('a', 'c'),
      undone('a', 'b'),
      undone('a', 'a'),
    ])
    evolve(run, { ...(rolledBack('a')(run, 0) as object), jti: 'r', at: 0, par: [] } as never)
    expect(run.past.get('a')?.map((visit) => visit.state.status)).toEqual(['done'])
    expect(run.visits.get('a')?.state.status).toBe('rolled_back')
  })

  it('puts back the place, the loop counts and the outputs, and goes on from there', () => {
    const undo = [undone('a', 'c'), undone('a', 'b'), undone('a', 'a')]
    const run = runOf(loop, [...walked, rollbackAsked('a'), ...undo, rolledBack('a'), goneOn('a')])
    expect(dueNodes(run)).toEqual(['a 3'])
    expect(run.walk?.taken.get(1)).toBe(1)
    expect(outputOf(run, 'b')).toBe(hashJson({ output: 'b' }))
    expect(outputOf(run, 'c')).toBeUndefined()
    expect(place(run)?.visit).toBe(3)
  })

  const partly =
    (node: string): Word =>
    (run, at) => ({ ...(rolledBack(node)(run, at) as FactOf<'rollback_result'>), status: 'partial' })
  const choose = (run: Run, node: string, choice: 'end' | 'go_on' = 'go_on') => {
    const rollback = [...run.rollbacks.values()].find((asked) => asked.node === node)?.id ?? 'rb_none'
    return () => decide(run, { type: 'choose', rollback, choice, by: 'person:ada' }, momentAfter(run))
  }

  it('of the whole run goes on from its beginning, whichever node it named, and though not all came back', () => {
    const run = runOf(loop, [
      ...walked,
      rollbackAsked('c', 'full_workflow'),
      undone('c', 'c'),
      partly('c'),
      goneOn('c'),
    ])
    expect(dueNodes(run)).toEqual(['a 3'])
    expect(run.walk?.path).toHaveLength(1)
    expect(run.walk?.taken.size).toBe(0)
  })

  it('goes on from what an earlier one took back, when that comes first', () => {
    const run = runOf(loop, [
      ...walked,
      rollbackAsked('b', 'single'),
      undone('b', 'b'),
      rolledBack('b'),
      rollbackAsked('c', 'single'),
      undone('c', 'c'),
      rolledBack('c'),
      goneOn('c'),
    ])
    expect(dueNodes(run)).toEqual(['b 3'])
  })

  it('does not go on while its place is at work, or nobody knows whether it took effect', () => {
    const back = [rollbackAsked('a', 'single'), undone('a', 'a'), rolledBack('a')]
    const before = [begun(), ...write('a')]
    const running = runOf(loop, [...before, started('b'), ...back])
    expect(choose(running, 'a')).toThrow(
      expect.objectContaining({
        code: 'rollback_busy',
        message: '"b" is still running; wait for it, then go on',
      }),
    )
    const unknown = [started('b', { consequence: 'reversible' }), checkpointed('b')]
    const asked = approvalAsked('b', { kind: 'outcome_unknown' })
    const waiting = runOf(loop, [...before, ...unknown, asked, ...back])
    expect(choose(waiting, 'a')).toThrow(
      expect.objectContaining({
        code: 'rollback_busy',
        message: 'Nobody knows yet whether "b" took effect; answer that, then go on',
      }),
    )
    const question = runOf(loop, [...before, approvalAsked('b'), ...back, goneOn('a')])
    expect(dueNodes(question)).toEqual(['a 2'])
    expect(question.past.get('b')?.[0]?.state.status).toBe('pending')
    expect(question.openApprovals.size).toBe(0)
  })

  it('is asked about each visit of a loop by itself', () => {
    const escalated =
      (node: string, visit: number): Word =>
      (run, at) => ({
        ...(approvalAsked(node, { kind: 'rollback_escalated' })(run, at) as FactOf<'approval_asked'>),
        visit,
      })
    const run = runOf(loop, [
      ...walked,
      rollbackAsked('a', 'full_workflow'),
      escalated('b', 2),
      escalated('b', 1),
    ])
    expect(run.openApprovals.size).toBe(2)
  })

  it('that was asked for with the step that began the run ends it: nobody goes on with it alone', () => {
    const child: Word = (run, at) => ({
      ...(begun()(run, at) as FactOf<'workflow_start'>),
      parentWid: '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1',
    })
    const byEngine =
      (scope: RollbackScope): Word =>
      (run, at) => ({
        ...(rollbackAsked('a', scope)(run, at) as FactOf<'rollback_request'>),
        by: 'engine',
      })
    const takenBack = (scope: RollbackScope) =>
      runOf(loop, [child, ...write('a'), byEngine(scope), undone('a', 'a'), rolledBack('a')])
    // One that an error within led to is this run's own.
    expect(choose(takenBack('sub_dag'), 'a')().facts.map(({ type }) => type)).toEqual(['rollback_choice'])
    const run = takenBack('full_workflow')
    expect(choose(run, 'a')).toThrow(
      expect.objectContaining({
        code: 'rollback_forbidden',
        message: 'This run was taken back with the step that began it; go on in the run of that step',
      }),
    )
    expect(choose(run, 'a', 'end')().facts.map(({ type }) => type)).toEqual([
      'rollback_choice',
      'workflow_complete',
    ])
  })
})
