import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { Fact } from '@/lib/engine/facts'
import {
  approvalAsked,
  approved,
  begun,
  done,
  ended,
  failed,
  historyOf,
  started,
  type Word,
} from '@/lib/engine/histories'
import { randomGraph, randomWords } from '@/lib/engine/random-history'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { RunFold } from './run-fold'
import { blankLedger } from './timeline/blank-ledger'

function foldOf(graph: WorkflowGraph, facts: readonly (Fact | string)[]): RunFold {
  const fold = new RunFold(graph)
  expect(fold.add(blankLedger(facts))).toBe(true)
  return fold
}

/** What screens read of a run, of each of its nodes. */
function shown(of: Pick<RunFold, 'frame' | 'visit' | 'walked' | 'status' | 'ranOut'>, graph: WorkflowGraph) {
  const { frame, walked, status, ranOut } = of
  return structuredClone({ frame, walked, status, ranOut, visits: graph.nodes.map(({ id }) => of.visit(id)) })
}

const pair = graphOf({ a: {}, b: {} }, ['a>b'])
const story: Word[] = [
  begun(),
  started('a'),
  done('a'),
  approvalAsked('b'),
  approved('b'),
  started('b'),
  failed('b'),
  ended(),
]

describe('a run at a past token', () => {
  it('is at every token what the ledger up to there folds to', () => {
    const { facts } = historyOf(pair, story)
    const fold = foldOf(pair, facts)
    for (let seq = facts.length; seq >= 0; seq--) {
      const fresh = foldOf(pair, facts.slice(0, seq))
      expect(shown(fold.at(seq), pair)).toEqual(shown(fresh, pair))
    }
  })

  it('is that whatever the ledger says, in whatever order one looks', () => {
    fc.assert(
      fc.property(randomGraph, randomWords, fc.array(fc.nat(), { maxLength: 8 }), (graph, words, looks) => {
        const { facts } = historyOf(graph, words)
        const fold = foldOf(graph, facts)
        for (const look of looks) {
          const seq = look % (facts.length + 1)
          expect(shown(fold.at(seq), graph)).toEqual(shown(foldOf(graph, facts.slice(0, seq)), graph))
        }
        expect(shown(fold, graph)).toEqual(shown(foldOf(graph, facts), graph))
      }),
      { numRuns: 60 },
    )
  })

  it('is the same between keyframes, and with many tokens after it', () => {
    const graph: WorkflowGraph = {
      ...graphOf({ a: {}, b: {} }, [], { order: 'stepwise' }),
      edges: [
        { from: 'a', to: 'b', when: 'on', extra: {} },
        { from: 'b', to: 'a', when: 'on', extra: {} },
      ],
    }
    const round = ['a', 'b'].flatMap((node) => [written(node), started(node), done(node, 'on')])
    const { facts } = historyOf(graph, [begun(), ...Array.from({ length: 400 }, () => round).flat()])
    const fold = foldOf(graph, facts)
    for (const seq of [1, 511, 512, 513, 1_023, 1_024, 2_000, 1_999, 1_026, 2_400, 5]) {
      const fresh = foldOf(graph, facts.slice(0, seq))
      expect(shown(fold.at(seq), graph)).toEqual(shown(fresh, graph))
      expect(fold.at(seq).artifacts.get('log')).toEqual(fresh.at(seq).artifacts.get('log'))
      expect(fold.at(seq).gauges).toEqual(fresh.gauges(facts[seq - 1]?.at ?? 0))
    }
  })

  it('stays as it is when the run goes on, and when another moment is looked at', () => {
    const { facts } = historyOf(pair, story)
    const fold = foldOf(pair, facts.slice(0, 4))
    const moment = fold.at(4)
    const before = shown(moment, pair)
    fold.add(blankLedger(facts))
    expect(shown(moment, pair)).toEqual(before)
    expect(fold.at(2).frame.nodes.get('a')?.shown).toBe('running')
    expect(shown(moment, pair)).toEqual(before)
    expect(fold.at(4)).toBe(moment)
    expect(fold.frame.headline.words).not.toBe(moment.frame.headline.words)
  })

  it('passes over tokens it does not know, and keeps them', () => {
    const { facts } = historyOf(pair, story)
    const strange = [...facts.slice(0, 3), 'from_the_future', ...facts.slice(3)]
    const fold = foldOf(pair, strange)
    expect(fold.seq).toBe(facts.length + 1)
    expect(fold.rows[3]).toMatchObject({ act: 'from_the_future', words: undefined })
    expect(fold.at(4).frame).toEqual(fold.at(3).frame)
    expect(fold.at(5).frame.nodes.get('b')?.shown).toBe('waiting')
    expect(fold.timeline.seq).toBe(fold.seq)
  })

  it('is before everything at 0, and the ends beyond them', () => {
    const { facts } = historyOf(pair, story)
    const fold = foldOf(pair, facts)
    expect(fold.at(0).frame.headline.words).toBe('about to begin')
    expect(fold.at(-3).seq).toBe(0)
    expect(fold.at(99).seq).toBe(facts.length)
    expect(fold.at(99).frame).toBe(fold.frame)
  })

  it('gives back as the same objects what did not change between two moments', () => {
    const { facts } = historyOf(pair, story)
    const fold = foldOf(pair, facts)
    const before = fold.at(4).frame
    const after = fold.at(5).frame
    expect(after.nodes.get('a')).toBe(before.nodes.get('a'))
    expect(after.edges).toBe(before.edges)
  })
})

function written(node: string): Word {
  return (run) => ({
    type: 'artifact_set',
    node,
    visit: run.visits.get(node)?.visit ?? 1,
    artifact: 'log',
    value: hashJson(run.seq),
    mediaType: 'text/plain',
    mode: 'append',
    by: 'engine',
  })
}
