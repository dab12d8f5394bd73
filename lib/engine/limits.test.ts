import { describe, expect, it } from 'vitest'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import type { ActionRef, Command } from './commands'
import { decide } from './decide'
import { due } from './due'
import { evolve, newRun } from './evolve'
import { activeMs, exhaustionWords } from './limits'
import { outcomeOf } from './outcome'
import type { Run } from './run'

/** A state that works, and one that waits for its event. */
function timed(maxActiveS: number): Run {
  const graph: WorkflowGraph = graphOf(
    { work: { kind: 'pure' }, gate: { kind: 'await_event', config: { question: '?' } } },
    [],
    {
      order: 'stepwise',
      format: 'promptpack',
      starts: [{ name: 'main', node: 'work' }],
      budget: { maxActiveS },
    },
  )
  const edges = [
    { from: 'work', to: 'gate', extra: {} },
    { from: 'gate', to: 'work', when: 'Again', extra: {} },
  ]
  return newRun(indexGraph({ ...graph, edges }))
}

let minted = 0
const mint = () => `00000000-0000-4000-8000-${String(++minted).padStart(12, '0')}`

/** Does what is wished at that second. */
function at(run: Run, seconds: number, command: Command): Run {
  const { facts } = decide(run, command, { now: seconds * 1000, mint, chance: 0 })
  for (const fact of facts) evolve(run, fact)
  return run
}

const action: ActionRef = { hash: 'h', consequence: 'read_only', target: '', sentence: 'Does it', reads: [] }
const begun = (run: Run) =>
  at(run, 0, { type: 'start', version: 'v', input: 'i', by: 'person:ada', dryRun: false })
const place = { node: 'work', visit: 1 }

describe('the time a run works', () => {
  it('ends it when it is used up, as budget-exhausted', () => {
    const run = begun(timed(60))
    at(run, 1, { type: 'begin', ...place, action })
    expect(due(run, 59_999)).toMatchObject({ alarmAt: 60_000 })
    expect(due(run, 60_000).now).toContainEqual({ do: 'expire', exhausted: 'max_wall_time_sec' })
    at(run, 60, { type: 'cancel', by: 'engine', reason: 'Out of time', exhausted: 'max_wall_time_sec' })
    at(run, 61, { type: 'succeeded', ...place, attempt: 1, output: 'o' })
    expect(outcomeOf(run)).toEqual({
      terminal: 'failed',
      reason: 'Out of time',
      exhausted: 'max_wall_time_sec',
    })
    at(run, 62, { type: 'finish' })
    expect(run.state).toMatchObject({ status: 'ended', exhausted: 'max_wall_time_sec' })
    expect(run.state).not.toHaveProperty('outOfTime')
  })

  it('stands still while an event is waited for', () => {
    const run = begun(timed(60))
    at(run, 1, { type: 'begin', ...place, action })
    at(run, 10, { type: 'succeeded', ...place, attempt: 1, output: 'o' })
    at(run, 11, { type: 'ask', node: 'gate', visit: 1, action })
    expect(due(run, 10_000_000)).toEqual({ now: [], nextAt: null, alarmAt: null })
    const [approval] = run.openApprovals
    const decision = { verdict: 'event', event: 'Again', by: 'person:ada', action: 'h', comment: '' } as const
    at(run, 1011, { type: 'decide', approval: approval as never, ...decision })
    expect(activeMs(run, 1_011_000)).toBe(11_000)
    expect(due(run, 1_011_000).alarmAt).toBe(1_060_000)
  })

  it('stands still while it is paused, and while a person is waited for in a run below it', () => {
    const run = begun(timed(60))
    at(run, 1, { type: 'begin', ...place, action })
    at(run, 5, { type: 'held', ...place, attempt: 1, held: true })
    expect(() => at(run, 6, { type: 'held', ...place, attempt: 1, held: true })).toThrow(
      'known to be so already',
    )
    at(run, 105, { type: 'held', ...place, attempt: 1, held: false })
    expect(activeMs(run, 105_000)).toBe(5_000)
    at(run, 110, { type: 'pause', by: 'person:ada', reason: '' })
    at(run, 210, { type: 'resume', by: 'person:ada' })
    expect(activeMs(run, 210_000)).toBe(10_000)
  })
})

describe('an event', () => {
  const waiting = () => {
    const run = begun(timed(60))
    at(run, 1, { type: 'begin', ...place, action })
    at(run, 2, { type: 'succeeded', ...place, attempt: 1, output: 'o' })
    return at(run, 3, { type: 'ask', node: 'gate', visit: 1, action })
  }

  it('leads on, and whoever comes second is told who was first', () => {
    const run = waiting()
    const [approval] = run.openApprovals
    const wish = {
      type: 'decide',
      approval: approval as never,
      verdict: 'event',
      event: 'Again',
      by: 'person:ada',
      action: 'h',
      comment: '',
    } as const
    at(run, 4, wish)
    expect(run.walk?.path.at(-1)?.visit).toMatchObject({ node: 'work', visit: 2 })
    expect(() => at(run, 5, wish)).toThrow('person:ada decided this')
  })

  it('must be one that the state knows, and its artifacts ones that are declared', () => {
    const run = waiting()
    const [approval] = run.openApprovals
    const wish = {
      type: 'decide',
      approval: approval as never,
      verdict: 'event',
      by: 'person:ada',
      action: 'h',
      comment: '',
    } as const
    expect(() => at(run, 4, wish)).toThrow('"" is no event of gate; expected Again')
    expect(() => at(run, 4, { ...wish, event: 'Again', artifacts: [{ name: 'x', value: 'v' }] })).toThrow(
      'No state declares the artifact "x"; there are: none',
    )
    expect(run.openApprovals.size).toBe(1)
  })

  it('comes to no state that is not hybrid and at work', () => {
    const run = waiting()
    const wish = { type: 'give_event', event: 'Again', by: 'person:ada', comment: '' } as const
    expect(() => at(run, 4, { ...wish, node: 'gate', visit: 1 })).toThrow(
      'gate is waiting and waits for no event',
    )
    expect(() => at(run, 4, { ...wish, node: 'work', visit: 1 })).toThrow(
      'work is done and waits for no event',
    )
  })
})

it('says which limit was reached, and how high it is', () => {
  expect(exhaustionWords({ limit: 'max_visits', node: 'test', bound: 1 })).toContain(
    '"test" was entered once',
  )
  expect(exhaustionWords({ limit: 'max_tool_calls', bound: 2000 })).toContain('2,000 times')
})
