import { describe, expect, it } from 'vitest'
import type { RollbackPlanView } from '@/lib/view/wire'
import { buttonWords, planChanges, whyNot } from './plan-words'

function plan(
  counts: Partial<RollbackPlanView['counts']>,
  more: Partial<RollbackPlanView> = {},
): RollbackPlanView {
  return {
    run: 'run_1',
    node: 'n',
    scope: 'sub_dag',
    digest: 'd',
    seq: 1,
    at: 0,
    steps: [],
    untouched: [],
    counts: {
      restored: 0,
      compensated: 0,
      irreversible: 0,
      refused: 0,
      reset: 0,
      untouched: 0,
      agents: 0,
      ...counts,
    },
    sentence: '',
    scopes: [],
    ...more,
  }
}

describe('the words of a plan', () => {
  it('repeat on the button what the sentence counts', () => {
    expect(buttonWords(plan({ restored: 3 }))).toBe('Roll back 3 steps')
    expect(buttonWords(plan({ restored: 1 }))).toBe('Roll back 1 step')
    expect(buttonWords(plan({ restored: 3, compensated: 1 }))).toBe('Roll back 4 steps, compensating 1')
    expect(buttonWords(plan({ reset: 2 }))).toBe('Reset 2 steps')
  })
  it('say why it cannot be pressed', () => {
    expect(whyNot(plan({}))).toContain('nothing to take back')
    expect(whyNot(plan({ restored: 1 }))).toBeUndefined()
    const forbidden = { sentence: 'export-baseline finished and used baseline.json' }
    expect(whyNot(plan({ restored: 1 }, { forbidden }))).toBe(forbidden.sentence)
  })
  it('name what a changed plan does differently', () => {
    const changes = planChanges(
      new Map([
        ['a', 'restored'],
        ['b', 'untouched'],
      ]),
      new Map([
        ['a', 'restored'],
        ['b', 'compensated'],
        ['c', 'irreversible'],
      ]),
      (node) => node.toUpperCase(),
    )
    expect(changes).toEqual([
      { node: 'b', label: 'B', was: 'untouched', now: 'compensated' },
      { node: 'c', label: 'C', was: 'untouched', now: 'irreversible' },
    ])
  })
})
