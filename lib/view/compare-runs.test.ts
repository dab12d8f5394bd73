import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { begun, done, historyOf, started, type Word } from '@/lib/engine/histories'
import type { ArtifactDeclaration, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { comparedSentence, compareRuns } from './compare-runs'
import { RunFold } from './run-fold'
import { blankLedger } from './timeline/blank-ledger'
import { TraceView } from './trace-view'

const slot = (name: string, mode: 'replace' | 'append'): ArtifactDeclaration => ({
  name,
  mediaType: 'text/plain',
  mode,
  extra: {},
})

function codegen(artifacts: ArtifactDeclaration[]): WorkflowGraph {
  const graph = graphOf(
    {
      code: {
        kind: 'prompt_state',
        config: { prompt: 'coder', template: 'Last: {{artifacts.report}} {{artifacts.reports}}' },
      },
      test: { kind: 'prompt_state', config: { prompt: 'tester', template: 'Run them' } },
      ship: {},
    },
    [],
    { order: 'stepwise', format: 'promptpack' },
  )
  const edges = [
    { from: 'code', to: 'test', when: 'Ready', extra: {} },
    { from: 'test', to: 'code', when: 'Failed', extra: {} },
    { from: 'test', to: 'ship', when: 'Passed', extra: {} },
  ]
  return { ...graph, edges, artifacts }
}

const set =
  (node: string, artifact: ArtifactDeclaration, value: string): Word =>
  (run) => ({
    type: 'artifact_set',
    node,
    visit: run.visits.get(node)?.visit ?? 1,
    artifact: artifact.name,
    value: hashJson(value),
    mediaType: artifact.mediaType,
    mode: artifact.mode,
    by: 'engine',
  })

const report = slot('report', 'replace')
const log = slot('log', 'append')
const turn = (node: string, event: string, ...writes: Word[]) => [started(node), ...writes, done(node, event)]

/** A run as the browser has it: its tokens, decoded and folded. */
function viewOf(graph: WorkflowGraph, words: Word[]): TraceView {
  const fold = new RunFold(graph)
  fold.add(blankLedger(historyOf(graph, words).facts))
  return new TraceView(fold).update()
}

const words = (a: TraceView, b: TraceView) =>
  compareRuns(a, b).visits.map(({ node, visit, a: inA, b: inB, differs }) => {
    const how = !inB
      ? 'only A'
      : !inA
        ? 'only B'
        : differs.map((one) => (typeof one === 'string' ? one : one.artifact))
    return `${node} ${visit}: ${Array.isArray(how) ? how.join(' ') || 'same' : how}`
  })

describe('two runs beside each other', () => {
  const graph = codegen([report, log])
  const quick = viewOf(graph, [
    begun(),
    ...turn('code', 'Ready', set('code', log, 'one')),
    ...turn('test', 'Passed', set('test', report, '5/5')),
    started('ship'),
    done('ship'),
  ])
  const slow = viewOf(graph, [
    begun(),
    ...turn('code', 'Ready', set('code', log, 'one')),
    ...turn('test', 'Failed', set('test', report, '2/5')),
    ...turn('code', 'Ready', set('code', log, 'two')),
    ...turn('test', 'Passed', set('test', report, '5/5')),
  ])

  it('are aligned by node and visit, and say what differs, what one has alone', () => {
    expect(words(quick, slow)).toEqual([
      'code 1: same',
      'test 1: same',
      'code 2: only B',
      'test 2: only B',
      'ship 1: state output log',
    ])
    expect(words(slow, quick)).toEqual([
      'code 1: same',
      'test 1: same',
      'code 2: only A',
      'test 2: only A',
      'ship 1: state output log',
    ])
    expect(comparedSentence(compareRuns(quick, slow))).toBe(
      '2 visits are the same, 1 differs, 2 are only in B.',
    )
  })
  it('are the same as themselves', () => {
    const { different, onlyA, onlyB } = compareRuns(slow, slow)
    expect([different, onlyA, onlyB]).toEqual([0, 0, 0])
  })
  it('tell a growing log apart by every entry of it, not by the last', () => {
    const other = viewOf(graph, [
      begun(),
      ...turn('code', 'Ready', set('code', log, 'zero'), set('code', log, 'one')),
    ])
    const mine = viewOf(graph, [
      begun(),
      ...turn('code', 'Ready', set('code', log, 'x'), set('code', log, 'one')),
    ])
    expect(words(mine, other)).toEqual(['code 1: same', 'test 1: log'])
  })
})

describe('the trace of a run', () => {
  it('says who writes an artifact and whose prompt is given it', () => {
    const view = viewOf(codegen([report]), [
      begun(),
      ...turn('code', 'Ready'),
      ...turn('test', 'Failed', set('test', report, '2/5')),
    ])
    expect([view.writtenBy('report'), view.readBy('report')]).toEqual([['tester'], ['coder']])
  })
  it('shows what steps gave where a workflow has no artifacts', () => {
    const view = viewOf(codegen([]), [begun(), ...turn('code', 'Ready'), started('test')])
    expect(view.columns.map(({ name, of }) => [name, of])).toEqual([['output', 'output']])
    const [code, test] = view.rows
    if (!code || !test) throw new Error('two rows were to be there')
    expect(view.value(code, 0).last?.hash).toBe(hashJson({ output: 'code' }))
    expect(view.value(test, 0)).toEqual({ count: 0, changed: false })
    expect([code, test].map((row) => view.stateOf(row))).toEqual(['done', 'under way'])
  })
  it('finds the row that a position stands in', () => {
    const view = viewOf(codegen([report]), [begun(), ...turn('code', 'Ready'), ...turn('test', 'Passed')])
    expect([0, 1, 2, 3, 4, 99].map((seq) => view.rowAt(seq))).toEqual([-1, 0, 0, 1, 1, 2])
  })
})
