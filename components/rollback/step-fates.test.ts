import { describe, expect, it } from 'vitest'
import type { PlanFate } from '@/lib/rollback/terms'
import type { PlanStep, RollbackView } from '@/lib/view/rollback-wire'
import { legendOf, nodeStands, previewStands, progressStands, whyNotSetBack } from './step-fates'

const step = (node: string, fate: PlanFate, more: Partial<PlanStep> = {}): PlanStep => ({
  ...{ node, visit: 1, label: node, fate, sentence: '', checkpointId: `cp-${node}-${more.visit ?? 1}` },
  ...more,
})

type Told = Parameters<typeof progressStands>[1]

const told = (more: Partial<Told> = {}): Told => ({
  ...{ status: 'executing', phase: 'preparing', acts: [], votes: [] },
  ...more,
})

const act = (node: string, status?: 'completed' | 'failed') =>
  ({ node, visit: 1, checkpointId: `cp-${node}-1`, undo: 'restore', status }) as RollbackView['acts'][number]

const cannot = (node: string) =>
  ({ checkpointId: `cp-${node}-1`, vote: 'cannot_prepare' }) as RollbackView['votes'][number]

const decided = (decision: 'partial' | 'abort') => ({ decision, by: 'ada' }) as Told['decided']

const words = (stands: ReturnType<typeof progressStands>) => stands.map(({ word }) => word)
const plan = {
  steps: [
    step('move', 'restored'),
    step('steer', 'restored', { changedSince: true }),
    step('check', 'reset'),
  ],
  untouched: ['plan'],
}
const legend = (stands: ReturnType<typeof progressStands>) =>
  legendOf(stands, plan).map(({ legend, n }) => `${legend} ${n}`)

describe('the steps of a preview', () => {
  it('count what was changed since apart, until it is to be put back', () => {
    const [, steer] = previewStands(plan, false)
    expect(steer).toMatchObject({ fate: 'changed', word: 'changed since' })
    expect(legend(previewStands(plan, false))).toEqual([
      'Restored 1',
      'Changed since, left until you say so 1',
      'Only set back 1',
      'Stays as it is 1',
    ])
    expect(legend(previewStands(plan, true))).toEqual(['Restored 2', 'Only set back 1', 'Stays as it is 1'])
  })

  it('paint a locked step so, whatever else is said of it', () => {
    const locked = { ...plan, forbidden: { sentence: '', node: 'move' } }
    expect(nodeStands(previewStands(plan, false), locked).get('move')?.fate).toBe('locked')
    expect(legendOf(previewStands(plan, false), locked).at(-1)).toMatchObject({ fate: 'locked', n: 1 })
  })
})

describe('the steps of a rollback', () => {
  it('wait for the answer while a person is asked, and the legend claims nothing done', () => {
    const asking = progressStands(plan, told({ phase: 'asking', votes: [cannot('steer')] }))
    expect(words(asking)).toEqual(Array(3).fill('waits for the answer'))
    expect(legend(asking).join()).not.toContain('Restored')
  })

  it('read differently in the legend wherever they mean different things', () => {
    const steps = [
      step('move', 'restored'),
      step('steer', 'compensated'),
      { ...step('tell', 'restored'), changedSince: true as const },
      step('look', 'reset'),
    ]
    const stands = progressStands({ steps }, told({ phase: 'asking' }))
    expect(legendOf(stands, { untouched: [] }).map((one) => one.legend)).toEqual([
      'Would restore',
      'Would compensate',
      'Changed since',
      'Would set back',
    ])
  })

  it('say what is ahead, what goes on and what is left', () => {
    const going = progressStands(
      plan,
      told({
        phase: 'executing',
        votes: [cannot('steer')],
        decided: decided('partial'),
        acts: [act('move')],
      }),
    )
    expect(words(going)).toEqual(['restoring', 'left as it is', 'to set back'])
  })

  it('that had nothing to undo are set back also where the rest was done in part, as the preview said', () => {
    const over = progressStands(
      plan,
      told({
        ...{ status: 'partial', phase: 'over', votes: [cannot('steer')] },
        ...{ decided: decided('partial'), acts: [act('move', 'completed')] },
      }),
    )
    expect(words(over)).toEqual(['restored', 'left as it is', 'only set back'])
    expect(legend(over)).toEqual(['Restored 1', 'Only set back 1', 'Stays as it is 2'])
  })

  it('are set back also where a mail cannot be undone', () => {
    const steps = [step('move', 'restored'), step('mail', 'irreversible'), step('check', 'reset')]
    const mailed = told({ status: 'partial', phase: 'over', acts: [act('move', 'completed')] })
    const shown = (stands: ReturnType<typeof progressStands>) => stands.map(({ fate }) => fate)
    expect(shown(progressStands({ steps }, mailed))).toEqual(shown(previewStands({ steps }, false)))
    expect(whyNotSetBack(mailed)).toBeUndefined()
  })

  it('are all left where it was called off, and say why', () => {
    const off = told({ status: 'escalated', phase: 'over', decided: decided('abort') })
    expect(legend(progressStands(plan, off))).toEqual(['Stays as it is 4'])
    expect(whyNotSetBack(off)).toBe('The rollback was called off')
  })

  it('that had nothing to undo are left where it failed, or another one took it over, and say why', () => {
    const failed = told({ status: 'failed', phase: 'over' })
    const lost = told({ status: 'superseded', phase: 'over' })
    const only = { steps: [step('check', 'reset')] }
    for (const over of [failed, lost]) expect(words(progressStands(only, over))).toEqual(['left as it is'])
    expect(whyNotSetBack(failed)).toBe('The rollback failed, so nothing is set back either')
    expect(whyNotSetBack(lost)).toContain('took this one over')
  })

  it('count as not restored what was tried in vain', () => {
    const over = progressStands(
      { steps: [step('move', 'restored')] },
      told({ status: 'failed', phase: 'over', acts: [act('move', 'failed')] }),
    )
    expect(over[0]).toMatchObject({ fate: 'refused', word: 'not restored', legend: 'Not restored' })
  })

  it('of several visits show the one that is not over, else how many there are', () => {
    const visits = [step('write', 'restored', { visit: 2 }), step('write', 'restored')]
    const nothing = { untouched: [] }
    const half = progressStands({ steps: visits }, told({ phase: 'executing', acts: [act('write')] }))
    expect(nodeStands(half, nothing).get('write')?.word).toBe('to restore')
    const acts = [act('write', 'completed'), { ...act('write', 'completed'), checkpointId: 'cp-write-2' }]
    const all = progressStands({ steps: visits }, told({ status: 'completed', phase: 'over', acts }))
    expect(nodeStands(all, nothing).get('write')?.word).toBe('restored, 2 visits')
  })
})
