import { describe, expect, it } from 'vitest'
import type { GraphNode } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import {
  begun,
  checkpointed,
  done,
  failed,
  goneOn,
  historyBegins,
  retrying,
  rollbackAsked,
  rollbackOf,
  rolledBack,
  runOf,
  started,
  undone,
  type Word,
} from './histories'
import { comparable, touching } from './own-steps'
import type { Run } from './run'

const writes = { kind: 'write_file' }
const agent = (name: string) => ({ kind: 'agent', config: { agent: `spiffe://example.com/agent/${name}` } })

/** A step that began, and says what it found and left unless it `ends` otherwise. */
const step = (node: string, found: string, left: string): Word[] => [
  started(node, { consequence: 'reversible' }),
  checkpointed(node),
  (run, at) => {
    const fact = done(node)(run, at)
    if (fact.type !== 'task_complete') throw new Error(fact.type)
    return { ...fact, stateFound: found, stateLeft: left }
  },
]

const silent = (node: string): Word[] => [
  started(node, { consequence: 'reversible' }),
  checkpointed(node),
  done(node),
]

const history = (nodes: Record<string, Partial<GraphNode>>, ...words: Word[][]) =>
  runOf(graphOf(nodes), [begun(), ...words.flat()])

function of(run: Run, node: string, visit = 1) {
  const ref = [...run.checkpoints.values()].find((one) => one.node === node && one.visit === visit)
  return ref && comparable(run, ref)
}

/** What else may have touched what `node` did. */
function beside(run: Run, node: string, visit = 1) {
  const own = of(run, node, visit)
  if (!own) throw new Error(`${node} cannot be compared`)
  return touching(run, own, (one) => one.node === node && one.visit === visit)
}

const at = (token: number) => historyBegins + token * 1000

describe('what a step made of its target', () => {
  it('is known of one that says so, from its checkpoint to its end', () => {
    const run = history({ a: writes }, step('a', 'S0', 'S1'))
    expect(of(run, 'a')?.step).toEqual({ began: at(2), ended: at(3), change: { found: 'S0', left: 'S1' } })
  })

  it('is not known of one that does not, that failed, or whose undo was begun and came to no end', () => {
    expect(of(history({ a: writes }, silent('a')), 'a')).toBeUndefined()
    const broken = [started('a', { consequence: 'reversible' }), checkpointed('a'), failed('a')]
    expect(of(history({ a: writes }, broken), 'a')).toBeUndefined()
    const begunUndo: Word = (run) => ({
      ...{ type: 'rollback_act', rollback: rollbackOf('a'), node: 'a', visit: 1, undo: 'restore' },
      checkpointId: run.visits.get('a')?.firstCheckpoint ?? '',
    })
    const under = history({ a: writes }, step('a', 'S0', 'S1'), [rollbackAsked('a'), begunUndo])
    expect(of(under, 'a')).toBeUndefined()
    const [ref] = under.checkpoints.values()
    const own = ref && comparable(under, ref, rollbackOf('a'))
    expect(own?.step.change, 'but to the rollback that begins it').toEqual({ found: 'S0', left: 'S1' })
    expect(ref && comparable(under, ref, rollbackOf('b'))).toBeUndefined()
  })

  it('is known of a later visit, too, when it went on from a rollback', () => {
    const back = [rollbackAsked('a'), undone('a', 'a'), rolledBack('a'), goneOn('a')]
    const run = history({ a: writes }, step('a', 'S0', 'S1'), back, step('a', 'S0', 'S2'))
    expect(of(run, 'a', 2)?.step.change).toEqual({ found: 'S0', left: 'S2' })
    const none = { steps: [], below: [], putBack: [] }
    expect(beside(run, 'a', 2), 'the first visit is taken back').toEqual(none)
    const own = of(run, 'a', 2)
    const since = (ms: number) => own && touching(run, own, ({ visit }) => visit === 2, ms).putBack
    expect(since(at(5)), 'and what it put back is told to who asks').toEqual(['S0'])
    expect(since(at(6))).toEqual([])
  })
})

describe('what else may have touched it', () => {
  it('is what other steps on the same agent did, and none on another', () => {
    const nodes = { a: agent('x'), b: agent('x'), c: agent('y'), d: writes }
    const told = step('b', 'S1', 'S2')
    const run = history(nodes, step('a', 'S0', 'S1'), told, step('c', 'T0', 'T1'), step('d', 'F0', 'F1'))
    expect(beside(run, 'a').steps.map(({ change }) => change)).toEqual([{ found: 'S1', left: 'S2' }])
  })

  it('is of files what any program here may have done, and no request to another host', () => {
    const nodes = { a: writes, shell: { kind: 'shell_run' }, post: { kind: 'http_request' } }
    const run = history(nodes, step('a', 'S0', 'S1'), silent('shell'), silent('post'))
    expect(beside(run, 'a').steps).toEqual([{ began: at(5) }])
  })

  it('is unknown of a step that was tried more than once: what came between is not told', () => {
    const tried = [
      ...[started('b', { consequence: 'reversible' }), checkpointed('b'), retrying('b')],
      ...step('b', 'S1', 'S2'),
    ]
    const run = history({ a: writes, b: writes }, step('a', 'S0', 'S1'), tried)
    expect(beside(run, 'a').steps).toEqual([{ began: at(5) }])
    expect(of(run, 'b')?.step.change, 'what it left itself is').toEqual({ found: 'S1', left: 'S2' })
  })

  it('lies in the runs of a step that began some, and is unknown of what agents outside did', () => {
    const nodes = { a: writes, go: { kind: 'call' }, task: { kind: 'task' } }
    const run = history(nodes, step('a', 'S0', 'S1'), silent('go'), silent('task'))
    expect(beside(run, 'a')).toEqual({
      ...{ steps: [{ began: at(8) }], below: [{ node: 'go', visit: 1 }], putBack: [] },
    })
  })
})
