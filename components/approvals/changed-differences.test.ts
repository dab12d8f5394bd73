import { expect, it } from 'vitest'
import type { ActionPreview } from '@/lib/view/approval-wire'
import { changedWords, differencesOf } from './changed-differences'

const diff = (before: string, after: string): ActionPreview => ({
  show: 'diff',
  title: 'bgp.conf',
  before,
  after,
})
const asked = diff('a\nb\nc\n', 'a\nb\nC\n')
const decision = { verdict: 'approve', by: 'person:ada', at: 1, comment: '', edited: false } as const

it('shows first what somebody else changed, also where the step leaves that line alone', () => {
  const now = diff('theirs\nb\nc\n', 'theirs\nb\nC\n')
  expect(differencesOf(asked, now, undefined)).toEqual([
    {
      value: 'since',
      word: 'What changed',
      preview: {
        show: 'diff',
        title: 'bgp.conf',
        before: 'a\nb\nc\n',
        after: 'theirs\nb\nc\n',
      },
    },
    { value: 'now', word: 'As it is now', preview: now },
    { value: 'asked', word: 'As asked', preview: asked },
  ])
  expect(differencesOf(asked, now, decision).map(({ word }) => word)).toEqual([
    'What changed',
    'As decided',
    'As asked',
  ])
})

it('has nothing to show of a target that is as it was', () => {
  const now = diff('a\nb\nc\n', 'a\nb\nD\n')
  expect(differencesOf(asked, now, undefined).map(({ value }) => value)).toEqual(['now', 'asked'])
  expect(differencesOf(asked, { show: 'text', title: 't', text: 'x' }, undefined)).toHaveLength(2)
})

it('says what a decision is made on, of each', () => {
  expect(changedWords(undefined, true)).toBe(
    'What the step acts on is no longer as it was. Approving does what “As it is now” shows, and the decision says that you were shown it.',
  )
  expect(changedWords(undefined, false)).toMatch(/^What the step would do is no longer what it was\./)
  expect(changedWords(decision, true)).toMatch(
    /^What the step acts on was no longer as it had been; it was decided on/,
  )
})
