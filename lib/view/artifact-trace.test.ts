import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { evolve, newRun } from '@/lib/engine/evolve'
import type { Fact } from '@/lib/engine/facts'
import {
  begun,
  done,
  goneOn,
  historyOf,
  rollbackAsked,
  rolledBack,
  started,
  type Word,
} from '@/lib/engine/histories'
import type { ArtifactDeclaration, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { ArtifactTrace, appendedSince, entriesOf } from './artifact-trace'
import { Timeline } from './timeline/timeline'
import { ledgerRow } from './visit-view'

const slots = { commit_sha: 'replace', test_report: 'replace', change_summary: 'append' } as const
type Slot = keyof typeof slots

/** Example 1 of RFC 0009: plan, then implement and test until the tests pass, then review. */
const codegen = loop(
  { plan: {}, implement: { maxVisits: 3 }, test: { maxVisits: 3 }, review: {}, done: {} },
  {
    'plan>implement': 'PlanReady',
    'implement>test': 'CodeReady',
    'test>implement': 'TestsFailed',
    'test>review': 'TestsPassed',
    'review>done': 'Approved',
  },
)

function loop(nodes: Record<string, Partial<GraphNode>>, edges: Record<string, string>): WorkflowGraph {
  const graph = graphOf(nodes, [], { order: 'stepwise', format: 'promptpack' })
  const artifacts = Object.entries(slots).map(
    ([name, mode]): ArtifactDeclaration => ({ name, mediaType: 'text/plain', mode, extra: {} }),
  )
  return {
    ...graph,
    artifacts,
    edges: Object.entries(edges).map(([way, when]) => {
      const [from = '', to = ''] = way.split('>')
      return { from, to, when, extra: {} }
    }),
  }
}

const set =
  (node: string, artifact: Slot, value: string): Word =>
  (run) => ({
    type: 'artifact_set',
    node,
    visit: run.visits.get(node)?.visit ?? 1,
    artifact,
    value: hashJson(value),
    mediaType: 'text/plain',
    mode: slots[artifact],
    by: 'engine',
  })

const turn = (node: string, event: string, writes: [Slot, string][] = []): Word[] => [
  started(node),
  ...writes.map(([artifact, value]) => set(node, artifact, value)),
  done(node, event),
]

const said = new Map(
  ['abc123', 'def456', '2/5', '5/5', 'line 1', 'line 2', 'late'].map((text) => [hashJson(text), text]),
)

/** The trace as a table of words: what stands in each cell, `*` where it changed. */
function table(trace: ArtifactTrace): string[] {
  return trace.rows.map(({ transition, cells }) => {
    const values = cells.map(({ written, changed }, column) => {
      const shown = !written
        ? '—'
        : trace.artifacts[column]?.mode === 'append'
          ? `${written.count} lines`
          : said.get(written.set.value)
      return changed ? `${shown}*` : shown
    })
    const visit = transition.bound ? ` ${transition.visit} of ${transition.bound}` : ''
    const left = transition.leftAt === undefined ? '' : ' (left)'
    return `→ ${transition.node}${visit}${left} | ${transition.event ?? '(entry)'} | ${values.join(' | ')}`
  })
}

function folding(graph: WorkflowGraph) {
  const index = indexGraph(graph)
  const run = newRun(index)
  const timeline = new Timeline(index)
  let seq = 0
  return {
    timeline,
    add(fact: Fact) {
      evolve(run, fact)
      const claims = { exec_act: fact.type, jti: fact.jti, par: fact.par, iat: fact.at / 1000 }
      timeline.add(run, ledgerRow({ seq: ++seq, hash: '' }, claims, fact), fact)
    },
  }
}

function traceOf(graph: WorkflowGraph, words: Word[]): ArtifactTrace {
  const folded = folding(graph)
  const live = new ArtifactTrace(graph.artifacts)
  for (const fact of historyOf(graph, words).facts) {
    folded.add(fact)
    live.update(folded.timeline)
    // Made as tokens came, or all at once: the same table at every prefix.
    const whole = new ArtifactTrace(graph.artifacts)
    whole.update(folded.timeline)
    expect(table(live)).toEqual(table(whole))
  }
  return live
}

const asInTheRfc = [
  begun(),
  ...turn('plan', 'PlanReady'),
  ...turn('implement', 'CodeReady', [
    ['commit_sha', 'abc123'],
    ['change_summary', 'line 1'],
  ]),
  ...turn('test', 'TestsFailed', [['test_report', '2/5']]),
  ...turn('implement', 'CodeReady', [
    ['commit_sha', 'def456'],
    ['change_summary', 'line 2'],
  ]),
  ...turn('test', 'TestsPassed', [['test_report', '5/5']]),
  ...turn('review', 'Approved'),
]

describe('the artifact trace', () => {
  it('reads like the table of RFC 0009', () => {
    expect(table(traceOf(codegen, asInTheRfc))).toEqual([
      '→ plan | (entry) | — | — | —',
      '→ implement 1 of 3 | PlanReady | — | — | —',
      '→ test 1 of 3 | CodeReady | abc123* | — | 1 lines*',
      '→ implement 2 of 3 | TestsFailed | abc123 | 2/5* | 1 lines',
      '→ test 2 of 3 | CodeReady | def456* | 2/5 | 2 lines*',
      '→ review | TestsPassed | def456 | 5/5* | 2 lines',
      '→ done | Approved | def456 | 5/5 | 2 lines',
    ])
  })
  it('gives what is written after the last transition to the last row', () => {
    const rows = table(
      traceOf(codegen, [...asInTheRfc, started('done'), set('done', 'commit_sha', 'late'), done('done')]),
    )
    expect(rows.at(-1)).toBe('→ done | Approved | late* | 5/5 | 2 lines')
  })
  it('counts what is set before a visit begins, as a fork with an edited artifact does', () => {
    const rows = table(
      traceOf(codegen, [begun(), set('plan', 'commit_sha', 'late'), ...turn('plan', 'PlanReady')]),
    )
    expect(rows).toEqual([
      '→ plan | (entry) | late* | — | —',
      '→ implement 1 of 3 | PlanReady | late | — | —',
    ])
  })
  it('does not call a value changed that was written again as it was', () => {
    const words = [begun(), ...turn('plan', 'PlanReady', [['commit_sha', 'abc123']])]
    const rows = table(
      traceOf(codegen, [...words, ...turn('implement', 'CodeReady', [['commit_sha', 'abc123']])]),
    )
    expect(rows.at(-1)).toBe('→ test 1 of 3 | CodeReady | abc123 | — | —')
  })
  it('keeps the rows that a rollback left behind, with what they had', () => {
    const words = [
      begun(),
      ...turn('plan', 'PlanReady'),
      ...turn('implement', 'CodeReady', [
        ['commit_sha', 'abc123'],
        ['change_summary', 'line 1'],
      ]),
      started('test'),
      rollbackAsked('implement'),
      rolledBack('implement'),
      goneOn('implement'),
      ...turn('implement', 'CodeReady', [
        ['commit_sha', 'def456'],
        ['change_summary', 'line 2'],
      ]),
    ]
    expect(table(traceOf(codegen, words))).toEqual([
      '→ plan | (entry) | — | — | —',
      '→ implement 1 of 3 (left) | PlanReady | — | — | —',
      '→ test 1 of 3 (left) | CodeReady | abc123* | — | 1 lines*',
      '→ implement 2 of 3 | PlanReady | —* | — | —*',
      '→ test 2 of 3 | CodeReady | def456* | — | 1 lines*',
    ])
  })
  it('has every entry of a slot that grows, in each of its rows', () => {
    const trace = traceOf(codegen, asInTheRfc)
    const entries = (row: number) =>
      entriesOf(trace.rows[row]?.cells[2]?.written).map((one) => said.get(one.value))
    expect([entries(1), entries(2), entries(6)]).toEqual([[], ['line 1'], ['line 1', 'line 2']])
    const [a, b] = [trace.rows[2]?.cells[2]?.written, trace.rows[6]?.cells[2]?.written]
    expect(appendedSince(a, b).map((one) => said.get(one.value))).toEqual(['line 2'])
    expect(appendedSince(b, a)).toEqual([])
  })
  it('shows a slot that nobody declared once it is written', () => {
    const undeclared = { ...codegen, artifacts: codegen.artifacts.slice(0, 1) }
    const trace = traceOf(undeclared, asInTheRfc)
    expect(trace.artifacts.map(({ name, mode }) => [name, mode])).toEqual([
      ['commit_sha', 'replace'],
      ['change_summary', 'append'],
      ['test_report', 'replace'],
    ])
    expect(table(trace).at(-1)).toBe('→ done | Approved | def456 | 2 lines | 5/5')
  })
})
