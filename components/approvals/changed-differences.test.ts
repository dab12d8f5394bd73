import { expect, it } from 'vitest'
import type { ActionPreview } from '@/lib/view/approval-wire'
import { becameOf, changedWords, differencesOf } from './changed-differences'

const diff = (before: string, after: string, absent?: true): ActionPreview => ({
  show: 'diff',
  title: 'Change to bgp.conf',
  before,
  after,
  ...(absent && { absent }),
})
const preview = diff('a\nb\nc\n', 'a\nb\nC\n')
const asked = { preview, target: 'bgp.conf' }
const decision = { verdict: 'approve', by: 'person:ada', at: 1, comment: '', edited: false } as const

it('shows first what is decided on, and what others changed under a heading and a name of its own', () => {
  const now = diff('theirs\nb\nc\n', 'theirs\nb\nC\n')
  expect(differencesOf(asked, now, undefined)).toEqual([
    { value: 'now', word: 'As it is now', preview: now },
    {
      value: 'since',
      word: 'What changed',
      heading: 'Changed by others since',
      preview: { show: 'diff', title: 'bgp.conf', before: 'a\nb\nc\n', after: 'theirs\nb\nc\n' },
    },
    { value: 'asked', word: 'As asked', preview },
  ])
  expect(differencesOf(asked, now, decision).map(({ word }) => word)).toEqual([
    'As decided',
    'What changed',
    'As asked',
  ])
})

it('has nothing to show of a target that is as it was', () => {
  const now = diff('a\nb\nc\n', 'a\nb\nD\n')
  const choices = differencesOf(asked, now, undefined)
  expect(choices.map(({ value }) => value)).toEqual(['now', 'asked'])
  expect(becameOf(preview, now, choices)).toBe('same')
  expect(differencesOf(asked, { show: 'text', title: 't', text: 'x' }, undefined)).toHaveLength(2)
})

it('tells a target that was deleted from one that was emptied', () => {
  const of = (seen: ActionPreview) => {
    const choices = differencesOf(asked, seen, undefined)
    return [becameOf(preview, seen, choices), choices[1]?.heading]
  }
  expect(of(diff('', 'a\n', true))).toEqual(['deleted', 'It was deleted since'])
  expect(of(diff('', 'a\n'))).toEqual(['changed', 'Changed by others since'])
})

it('says what a decision is made on, of each', () => {
  expect(changedWords(undefined, 'changed')).toEqual({
    title: 'Changed since this was asked.',
    words:
      'What the step acts on is no longer as it was. Approving does what “As it is now” shows, and the decision says that you were shown it.',
  })
  expect(changedWords(undefined, 'same').words).toMatch(/^What the step would do is no longer what it was\./)
  expect(changedWords(decision, 'changed').words).toMatch(
    /^What the step acts on was no longer as it had been; it was decided on/,
  )
  expect(changedWords(undefined, 'deleted')).toEqual({
    title: 'It was deleted since this was asked.',
    words: 'Approving makes it anew, as “As it is now” shows, and the decision says that you were shown it.',
  })
})
