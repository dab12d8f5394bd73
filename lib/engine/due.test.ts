import { describe, expect, it } from 'vitest'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { due } from './due'
import {
  actionOf,
  approvalAsked,
  approvalOf,
  approved,
  begun,
  cancelled,
  claimed,
  done,
  ended,
  historyBegins,
  offered,
  paused,
  retrying,
  rollbackAsked,
  rollbackOf,
  runOf,
  started,
  type Word,
} from './histories'

const graph = graphOf({ a: {}, b: { priority: 'critical' }, c: {} }, ['a>c'])
/** What is due at the time of the last word, or `afterMs` later. */
const dueAfter = (words: Word[], afterMs = 0, of = graph) => {
  const run = runOf(of, words)
  return due(run, run.lastAt + afterMs)
}

describe('what is due', () => {
  it('is nothing before the run begins and after it ends', () => {
    expect(dueAfter([]).now).toEqual([])
    expect(dueAfter([begun(), ended()])).toEqual({ now: [], nextAt: null, alarmAt: null })
  })
  it('is every ready step, the most urgent first', () => {
    expect(dueAfter([begun()]).now).toEqual([
      { do: 'prepare', node: 'b', visit: 1 },
      { do: 'prepare', node: 'a', visit: 1 },
    ])
  })
  it('is no more than may run at once, approved steps and retries included', () => {
    const bounded = graphOf({ a: {}, b: {}, c: {} }, [], { budget: { maxConcurrent: 1 } })
    expect(dueAfter([begun(), approvalAsked('a'), approved('a')], 0, bounded).now).toHaveLength(1)
    expect(dueAfter([begun(), approvalAsked('a'), approved('a'), started('b')], 0, bounded).now).toEqual([
      { do: 'attend', node: 'b', visit: 1, attempt: 1 },
    ])
  })
  it('is an approved step with exactly the approved action, as edited', () => {
    const edited = actionOf('another')
    expect(dueAfter([begun(), approvalAsked('a'), approved('a', 'person:bo', edited)]).now).toContainEqual({
      do: 'begin',
      node: 'a',
      visit: 1,
      action: edited,
    })
  })
  it('is another attempt when its time has come, and an alarm until then', () => {
    const words = [begun(), started('b'), done('b'), started('a'), retrying('a', 5000)]
    expect(dueAfter(words, 4999)).toMatchObject({ now: [], nextAt: historyBegins + 4000 + 5000 })
    expect(dueAfter(words, 5000).now).toEqual([{ do: 'begin', node: 'a', visit: 1, action: actionOf('a') }])
  })
  it('tells when more will be due although something is due now', () => {
    const { nextAt, alarmAt } = dueAfter([
      begun(),
      started('b'),
      approvalAsked('a', { deadlineS: 60, onSilence: 'deny' }),
    ])
    expect(nextAt).toBe(historyBegins + 2000)
    expect(alarmAt).toBe(historyBegins + 2000 + 60_000)
  })
  it('is silence at the deadline, unless silence holds', () => {
    const asked = (onSilence: 'hold' | 'deny') => [
      begun(),
      started('b'),
      done('b'),
      approvalAsked('a', { deadlineS: 60, onSilence }),
    ]
    expect(dueAfter(asked('deny'), 60_000).now).toEqual([{ do: 'silence', approval: approvalOf('a') }])
    expect(dueAfter(asked('hold'), 60_000)).toEqual({ now: [], nextAt: null, alarmAt: null })
  })
  it('is the lapse of a claim, and nothing while it holds', () => {
    const words = [begun(), started('b'), done('b'), offered('a'), claimed('a', 'spiffe://x/a', 30)]
    expect(dueAfter(words).nextAt).toBe(historyBegins + 4000 + 30_000)
    expect(dueAfter(words, 30_000).now).toEqual([{ do: 'lapse', node: 'a', visit: 1 }])
  })
  it('begins nothing in a run that is paused, and attends to what runs', () => {
    expect(dueAfter([begun(), started('a'), paused()]).now).toEqual([
      { do: 'attend', node: 'a', visit: 1, attempt: 1 },
    ])
  })
  it('is the undo of a rollback under way', () => {
    expect(dueAfter([begun(), started('a'), done('a'), rollbackAsked('a')]).now).toEqual([
      { do: 'undo', rollback: rollbackOf('a') },
    ])
  })
  it('is the end of a cancelled run once nothing is at work', () => {
    expect(dueAfter([begun(), started('a'), cancelled()]).now).toEqual([
      { do: 'attend', node: 'a', visit: 1, attempt: 1 },
    ])
    expect(dueAfter([begun(), cancelled()]).now).toEqual([{ do: 'finish' }])
  })
  it('is the end of the run’s own time', () => {
    const timed = graphOf({ a: {} }, [], { budget: { maxRunS: 60 } })
    expect(dueAfter([begun(), approvalAsked('a')], 0, timed).alarmAt).toBe(historyBegins + 60_000)
    expect(dueAfter([begun(), approvalAsked('a')], 59_000, timed).now).toEqual([{ do: 'expire' }])
  })
})
