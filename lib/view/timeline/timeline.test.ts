import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { evolve } from '@/lib/engine/evolve'
import type { Fact } from '@/lib/engine/facts'
import {
  approvalAsked,
  approvalOf,
  approved,
  begun,
  cancelled,
  checkpointed,
  claimed,
  done,
  ended,
  failed,
  goneOn,
  historyBegins,
  historyOf,
  offered,
  retrying,
  rollbackAsked,
  rollbackOf,
  rolledBack,
  started,
  undone,
  type Word,
} from '@/lib/engine/histories'
import { randomGraph, randomWords } from '@/lib/engine/random-history'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { RunFold } from '../run-fold'
import { shownAt } from './bars'
import { blankLedger } from './blank-ledger'
import { MarkKeeper } from './marks'
import { noteworthyBeside } from './navigate'
import type { Bar, LaneBy } from './terms'
import type { Timeline } from './timeline'

function timelineOf(graph: WorkflowGraph, words: readonly Word[]): Timeline {
  const fold = new RunFold(graph)
  fold.add(blankLedger(historyOf(graph, words).facts))
  return fold.timeline
}

/** States and the events between them, as `a>b:event`. */
function walkOf(nodes: Record<string, Partial<GraphNode>>, edges: string[]): WorkflowGraph {
  return {
    ...graphOf(nodes, [], { order: 'stepwise', format: 'promptpack' }),
    edges: edges.map((edge) => {
      const [, from = '', to = '', when] = /^(\w+)>(\w+)(?::(\w+))?$/.exec(edge) ?? []
      return { from, to, when, extra: {} }
    }),
  }
}

const barsOf = (timeline: Timeline, by: LaneBy = 'node'): Bar[] =>
  timeline.lanes(by).flatMap((lane) => lane.tracks.flat())
const wordsOf = (bars: readonly Bar[]) =>
  bars.map((bar) => `${bar.node} ${bar.visit} ${bar.from}-${bar.to ?? ''} ${bar.shown}: ${bar.words}`)
const at = (seconds: number) => historyBegins + seconds * 1000

const pair = graphOf({ a: { label: 'First' }, b: {} }, ['a>b'])
const loop = walkOf({ plan: {}, code: { kind: 'prompt_state', maxVisits: 3 }, test: {}, review: {} }, [
  'plan>code:Ready',
  'code>test:Coded',
  'test>code:Failed',
  'test>review:Passed',
])
const step = (node: string, label?: string): Word[] => [started(node), done(node, label)]

describe('bars', () => {
  it('are the phases of a visit: waiting for a person, at work, done', () => {
    const timeline = timelineOf(pair, [begun(), approvalAsked('a'), approved('a'), ...step('a')])
    expect(wordsOf(barsOf(timeline))).toEqual(['a 1 2-3 waiting: waiting for operator', 'a 1 4-5 done: done'])
    expect(barsOf(timeline)[0]).toMatchObject({
      waitsFor: 'person',
      label: 'First',
      fromAt: at(1),
      toAt: at(2),
    })
  })

  it('show an attempt that failed, the wait for the next, and the next', () => {
    const timeline = timelineOf(pair, [begun(), started('a'), retrying('a'), started('a'), failed('a')])
    expect(wordsOf(barsOf(timeline))).toEqual([
      'a 1 2-3 failed: attempt 1 failed',
      'a 1 3-4 running: waiting for the next attempt',
      'a 1 4-5 failed: failed',
    ])
    expect(barsOf(timeline).map(({ retried, waitsFor }) => [retried, waitsFor])).toEqual([
      [true, undefined],
      [undefined, 'retry'],
      [undefined, undefined],
    ])
  })

  it('last while the phase does', () => {
    const [bar] = barsOf(timelineOf(pair, [begun(), started('a')]))
    expect(bar).toMatchObject({ shown: 'running', from: 2, fromAt: at(1) })
    expect(bar?.to).toBeUndefined()
  })

  it('show a step as waiting while a person is waited for in a run below it', () => {
    const held: Word = () => ({ type: 'step_held', node: 'a', visit: 1, attempt: 1 })
    const released: Word = () => ({ type: 'step_released', node: 'a', visit: 1, attempt: 1 })
    const timeline = timelineOf(pair, [begun(), started('a'), held, released, done('a')])
    expect(wordsOf(barsOf(timeline))).toEqual([
      'a 1 2-3 done: at work',
      'a 1 3-4 waiting: waiting for a person, in a run below it',
      'a 1 4-5 done: done',
    ])
  })

  it('of what was refused or carried over before it was at work have no length, and are there', () => {
    const carried: Word = () => ({
      type: 'step_carried',
      node: 'a',
      visit: 1,
      output: hashJson(1),
      tookMs: 9,
      from: 'elsewhere',
    })
    const timeline = timelineOf(pair, [begun(), carried, approvalAsked('b'), failed('b')])
    expect(wordsOf(barsOf(timeline))).toEqual([
      'a 1 2-2 done: done in the run it was forked from',
      'b 1 3-4 waiting: waiting for operator',
      'b 1 4-4 failed: failed',
    ])
  })

  it('of a rollback stay where they were, and say what took them back and when', () => {
    const timeline = timelineOf(pair, [
      begun(),
      started('a'),
      checkpointed('a'),
      done('a'),
      rollbackAsked('a'),
      (run) => ({
        type: 'rollback_act',
        rollback: rollbackOf('a'),
        node: 'a',
        visit: 1,
        checkpointId: run.visits.get('a')?.firstCheckpoint ?? '',
        undo: 'restore',
      }),
      undone('a', 'a'),
      rolledBack('a'),
      goneOn('a'),
      ...step('a'),
    ])
    expect(wordsOf(barsOf(timeline))).toEqual(
      ['a 1 2-4 rolled_back: done', 'a 2 10-11 done: done', 'a 1 6-7 rolled_back: taken back'].sort(
        (one, other) => orderOf(one) - orderOf(other),
      ),
    )
    const [first] = barsOf(timeline)
    expect(first?.takenBack).toEqual({ seq: 7, from: 'done' })
    expect([1, 3, 6, 7].map((seq) => first && shownAt(first, seq))).toEqual([
      undefined,
      'running',
      'done',
      'rolled_back',
    ])
  })

  it('of what only was read are taken back with the rest, of every visit of a loop', () => {
    const timeline = timelineOf(loop, [
      begun(),
      ...step('plan', 'Ready'),
      ...step('code', 'Coded'),
      ...step('test', 'Failed'),
      ...step('code', 'Coded'),
      rollbackAsked('plan', 'full_workflow'),
      rolledBack('plan'),
    ])
    expect(barsOf(timeline).map(({ node, visit, shown }) => `${node} ${visit} ${shown}`)).toEqual([
      'plan 1 rolled_back',
      'code 1 rolled_back',
      'code 2 rolled_back',
      'test 1 rolled_back',
    ])
  })

  it('end where the run does, or is stopped', () => {
    const timeline = timelineOf(pair, [begun(), approvalAsked('a'), cancelled(), ended()])
    expect(wordsOf(barsOf(timeline))).toEqual(['a 1 2-3 waiting: waiting for operator'])
  })

  it('lie in lanes of nodes or of agents, side by side where they run at once', () => {
    const wide = graphOf({ a: {}, b: {}, c: {} })
    const agent = 'spiffe://lab/edge/router'
    const timeline = timelineOf(wide, [
      begun(),
      offered('a'),
      claimed('a', agent),
      started('b'),
      started('c'),
      done('b'),
      done('c'),
      done('a'),
    ])
    expect(timeline.lanes('node').map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    const byAgent = timeline.lanes('agent')
    expect(byAgent.map(({ id, label, tracks }) => [id, label, tracks.length])).toEqual([
      ['', 'this installation', 2],
      [agent, 'router', 1],
    ])
  })

  it('never overlap on a track, never end before they begin, and cover what the fold says, whatever the ledger', () => {
    fc.assert(
      fc.property(randomGraph, randomWords, (graph, words) => {
        const timeline = timelineOf(graph, words)
        for (const by of ['node', 'agent'] as const) {
          for (const { tracks } of timeline.lanes(by)) {
            for (const bars of tracks) {
              for (const [index, bar] of bars.entries()) {
                expect(bar.toAt ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(bar.fromAt)
                const before = bars[index - 1]
                if (before) expect(before.to ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(bar.from)
              }
            }
          }
          expect(barsOf(timeline, by)).toHaveLength(barsOf(timeline).length)
        }
        const { run } = historyOf(graph, words)
        for (const [node, visit] of run.visits) {
          const open = barsOf(timeline).filter(
            (bar) => bar.node === node && bar.to === undefined && !bar.undo,
          )
          expect(open).toHaveLength(visit.state.status === 'running' ? 1 : open.length > 0 ? 1 : 0)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('and everything else are the same whether the tokens came at once or one by one', () => {
    fc.assert(
      fc.property(randomGraph, randomWords, (graph, words) => {
        const entries = blankLedger(historyOf(graph, words).facts)
        const one = new RunFold(graph)
        for (const entry of entries) one.add([entry])
        const all = new RunFold(graph)
        all.add(entries)
        expect(plain(one.timeline)).toEqual(plain(all.timeline))
      }),
      { numRuns: 30 },
    )
  })
})

function plain(timeline: Timeline) {
  const kinds = ['error', 'person', 'artifact', 'rollback', 'fork', 'transition'] as const
  return structuredClone({
    bars: barsOf(timeline),
    transitions: timeline.transitions,
    marks: kinds.map((kind) => timeline.marks(kind)),
    times: timeline.times,
  })
}

function orderOf(words: string): number {
  return words.startsWith('a 2') ? 2 : words.includes('taken back') ? 1 : 0
}

describe('transitions', () => {
  const rows = (timeline: Timeline) =>
    timeline.transitions.map(
      ({ seq, from, event, node, visit, firedBy, leftAt }) =>
        `${seq} ${from ? `${from.node} ${from.visit}` : '-'} ${event ?? '(entry)'} ${node} ${visit} ${firedBy.by}` +
        (leftAt === undefined ? '' : ` left ${leftAt}`),
    )

  it('are the entries of nodes, the first included, with what led there and who', () => {
    const timeline = timelineOf(loop, [
      begun(),
      ...step('plan', 'Ready'),
      ...step('code', 'Coded'),
      ...step('test', 'Failed'),
      started('code'),
    ])
    expect(rows(timeline)).toEqual([
      '1 - (entry) plan 1 start',
      '3 plan 1 Ready code 1 engine',
      '5 code 1 Coded test 1 model',
      '7 test 1 Failed code 2 engine',
    ])
    expect(timeline.transitions[1]).toMatchObject({ bound: 3, begins: 4, ends: 5, at: at(2) })
    expect(timeline.transitions[3]).toMatchObject({ index: 3, begins: 8 })
    expect(timeline.transitions[3]?.ends).toBeUndefined()
  })

  it('name the person who gave the event, and the limit that sent the walk elsewhere', () => {
    const limited = walkOf({ a: { maxVisits: 1, onMaxVisits: 'b' }, b: {} }, ['a>a:Again'])
    const atA: Word = (run, now) => ({ ...begun()(run, now), entry: 'a' }) as ReturnType<Word>
    const given: Word = () => ({
      type: 'event_given',
      node: 'a',
      visit: 1,
      event: 'Again',
      by: 'person:bo',
      comment: '',
    })
    const timeline = timelineOf(limited, [atA, given, ...step('a', 'Again')])
    expect(timeline.transitions.at(-1)).toMatchObject({
      node: 'b',
      firedBy: { by: 'limit' },
      insteadOf: ['a'],
      event: 'Again',
    })
    const open = walkOf({ a: {}, b: {} }, ['a>b:Again'])
    expect(timelineOf(open, [atA, given, ...step('a', 'Again')]).transitions.at(-1)?.firedBy).toEqual({
      by: 'person',
      who: 'person:bo',
    })
  })

  it('that a rollback left behind stay, and say when they were left', () => {
    const timeline = timelineOf(loop, [
      begun(),
      ...step('plan', 'Ready'),
      ...step('code', 'Coded'),
      ...step('test', 'Passed'),
      rollbackAsked('code'),
      rolledBack('code'),
      goneOn('code'),
      ...step('code', 'Coded'),
    ])
    expect(rows(timeline)).toEqual([
      '1 - (entry) plan 1 start',
      '3 plan 1 Ready code 1 engine left 10',
      '5 code 1 Coded test 1 model left 10',
      '7 test 1 Passed review 1 engine left 10',
      '10 plan 1 Ready code 2 rollback',
      '12 code 2 Coded test 2 model',
    ])
  })

  it('are, where nothing walks, the starts of steps, once for each visit', () => {
    const timeline = timelineOf(pair, [
      begun(),
      started('a'),
      retrying('a'),
      started('a'),
      done('a'),
      claimed('b', 'spiffe://lab/b'),
    ])
    expect(rows(timeline)).toEqual(['2 - (entry) a 1 engine', '6 a 1 (entry) b 1 agent'])
  })

  it('are found by a moment of the run', () => {
    const timeline = timelineOf(loop, [begun(), ...step('plan', 'Ready'), started('code')])
    expect([0, 1, 2, 3, 4].map((seq) => timeline.transitionAt(seq)?.node)).toEqual([
      undefined,
      'plan',
      'plan',
      'code',
      'code',
    ])
  })
})

describe('marks', () => {
  it('are errors, what people did, changes of artifacts, rollbacks and where the run was forked from', () => {
    const wrote: Word = () => ({
      type: 'artifact_set',
      node: 'a',
      visit: 1,
      artifact: 'report',
      value: hashJson(1),
      mediaType: 'text/plain',
      mode: 'replace',
      by: 'engine',
    })
    const forked: Word = (run, now) =>
      ({ ...begun()(run, now), forkWid: 'w', forkSeq: 3 }) as ReturnType<Word>
    const silent: Word = () => ({
      type: 'approval_decided',
      node: 'b',
      visit: 1,
      approval: approvalOf('b'),
      verdict: 'refuse',
      by: 'silence',
      action: hashJson(1),
      comment: '',
    })
    const timeline = timelineOf(pair, [
      forked,
      started('a'),
      retrying('a'),
      started('a'),
      wrote,
      done('a'),
      approvalAsked('b'),
      silent,
      failed('b'),
      rollbackAsked('a'),
    ])
    const seqs = (kind: Parameters<Timeline['marks']>[0]) => timeline.marks(kind).map(({ seq }) => seq)
    expect(seqs('error')).toEqual([3, 9])
    expect(timeline.marks('error').map(({ passing }) => passing)).toEqual([true, undefined])
    expect(seqs('person')).toEqual([10])
    expect(seqs('artifact')).toEqual([5])
    expect(seqs('rollback')).toEqual([10])
    expect(seqs('fork')).toEqual([1])
    expect(timeline.artifacts).toEqual(['report'])
    expect(timeline.artifactMarks('report').map(({ words }) => words)).toEqual(['report changed'])
  })
})

describe('breakers', () => {
  const circuit = {
    circuit: 'c1',
    caller: 'workflow:w',
    downstream: 'spiffe://lab/agent/classifier',
    errorRate: 0.75,
    calls: 12,
    failures: 9,
    windowS: 60,
    cooldownS: 30,
    reopened: 0,
    change: 'x',
  }
  const place = { node: 'a', visit: 1, attempt: 1 }
  const changed =
    (type: 'circuit_open' | 'circuit_close'): Word =>
    (_run, now) => ({ type, ...place, ...circuit, until: now + 30_000 })
  const rejected: Word = (_run, now) => ({
    type: 'call_rejected',
    ...place,
    ...circuit,
    because: 'open',
    retryAt: now + 30_000,
  })

  it('that open or close are worth a jump, and the wait behind one is one bar however often it asks', () => {
    const timeline = timelineOf(pair, [
      begun(),
      changed('circuit_open'),
      rejected,
      rejected,
      started('a'),
      changed('circuit_close'),
      done('a'),
    ])
    expect(timeline.marks('breaker').map(({ seq, words }) => [seq, words])).toEqual([
      [2, 'breaker opened: classifier'],
      [6, 'breaker closed: classifier'],
    ])
    expect(wordsOf(barsOf(timeline))).toEqual([
      'a 1 3-5 pending: waiting behind a breaker',
      'a 1 5-7 done: done',
    ])
    expect(noteworthyBeside(timeline, 2, 'next')?.seq).toBe(6)
  })

  it('that refuse what had begun end the attempt, and it is no failure', () => {
    const timeline = timelineOf(pair, [begun(), started('a'), rejected])
    expect(wordsOf(barsOf(timeline))).toEqual([
      'a 1 2-3 skipped: call refused by a breaker',
      'a 1 3- pending: waiting behind a breaker',
    ])
  })
})

describe('times', () => {
  it('never run backwards, though a clock did', () => {
    const { facts } = historyOf(pair, [begun(), started('a'), done('a'), started('b')])
    const skewed = facts.map((fact, index) => (index === 2 ? { ...fact, at: at(-60) } : fact))
    const fold = new RunFold(pair)
    fold.add(blankLedger(skewed))
    expect(fold.timeline.times).toEqual([at(0), at(1), at(1), at(3)])
    expect(fold.rows[2]?.at).toBe(at(-60))
  })

  it('find the last token by then, and the nearest', () => {
    const timeline = timelineOf(pair, [begun(), started('a'), done('a')])
    expect([at(-1), at(0), at(1.5), at(9)].map((time) => timeline.seqAt(time))).toEqual([0, 1, 2, 3])
    expect([at(-1), at(0.4), at(0.6), at(9)].map((time) => timeline.nearest(time))).toEqual([1, 1, 2, 3])
  })
})

describe('errors that agents outside tell of', () => {
  it('are marked on the film as errors are, at the step they hang under', () => {
    const { run, facts } = historyOf(pair, [begun(), started('a'), checkpointed('a')])
    const [checkpointId = ''] = run.checkpoints.keys()
    const told = { par: [checkpointId], at: at(60), agent: 'spiffe://example.com/agent/monitor' }
    const marks = new MarkKeeper()
    const reports: Fact[] = [
      {
        ...told,
        type: 'reported',
        jti: 'r1',
        act: 'atd:error',
        label: '',
        description: '',
        meaning: 'error',
      },
      {
        ...told,
        type: 'signal_received',
        jti: 'r2',
        node: 'a',
        visit: 1,
        errorId: 'e1',
        severity: 'warning',
        errorType: 'action_failed',
        checkpointId,
        description: 'no route',
        upstream: [],
      },
    ]
    for (const [index, fact] of reports.entries()) {
      evolve(run, fact)
      marks.taken(run, facts.length + index + 1, fact.at, fact)
    }
    expect(marks.of('error')).toMatchObject([
      { node: 'a', visit: 1, words: 'monitor told of an error' },
      { node: 'a', visit: 1, words: 'monitor told of an error', passing: true },
    ])
  })
})
