import { describe, expect, it } from 'vitest'
import { stepOnTarget } from './words'

describe('the step a question is about', () => {
  it('is named with what it acts on, and without it where nobody knows that', () => {
    expect(stepOnTarget({ label: 'Move traffic', target: 'edge-router-07' })).toBe(
      '“Move traffic” on edge-router-07',
    )
    expect(stepOnTarget({ label: 'append', target: '' })).toBe('“append”')
  })
})
