import { expect, it } from 'vitest'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { answerKeys } from './answer-keys'

const card = (more: Partial<ApprovalCard>) =>
  ({
    kind: 'approval',
    state: 'open',
    mayDecide: true,
    verdicts: ['approve', 'refuse'],
    run: 'run_1',
    ...more,
  }) as ApprovalCard

const rollback = {
  kind: 'rollback_unprepared',
  about: { what: 'rollback', rollback: 'rb_1', node: 'write', cannot: [{ label: 'write', changed: true }] },
} as Partial<ApprovalCard>

it('names every key that answers, also the fifth, and the way to the votes', () => {
  const verdicts = ['go_on_without', 'abort', 'escalate', 'ask_again', 'overwrite'] as const
  expect(answerKeys(card({ ...rollback, verdicts: [...verdicts] }))).toEqual([
    ['a', 'go on without'],
    ['x', 'call off'],
    ['d', 'hand on'],
    ['n', 'ask again'],
    ['p', 'put back'],
    ['v', 'show the votes'],
  ])
  const keys = answerKeys(card({ ...rollback, verdicts: verdicts.slice(0, 4) })).map(([key]) => key)
  expect(keys, 'nothing is there to put back all the same').toEqual(['a', 'x', 'd', 'n', 'v'])
})

it('names the edit where the change can be edited, and one key for all events', () => {
  expect(answerKeys(card({ editable: {} as ApprovalCard['editable'] }))).toEqual([
    ['a', 'approve'],
    ['x', 'refuse'],
    ['e', 'edit'],
  ])
  expect(answerKeys(card({ kind: 'event', verdicts: ['event'] }))).toEqual([['1 … 9', 'give the event']])
})

it('names none where nobody here can answer', () => {
  expect(answerKeys(undefined)).toEqual([])
  expect(answerKeys(card({ mayDecide: false }))).toEqual([])
  expect(answerKeys(card({ state: 'decided' }))).toEqual([])
})
