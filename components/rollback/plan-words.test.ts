import { describe, expect, it } from 'vitest'
import type { RollbackStatus } from '@/lib/rollback/terms'
import type { PlanStep, RollbackPlanView } from '@/lib/view/rollback-wire'
import {
  buttonWords,
  changedSteps,
  nodeFates,
  notDoneWords,
  overwriteWords,
  planChanges,
  planName,
  planSentenceOf,
  resultWords,
  sentenceOf,
  shownInstead,
  whyNot,
} from './plan-words'

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

const act = (undo: 'restore' | 'compensate', status: RollbackStatus) => ({ undo, status })

describe('the words of a plan', () => {
  it('repeat on the button what the sentence counts', () => {
    expect(buttonWords(plan({ restored: 3 }))).toBe('Restore 3 steps')
    expect(buttonWords(plan({ restored: 1, agents: 1 }))).toBe('Restore 1 step on 1 agent')
    expect(buttonWords(plan({ restored: 3, compensated: 1, reset: 1, agents: 2 }))).toBe(
      'Restore 3 steps on 2 agents, compensate 1, set back 1',
    )
    expect(buttonWords(plan({ compensated: 2, agents: 1 }))).toBe('Compensate 2 steps on 1 agent')
    expect(buttonWords(plan({ reset: 2 }))).toBe('Set back 2 steps')
    expect(buttonWords(plan({ irreversible: 1 }))).toBe('Tell a person of 1 step')
  })
  it('name what somebody else changed since, and the word that puts it back nevertheless', () => {
    const step = { node: 'a', visit: 1, label: 'A', fate: 'restored', sentence: '' } as const
    const changed: PlanStep = { ...step, changedSince: true }
    expect(changedSteps(plan({}, { steps: [step, changed] }))).toEqual([changed])
    expect(overwriteWords(1)).toBe('Put it back all the same (1 target changed since)')
    expect(overwriteWords(2)).toBe('Put them back all the same (2 targets changed since)')
  })
  it('promise nothing of what was changed since, until it is to be put back', () => {
    const step = { node: 'a', visit: 1, label: 'A', fate: 'restored', sentence: '' } as const
    const agent = (name: string, changedSince?: true): PlanStep => ({
      ...{ ...step, agent: name },
      ...(changedSince && { changedSince }),
    })
    const both = plan({ restored: 2, changed: 2 }, { steps: [agent('x', true), agent('y', true)] })
    expect(buttonWords(both)).toBe('Ask first about 2 steps whose targets were changed since')
    expect(buttonWords(both, true)).toBe('Restore 2 steps on 2 agents')
    expect(sentenceOf(both, true)).toBe('Restores 2 steps on 2 agents.')
    const one = plan(
      { restored: 2, changed: 1, reset: 1, agents: 1 },
      { steps: [agent('x', true), agent('y')] },
    )
    expect(buttonWords(one)).toBe('Restore 1 step on 1 agent, ask first about 1, set back 1')
    expect(buttonWords(one, true)).toBe('Restore 2 steps on 2 agents, set back 1')
  })
  it('count what came of it as the plan does, apart from what was only set back', () => {
    const done = act('restore', 'completed')
    expect(resultWords('completed', [done, act('compensate', 'completed')], 1)).toBe(
      'Taken back: 1 step restored, 1 compensated, 1 only set back.',
    )
    expect(resultWords('completed', [], 2)).toBe('Taken back: 2 steps only set back.')
  })
  it('names what was not taken back beside what was', () => {
    const done = act('restore', 'completed')
    const handed = act('restore', 'escalated')
    expect(resultWords('partial', [done, done, done, handed], 2)).toBe(
      'Taken back: 3 steps restored, 2 only set back; 1 handed to a person.',
    )
    expect(resultWords('escalated', [handed, handed], 0)).toBe(
      'Nothing was taken back; 2 steps handed to a person.',
    )
    expect(resultWords('failed', [act('restore', 'failed'), handed], 0)).toBe(
      'Nothing was taken back; 1 step handed to a person, 1 failed; the run stands still.',
    )
  })
  it('tell who held it for a plan that is no longer so what to do', () => {
    expect(notDoneWords).toBe(
      'Not done: the plan changed while you held. Look at what is new above, then hold again.',
    )
  })
  it('say what is shown instead of a rollback that there is none of', () => {
    expect(shownInstead({ status: 'executing' })).toBe('the one under way is shown')
    expect(shownInstead({ status: 'partial' })).toBe('its last rollback is shown')
    expect(shownInstead(undefined)).toBe('a preview is shown')
  })
  it('say why it cannot be pressed', () => {
    expect(whyNot(plan({}))).toContain('nothing to take back')
    expect(whyNot(plan({ restored: 1 }))).toBeUndefined()
    expect(whyNot(plan({ refused: 1 }))).toContain('None of the checkpoints serves')
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

describe('a plan of a walk that came to a step several times', () => {
  const step = (visit: number, fate: PlanStep['fate']): PlanStep => ({
    node: 'write',
    visit,
    label: 'write',
    fate,
    sentence: 'Puts it back.',
  })
  const walked = plan({}, { steps: [step(2, 'restored'), step(1, 'irreversible')], untouched: ['other'] })

  it('names the visits apart, and only then', () => {
    expect(walked.steps.map((one) => planName(one, walked))).toEqual(['write, visit 2', 'write, visit 1'])
    expect(planName(step(1, 'restored'), plan({}, { steps: [step(1, 'restored')] }))).toBe('write')
  })

  it('paints the node with the gravest of its fates', () => {
    expect(nodeFates(walked).get('write')).toEqual({ fate: 'irreversible', visits: 2 })
    expect(nodeFates(walked).get('other')).toEqual({ fate: 'untouched', visits: 1 })
  })

  it('says of a step that began runs that they are taken back', () => {
    expect(planSentenceOf(step(1, 'restored'), 'call')).toContain('the run it began')
    expect(planSentenceOf(step(1, 'restored'), 'write_file')).toBe('Puts it back.')
    expect(planSentenceOf(step(1, 'refused'), 'call')).toBe('Puts it back.')
    const place = { run: 'run_1', workflow: 'Pay', node: 'c', visit: 1 }
    const charge = { ...place, label: 'Charge', agent: 'spiffe://lab/agent/billing' }
    const reaching = (...criticalBelow: (typeof charge)[]) =>
      planSentenceOf({ ...step(1, 'restored'), criticalBelow }, 'map')
    expect(reaching(charge)).toMatch(/ Among them “Charge” of Pay run_1 by billing, which is critical\.$/)
    const runsBelow = { count: 1, first: [{ run: 'run_1', workflow: 'Pay', agents: [] }] }
    expect(
      planSentenceOf({ ...step(1, 'restored'), criticalBelow: [charge], runsBelow }, 'map'),
      'its run stands beside it',
    ).toMatch(/ Among them “Charge” by billing, which is critical\.$/)
    expect(reaching(charge, charge)).toMatch(
      / Among them “Charge” of Pay run_1 by billing and 1 more that are critical\.$/,
    )
  })
})
