import { describe, expect, it } from 'vitest'
import { overviewSentence } from './overview-sentence'

describe('the sentence of the overview', () => {
  it('says first what needs a person', () => {
    expect(overviewSentence({ waiting: 1, failing: 2, running: 1, endedToday: 4 })).toBe(
      '1 question waits for a person, 2 runs have failed, 1 is running.',
    )
  })
  it('says when nothing does', () => {
    expect(overviewSentence({ waiting: 0, failing: 0, running: 0, endedToday: 1 })).toBe(
      'Nothing needs you, 1 run ended today.',
    )
  })
})
