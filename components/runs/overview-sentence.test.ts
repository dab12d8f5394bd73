import { describe, expect, it } from 'vitest'
import { overviewSentence } from './overview-sentence'

const none = { waiting: 0, failing: 0, running: 0, resting: 0, toChoose: 0, endedToday: 0 }

describe('the sentence of the overview', () => {
  it('says first what needs a person', () => {
    expect(overviewSentence({ ...none, waiting: 1, failing: 2, running: 1, endedToday: 4 })).toBe(
      '1 question waits for a person, 2 runs have failed, 1 is running.',
    )
  })
  it('says when nothing does', () => {
    expect(overviewSentence({ ...none, endedToday: 1 })).toBe('Nothing needs you, 1 run ended today.')
  })
  it('counts apart what stands still for no person', () => {
    expect(overviewSentence({ ...none, resting: 2, toChoose: 1, running: 2 })).toBe(
      '1 rolled-back run waits for a choice, 2 runs stand still, 2 are running.',
    )
  })
  it('does not say so while a run that was rolled back waits for a choice', () => {
    expect(overviewSentence({ ...none, resting: 1, toChoose: 1 })).toBe(
      '1 rolled-back run waits for a choice, 1 run stands still, 0 runs ended today.',
    )
  })
  it('tells of a bundle as it was, and never as if it went on', () => {
    expect(overviewSentence({ ...none, waiting: 1, toChoose: 2, running: 1 }, 'was')).toBe(
      '1 question waited for a person, 2 rolled-back runs waited for a choice, 1 was running.',
    )
    expect(overviewSentence({ ...none, endedToday: 1 }, 'was')).toBe(
      'Nothing needed a person, 1 run had ended that day.',
    )
  })
})
