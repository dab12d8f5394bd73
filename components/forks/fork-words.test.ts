import { describe, expect, it } from 'vitest'
import type { ForkEffect, ForkPlanView } from '@/lib/view/fork-wire'
import { editedValues, restingEdit } from './fork-values'
import {
  buttonWords,
  carriedWords,
  effectGroups,
  effectsWords,
  isDangerous,
  positionWords,
  timesOfEach,
} from './fork-words'
import { draftOf, draftState } from './value-draft'

const step = (label: string, visit = 1) => ({ node: label, label, visit })
const effect = (label: string, more: Partial<ForkEffect> = {}): ForkEffect => ({
  run: 'run_1',
  workflow: 'w',
  ...step(label),
  consequence: 'reversible',
  sentence: `Does ${label}`,
  target: label,
  happened: 'done',
  ...more,
})

function plan(more: Partial<ForkPlanView> = {}): ForkPlanView {
  const next = more.next ?? [step('implement', 2)]
  return {
    run: 'run_1',
    carried: 3,
    after: { ...step('test'), event: 'TestsFailed' },
    next,
    nextCount: next.length,
    effects: [],
    moreEffects: false,
    originalIsDry: false,
    ...more,
  } as ForkPlanView
}

describe('the words of a fork', () => {
  it('say where it stands', () => {
    expect(positionWords(plan())).toBe('Before implement, visit 2, after TestsFailed')
    expect(positionWords(plan({ after: step('draft'), next: [step('write')] }))).toBe(
      'Before write, after draft',
    )
    const { after: _, ...nothing } = plan({ next: [step('plan')], carried: 0 })
    expect(positionWords(nothing)).toBe('Before plan')
    expect(positionWords({ ...nothing, next: [step('b'), step('c')], nextCount: 2 })).toBe('Before b and c')
    const many = ['a', 'b', 'c', 'd'].map((name) => step(name))
    expect(positionWords({ ...nothing, next: many, nextCount: 7 })).toBe('Before a; b; c; and 4 more')
    expect(positionWords(plan({ next: [] }))).toBe('At the end, after test')
  })

  it('say what the button does', () => {
    expect(buttonWords(plan(), true)).toBe('Fork as a dry run from implement, visit 2')
    expect(buttonWords(plan(), false)).toBe('Fork for real from implement, visit 2')
    expect(buttonWords(plan({ next: [] }), true)).toBe('Fork as a dry run from the end')
  })

  it('say what is taken over', () => {
    expect(carriedWords(plan({ carried: 1 }))).toBe(
      '1 step is taken as done, with what it gave, and not done again.',
    )
    expect(carriedWords(plan({ carried: 0 }))).toBe(
      'Nothing is done at this moment: the fork begins at the beginning.',
    )
    expect(carriedWords(plan({ next: [] }))).toMatch(/Nothing is left to do: the fork ends at once\.$/)
  })

  it('say what may happen again, and that nothing does in a dry run', () => {
    const one = plan({ effects: [effect('push')] })
    expect(effectsWords(one, true)).toBe(
      'Nothing of this happens in a dry run. The original made 1 change after this moment:',
    )
    expect(effectsWords(one, false)).toBe(
      'This may happen again. The original made 1 change after this moment:',
    )
    expect(effectsWords({ ...one, moreEffects: true }, false)).toMatch(/more than 1 changes/)
    expect(effectsWords({ ...one, originalIsDry: true }, false)).toMatch(/^This may happen now\./)
    expect(effectsWords(plan(), true)).toMatch(/^The original did nothing after this moment/)
  })

  it('put what cannot be undone first', () => {
    const mixed = [effect('a'), effect('b', { consequence: 'irreversible' }), effect('c')]
    expect(effectGroups(mixed).map(({ title, effects }) => [title, effects.map(({ node }) => node)])).toEqual(
      [
        ['Cannot be undone', ['b']],
        ['Can be undone', ['a', 'c']],
      ],
    )
    expect(isDangerous(plan({ effects: mixed }))).toBe(true)
    expect(isDangerous(plan({ effects: [effect('a')] }))).toBe(false)
  })
})

describe('the same change made more than once', () => {
  it('is said once, with each time it was made', () => {
    const tests = effect('run_tests')
    const again = effect('run_tests', { run: 'run_2' })
    expect(timesOfEach([tests, effect('push'), again])).toEqual([[tests, again], [effect('push')]])
  })

  it('is not the same when it became of it something else, or it was done to something else', () => {
    const of = (more: Partial<ForkEffect>) => effect('push', more)
    expect(timesOfEach([of({}), of({ happened: 'rolled_back' }), of({ target: 'other' })])).toHaveLength(3)
  })
})

describe('a value that is edited', () => {
  const edited = (value: Parameters<typeof draftOf>[0], isJson: boolean, text: string) =>
    draftState({ ...draftOf(value, isJson), text })

  it('is the same until it says something else', () => {
    expect(edited({ b: 1, a: 2 }, true, '{"a": 2, "b": 1}')).toEqual({ is: 'same' })
    expect(edited('text', false, 'text')).toEqual({ is: 'same' })
    expect(edited(undefined, true, '')).toEqual({ is: 'same' })
    expect(edited(undefined, false, '')).toEqual({ is: 'same' })
  })

  it('is changed, or cannot be read', () => {
    expect(edited('text', false, 'other')).toEqual({ is: 'changed', value: 'other' })
    expect(edited({ a: 1 }, true, '[1]')).toEqual({ is: 'changed', value: [1] })
    expect(edited(undefined, true, 'null')).toEqual({ is: 'changed', value: null })
    expect(edited({ a: 1 }, true, '{a}')).toMatchObject({
      is: 'wrong',
      why: expect.stringContaining('not JSON'),
    })
    expect(edited({ a: 1 }, true, '')).toMatchObject({ is: 'wrong' })
    expect(edited('ltr', false, 'שלום {{x}} <b>')).toEqual({ is: 'changed', value: 'שלום {{x}} <b>' })
  })
})

describe('an edit of what somebody decided on', () => {
  const review = { ...step('review', 2), event: 'Approved', by: 'person:ada', at: 12 }
  const slot = {
    mediaType: 'text/plain',
    mode: 'replace',
    description: '',
    entries: 1,
    hash: 'h',
    value: 'as it was',
  }
  const asked = plan({
    input: { hash: 'i', size: 2, json: {}, restsOn: { ...review, at: 4 } },
    artifacts: [
      { ...slot, name: 'proposed_fix', restsOn: review },
      { ...slot, name: 'notes' },
    ] as ForkPlanView['artifacts'],
  })
  const resting = (edits: Record<string, string>) => restingEdit(asked, editedValues(asked, edits))

  it('is said with who decided, what was edited and how to mend it', () => {
    expect(resting({ 'artifact proposed_fix': 'another' })).toEqual({
      words:
        'ada gave "Approved" at review, visit 2 before the artifact "proposed_fix" is edited, so a fork for real would go on with a decision nobody made on it; fork from token 12, before that step, leave the value as it is, or fork as a dry run',
      decision: review,
    })
  })

  it('names the earliest place to fork from when more than one value is edited', () => {
    expect(resting({ 'artifact proposed_fix': 'another', input: '{"a":1}' })?.decision?.at).toBe(4)
  })

  it('is nothing where no decision rests on it, or where it is as it was', () => {
    expect(resting({ 'artifact notes': 'another' })).toBeUndefined()
    expect(resting({ 'artifact proposed_fix': 'as it was' })).toBeUndefined()
    expect(restingEdit(plan({ ...asked, held: 'Why' }), { artifacts: {} })).toEqual({ words: 'Why' })
  })
})
