import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { copyRun, evolveShared, shareRun } from './copy-run'
import { evolve, newRun } from './evolve'
import type { Fact } from './facts'
import {
  approvalAsked,
  approved,
  begun,
  done,
  historyOf,
  rollbackAsked,
  rolledBack,
  started,
  type Word,
} from './histories'
import { randomGraph, randomWords } from './random-history'
import type { Run } from './run'

/** What a run says, apart from whoever else holds parts of it. */
function said({ graph: _graph, ...run }: Run): unknown {
  return structuredClone(run)
}

/** The walk stands on the very visits that the run has: what one changes, the other shows. */
function expectOfOnePiece(run: Run): void {
  const own = new Set([...run.visits.values(), ...[...run.past.values()].flat()])
  for (const { visit } of run.walk?.path ?? []) expect(own.has(visit)).toBe(true)
  for (const visit of run.walk?.outputs.values() ?? []) expect(own.has(visit)).toBe(true)
}

function folded(graph: Run['graph'], facts: readonly Fact[]): Run {
  return facts.reduce((run, fact) => evolve(run, fact), newRun(graph))
}

describe('a copy of a run', () => {
  it('and the run never change one another, whatever comes after', () => {
    fc.assert(
      fc.property(randomGraph, randomWords, fc.nat(), fc.nat(), (graph, words, cut, other) => {
        const { facts, run: whole } = historyOf(graph, words)
        const at = cut % facts.length
        const run = folded(whole.graph, facts.slice(0, at))
        const before = said(run)
        const copy = copyRun(run)
        expect(said(copy)).toEqual(before)
        expectOfOnePiece(copy)
        for (const fact of facts.slice(at)) evolve(run, fact)
        expect(said(run)).toEqual(said(whole))
        expect(said(copy)).toEqual(before)
        const end = said(run)
        for (const fact of facts.slice(at, at + (other % (facts.length - at + 1)))) evolve(copy, fact)
        expect(said(run)).toEqual(end)
      }),
      { numRuns: 300 },
    )
  })

  it('that shares what is settled keeps what it was, and folds on to the same end', () => {
    fc.assert(
      fc.property(randomGraph, randomWords, fc.array(fc.nat(), { maxLength: 6 }), (graph, words, cuts) => {
        const { facts, run: whole } = historyOf(graph, words)
        const places = new Set(cuts.map((cut) => cut % facts.length))
        const run = newRun(whole.graph)
        const kept: { run: Run; at: number; before: unknown }[] = []
        for (const [at, fact] of facts.entries()) {
          if (places.has(at)) {
            const copy = shareRun(run)
            kept.push({ run: copy, at, before: said(copy) })
            expect(said(copy)).toEqual(said(run))
            expectOfOnePiece(copy)
          }
          evolveShared(run, fact)
        }
        expect(said(run)).toEqual(said(whole))
        expectOfOnePiece(run)
        for (const { run: copy, at, before } of kept) {
          expect(said(copy)).toEqual(before)
          const further = shareRun(copy)
          for (const fact of facts.slice(at)) evolveShared(further, fact)
          expect(said(further)).toEqual(said(whole))
          expectOfOnePiece(further)
          expect(said(copy)).toEqual(before)
        }
        expect(said(run)).toEqual(said(whole))
      }),
      { numRuns: 300 },
    )
  })

  it('keeps an earlier visit as it was when a rollback takes that visit back', () => {
    const graph = graphOf({ a: {} }, [], { order: 'stepwise' })
    const round = [started('a'), done('a', 'again')]
    const { facts, run: whole } = historyOf(
      { ...graph, edges: [{ from: 'a', to: 'a', when: 'again', extra: {} }] },
      [begun(), ...round, ...round, rollbackAsked('a', 'full_workflow'), rolledBack('a')],
    )
    const run = folded(whole.graph, facts.slice(0, 5))
    const copy = shareRun(run)
    for (const fact of facts.slice(5)) evolveShared(run, fact)
    const states = (one: Run) => one.walk?.path.map(({ visit }) => visit.state.status)
    expect(states(run)).toEqual(['rolled_back', 'rolled_back', 'pending'])
    expect(states(copy)).toEqual(['done', 'done', 'pending'])
  })

  it('keeps an earlier visit as it was when the undo of that visit is answered', () => {
    const graph = graphOf({ a: {} }, [], { order: 'stepwise' })
    const round = [started('a'), done('a', 'again')]
    const answered: Word = () => ({
      type: 'rollback_act_result',
      node: 'a',
      visit: 1,
      rollback: 'rb_a',
      checkpointId: 'a/1',
      status: 'completed',
      description: '',
    })
    const { facts, run: whole } = historyOf(
      { ...graph, edges: [{ from: 'a', to: 'a', when: 'again', extra: {} }] },
      [begun(), ...round, ...round, rollbackAsked('a', 'full_workflow'), answered],
    )
    const run = folded(whole.graph, facts.slice(0, 6))
    const copy = shareRun(run)
    evolveShared(run, facts[6] as Fact)
    expect(run.past.get('a')?.map(({ state }) => state.status)).toEqual(['rolled_back', 'done'])
    expect(copy.past.get('a')?.map(({ state }) => state.status)).toEqual(['done', 'done'])
    expectOfOnePiece(run)
  })

  it('does not hear what is said of a question after it was settled', () => {
    const { facts, run: whole } = historyOf(graphOf({ a: {} }), [
      begun(),
      approvalAsked('a'),
      approved('a'),
      (run) => ({
        type: 'approval_commented',
        node: 'a',
        visit: 1,
        approval: [...run.approvals.keys()][0] ?? 'appr_none',
        by: 'person:bo',
        comment: 'Late',
      }),
    ])
    const run = folded(whole.graph, facts.slice(0, 3))
    const copy = shareRun(run)
    evolveShared(run, facts[3] as Fact)
    expect([...run.approvals.values()][0]?.comments).toHaveLength(1)
    expect([...copy.approvals.values()][0]?.comments).toHaveLength(0)
  })
})
