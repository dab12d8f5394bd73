import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import type { Fork } from './commands'
import { decide } from './decide'
import { maxCarriedFacts } from './decide-fork'
import { evolve, newRun } from './evolve'
import type { Fact } from './facts'
import { ForkFold, type ForkPoint, goesOnWith } from './fork-point'
import { laidOutIn } from './fork-version'
import {
  approvalAsked,
  begun,
  checkpointed,
  done,
  failed,
  goneOn,
  historyBegins,
  rollbackAsked,
  rolledBack,
  started,
  undone,
  uuidOf,
  type Word,
} from './histories'
import type { Run } from './run'

const slots = [
  { name: 'note', mediaType: 'text/plain', mode: 'replace', extra: {} },
  { name: 'log', mediaType: 'text/plain', mode: 'append', extra: {} },
] as const

/** Two siblings between a beginning and an end, and a step beside them. */
const diamond = graphOf({ a: {}, b: {}, c: {}, d: {}, e: {} }, ['a>b', 'a>c', 'b>d', 'c>d'], {
  artifacts: slots.map((slot) => ({ ...slot })),
})
const edge = (from: string, when: string, to: string, maxIterations?: number) => ({
  from,
  to,
  when,
  extra: {},
  ...(maxIterations !== undefined && { maxIterations }),
})
/** Goes round between planning, coding and testing, bounded by visits and by edges, with a redirect. */
const loop = graphOf({ plan: {}, code: { maxVisits: 3, onMaxVisits: 'end' }, test: {}, end: {} }, [], {
  order: 'stepwise',
  edges: [
    edge('plan', 'Go', 'code'),
    edge('code', 'Go', 'test'),
    edge('test', 'Again', 'code'),
    edge('test', 'Back', 'plan', 2),
    edge('test', 'Go', 'end'),
  ],
  starts: [{ name: 'main', node: 'plan' }],
  artifacts: slots.map((slot) => ({ ...slot })),
})

const wrote =
  (node: string, artifact: 'note' | 'log', value: string): Word =>
  (run) => ({
    type: 'artifact_set',
    node,
    visit: run.visits.get(node)?.visit ?? 1,
    artifact,
    value: hashJson(value),
    mediaType: 'text/plain',
    mode: artifact === 'log' ? 'append' : 'replace',
    by: 'engine',
  })

/** What may happen next, told by a number: begin, write, complete, fail, ask, or be taken back and go on. */
function nextWords(run: Run, dice: number): Word[] {
  const at = <T>(list: readonly T[]): T | undefined => list[dice % Math.max(1, list.length)]
  const rolled = run.state.status === 'rolled_back' ? run.state.rollback : undefined
  if (rolled !== undefined) return [goneOn(rolled.replace(/^rb_/, ''))]
  if (run.state.status !== 'running') return []
  const running = [...run.active].filter((node) => run.visits.get(node)?.state.status === 'running')
  const ready = [...run.ready]
  const over = run.walk
    ? run.walk.path.map((step) => step.visit.node)
    : [...run.visits.values()].filter(({ state }) => state.status === 'done').map(({ node }) => node)
  const kind = dice % 11
  const node = at(running)
  if (kind === 0 && running.length === 0 && over.length > 0 && !run.rollbacks.has(`rb_${at(over)}`)) {
    const back = at(over) as string
    return [rollbackAsked(back), undone(back, back), rolledBack(back)]
  }
  if (kind === 1 && at(ready) !== undefined) return [approvalAsked(at(ready) as string)]
  if (node !== undefined) {
    if (kind === 2 && !run.walk) return [failed(node)]
    const label = run.walk ? (at(['Go', 'Go', 'Again', 'Back', 'Go']) as string) : undefined
    const value = String(run.seq)
    const writes =
      kind % 3 === 0
        ? [wrote(node, 'note', value), wrote(node, 'log', value)]
        : kind % 3 === 1
          ? [wrote(node, 'log', value)]
          : []
    return [...writes, done(node, label)]
  }
  const begins = at(ready)
  return begins === undefined ? [] : [started(begins, { consequence: 'reversible' }), checkpointed(begins)]
}

function story(graph: WorkflowGraph, dice: readonly number[]): Fact[] {
  const run = newRun(indexGraph(graph))
  const facts: Fact[] = []
  const say = (word: Word) => {
    const at = historyBegins + facts.length * 1000
    const par = run.lastJti === undefined ? [] : [run.lastJti]
    const fact: Fact = { ...word(run, at), jti: uuidOf(facts.length + 1), at, par }
    facts.push(fact)
    evolve(run, fact)
  }
  const entry = graph.starts[0]?.node
  say((now, at) => ({ ...begun()(now, at), ...(entry && { entry }) }) as ReturnType<Word>)
  for (const one of dice) for (const word of nextWords(run, one)) say(word)
  return facts
}

function pointAt(graph: WorkflowGraph, facts: readonly Fact[], seq: number): ForkPoint {
  const fold = new ForkFold(indexGraph(graph))
  for (const fact of facts.slice(0, seq)) fold.add(fact)
  return fold.point() as ForkPoint
}

let minted = 5_000_000
function forked(graph: WorkflowGraph, point: ForkPoint, edited: Fork['edited'] = []) {
  const run = newRun(indexGraph(graph))
  const at = { now: historyBegins + 9_000_000, mint: () => uuidOf(minted++), chance: 0 }
  const { facts } = decide(
    run,
    {
      type: 'start',
      version: hashJson('version'),
      input: hashJson({}),
      by: 'person:bo',
      dryRun: true,
      fork: {
        wid: uuidOf(1),
        seq: point.seq,
        jti: point.jti,
        carried: point.carried,
        edited,
        ...(point.entry !== undefined && { entry: point.entry }),
      },
    },
    at,
  )
  for (const fact of facts) evolve(run, fact)
  return { run, facts: facts as Fact[] }
}

/** What is done, as a fork has to have it: each step with what it gave, visits counted along the way. */
function doneOf(run: Run): string[] {
  const counts = new Map<string, number>()
  const told: string[] = []
  const visits = run.walk ? run.walk.path.map((step) => step.visit) : [...run.visits.values()]
  for (const { node, state } of visits) {
    if (state.status !== 'done') {
      if (run.walk) break
      continue
    }
    const nth = (counts.get(node) ?? 0) + 1
    counts.set(node, nth)
    told.push(`${node} ${nth} ${state.output} ${state.label} ${state.tookMs}`)
  }
  return run.walk ? told : told.sort()
}

/** What each artifact is, of the steps that are done: what one under way has written goes with it. */
function artifactsOf(run: Run): string[] {
  const isDone = (node: string, visit: number) => {
    const all = [...(run.past.get(node) ?? []), run.visits.get(node)]
    return all.find((one) => one?.visit === visit)?.state.status === 'done'
  }
  const slot = new Map<string, string[]>()
  const steps = run.walk?.path.map((step) => step.visit) ?? [...run.visits.values()]
  const gap = steps.findIndex(({ state }) => state.status !== 'done')
  const kept = new Set(run.walk && gap !== -1 ? steps.slice(0, gap) : steps)
  for (const { artifact, value, mode, node, visit } of run.artifactWrites) {
    const of = [...kept].find((one) => one.node === node && one.visit === visit)
    if (!of || !isDone(node, visit)) continue
    slot.set(artifact, mode === 'append' ? [...(slot.get(artifact) ?? []), value] : [value])
  }
  return [...slot].map(([name, values]) => `${name}: ${values.join(' ')}`).sort()
}

const dice = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 40 })

describe.each([
  ['a graph in topological order', diamond],
  ['a walk that loops', loop],
] as const)('a fork of %s', (_name, graph) => {
  it('comes to the steps that are done and the artifacts they wrote, from every position of every story', () => {
    fc.assert(
      fc.property(dice, (rolls) => {
        const facts = story(graph, rolls)
        const bytes = JSON.stringify(facts)
        for (let seq = 1; seq <= facts.length; seq++) {
          const point = pointAt(graph, facts, seq)
          const { run, facts: own } = forked(graph, point)
          expect(doneOf(run)).toEqual(doneOf(point.run))
          expect(artifactsOf(run)).toEqual(artifactsOf(point.run))
          // Nothing else happened in it yet, and every parent is the original's token or stands before its child.
          expect(run.seq).toBe(own.length)
          expect(run.checkpoints.size).toBe(0)
          expect([...run.visits.values()].every(({ taskJti }) => taskJti === undefined)).toBe(true)
          const known = new Set([point.jti])
          for (const fact of own) {
            expect(fact.par.length).toBeGreaterThan(0)
            for (const parent of fact.par) expect(known).toContain(parent)
            known.add(fact.jti)
          }
        }
        expect(JSON.stringify(facts)).toBe(bytes)
      }),
      { numRuns: 150 },
    )
  })

  it('goes on where the original would, and forked at once it comes to the same again', () => {
    fc.assert(
      fc.property(dice, fc.nat(1000), (rolls, where) => {
        const facts = story(graph, rolls)
        const point = pointAt(graph, facts, 1 + (where % facts.length))
        const edited = [{ name: 'note', value: hashJson('edited') }]
        const first = forked(graph, point, edited)
        const again = forked(graph, pointAt(graph, first.facts, first.facts.length))
        expect(doneOf(again.run)).toEqual(doneOf(first.run))
        const values = (run: Run) =>
          [...run.artifacts].map(([name, writes]) => [name, writes.map(({ value }) => value)]).sort()
        expect(values(again.run)).toEqual(values(first.run))
        expect(first.run.artifacts.get('note')?.at(-1)).toMatchObject({
          value: hashJson('edited'),
          by: 'person:bo',
        })
        expect(goesOnWith(again.run).map(({ node, visit }) => [node, visit])).toEqual(
          goesOnWith(first.run).map(({ node, visit }) => [node, visit]),
        )
      }),
      { numRuns: 100 },
    )
  })
})

describe('a fork of a walk', () => {
  const words = [
    begun({ entry: 'plan' } as never),
    started('plan'),
    done('plan', 'Go'),
    started('code'),
    wrote('code', 'note', 'one'),
    done('code', 'Go'),
    started('test'),
    done('test', 'Again'),
    started('code'),
    wrote('code', 'note', 'two'),
    done('code', 'Go'),
  ]
  const told = (all: readonly Word[]): Fact[] => {
    const run = newRun(indexGraph(loop))
    return all.map((word, at) => {
      const fact: Fact = { ...word(run, historyBegins), jti: uuidOf(at + 1), at: historyBegins + at, par: [] }
      evolve(run, fact)
      return fact
    })
  }

  it('stands just before the step that was entered, also in the middle of it', () => {
    const facts = told(words)
    for (const [seq, path] of [
      [1, 'plan 1'],
      [2, 'plan 1'],
      [3, 'plan 1 code 1'],
      [5, 'plan 1 code 1'],
      [8, 'plan 1 code 1 test 1 code 2'],
      [10, 'plan 1 code 1 test 1 code 2'],
      [11, 'plan 1 code 1 test 1 code 2 test 2'],
    ] as const) {
      const { run } = forked(loop, pointAt(loop, facts, seq))
      expect(run.walk?.path.map(({ visit: { node, visit } }) => `${node} ${visit}`).join(' ')).toBe(path)
    }
    // What the step under way had written goes with it.
    expect(forked(loop, pointAt(loop, facts, 10)).run.artifacts.get('note')?.[0]?.value).toBe(hashJson('one'))
  })

  it('goes on counting visits and what edges allow', () => {
    const facts = told([
      ...words,
      started('test'),
      done('test', 'Again'),
      started('code'),
      done('code', 'Go'),
      started('test'),
      done('test', 'Again'),
    ])
    const { run } = forked(loop, pointAt(loop, facts, facts.length))
    expect(run.walk?.path.at(-1)).toMatchObject({ visit: { node: 'end' }, insteadOf: ['code'] })
    expect(run.walk?.entered.get('code')).toBe(3)
  })

  it('gives the whole of an artifact a new value at the step that is entered next', () => {
    const point = pointAt(loop, told(words), 8)
    const { run, facts } = forked(loop, point, [{ name: 'log', value: hashJson('anew') }])
    expect(facts.at(-1)).toMatchObject({
      type: 'artifact_set',
      node: 'code',
      visit: 2,
      mode: 'replace',
      by: 'person:bo',
    })
    expect(run.walk?.path.at(-1)?.writes).toBe(run.artifactWrites.length)
    expect(() => forked(loop, point, [{ name: 'nope', value: hashJson('x') }])).toThrow(
      'The workflow declares no artifact "nope"; it has note, log',
    )
  })

  it('is taken back to where it began, with the artifacts it was given, and no further', () => {
    const point = pointAt(loop, told(words), 8)
    const { run } = forked(loop, point, [{ name: 'note', value: hashJson('edited') }])
    const say = (word: Word) => {
      const fact: Fact = { ...word(run, run.lastAt), jti: uuidOf(minted++), at: run.lastAt + 1000, par: [] }
      evolve(run, fact)
    }
    for (const word of [started('code'), wrote('code', 'note', 'three'), done('code', 'Go')]) say(word)
    expect(run.artifacts.get('note')?.[0]?.value).toBe(hashJson('three'))
    for (const word of [rollbackAsked('plan', 'full_workflow'), rolledBack('plan')]) say(word)
    expect(run.walk?.path.map(({ visit }) => visit.state.status)).toEqual([
      'done',
      'done',
      'done',
      'rolled_back',
      'pending',
    ])
    say(goneOn('plan'))
    expect(run.walk?.path.map(({ visit: { node, visit } }) => `${node} ${visit}`)).toEqual([
      'plan 1',
      'code 1',
      'test 1',
      'code 3',
    ])
    expect(run.artifacts.get('note')?.[0]?.value).toBe(hashJson('edited'))
  })

  it('carries what one transaction can hold, and is refused past it', () => {
    const long = graphOf({ a: {} }, [], {
      order: 'stepwise',
      edges: [edge('a', 'Go', 'a')],
      starts: [{ name: 'main', node: 'a' }],
      artifacts: slots.map((slot) => ({ ...slot })),
    })
    const fold = new ForkFold(indexGraph(long))
    let seq = 0
    const say = (word: Word) => {
      const at = historyBegins + seq
      fold.add({ ...word(fold.run, at), jti: uuidOf(++seq), at, par: [] })
    }
    say(begun({ entry: 'a' } as never))
    for (let step = 0; step < 9_999; step++) {
      say(started('a'))
      say(wrote('a', 'log', String(step)))
      say(done('a', 'Go'))
    }
    const point = fold.point() as ForkPoint
    expect(point.carried).toHaveLength(19_998)
    const { run } = forked(long, point)
    expect(run.walk?.path).toHaveLength(10_000)
    expect(run.artifacts.get('log')).toHaveLength(9_999)
    const carried = Array.from({ length: 2 }, () => point.carried).flat()
    expect(problemOf(() => forked(long, { ...point, carried }))).toMatchObject({
      code: 'too_large',
      message: `39996 steps and artifacts would be carried; a fork carries at most ${maxCarriedFacts}`,
    })
  })
})

describe('another version', () => {
  it('of a graph in topological order may not put something undone before what is done', () => {
    const facts = story(diamond, [])
    const run = [...facts]
    const live = newRun(indexGraph(diamond))
    for (const fact of run) evolve(live, fact)
    for (const word of [started('a'), done('a'), started('b'), done('b')]) {
      const fact: Fact = {
        ...word(live, historyBegins),
        jti: uuidOf(run.length + 1),
        at: historyBegins,
        par: [],
      }
      run.push(fact)
      evolve(live, fact)
    }
    const point = pointAt(diamond, run, run.length)
    const from = indexGraph(diamond)
    const with_ = (edges: string[], nodes: Parameters<typeof graphOf>[0] = {}) =>
      laidOutIn(from, indexGraph(graphOf({ a: {}, b: {}, c: {}, d: {}, e: {}, ...nodes }, edges)), point)
    expect(with_(['a>b', 'a>c', 'b>d']).refusal).toBeUndefined()
    expect(with_(['a>b', 'e>b']).refusal).toBe(
      'This version cannot take the run over: it does "e" before "b", and that is not done at this position',
    )
    expect(with_(['a>b'], { b: { kind: 'http_request' } }).refusal).toBe(
      'This version cannot take the run over: it has "b" as http_request, and it was done as task',
    )
    expect(laidOutIn(from, indexGraph(loop), point).refusal).toBe(
      'This version cannot take the run over: it is done in stepwise order, and the run was begun in topological order',
    )
  })
})

function problemOf(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    if (isProblem(error)) return { code: error.code, message: error.message }
    throw error
  }
  return undefined
}
