import { describe, expect, it } from 'vitest'
import { limitWords, typedNumber } from './words'

describe('limits of an agent', () => {
  it('are told as far as they differ from the usual', () => {
    expect(limitWords({})).toBe('the usual ones')
    expect(limitWords({ connections: 4, requestsPerMinute: 60 })).toBe('at most 4 at once, 60 of it a minute')
    expect(limitWords({ queuePerWorkflow: 0 })).toBe('at most 0 of it waiting')
  })

  it('are typed as whole numbers, or left out', () => {
    expect(typedNumber(' ')).toBeUndefined()
    expect(typedNumber(' 12 ')).toBe(12)
    for (const wrong of ['-1', '1.5', '1e3', 'ten', '99999999']) expect(typedNumber(wrong)).toBeNaN()
  })
})
