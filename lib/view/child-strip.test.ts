import { describe, expect, it } from 'vitest'
import { childStrip } from './child-strip'

describe('the strip of a step that began runs', () => {
  it('is not there when it began none', () => {
    expect(childStrip({ total: 0, states: {} })).toBeUndefined()
  })

  it('names what needs a look first, and not those that are done', () => {
    const strip = childStrip({ total: 500, states: { done: 491, running: 8, failed: 1 } })
    expect(strip?.words).toBe('1 of 500 failed, 8 running')
    expect(strip?.marks).toEqual(['failed', 'running', 'done', 'done', 'done', 'done', 'done', 'done'])
  })

  it('has a mark for each run while they are few', () => {
    expect(childStrip({ total: 3, states: { done: 2, waiting: 1 } })?.marks).toEqual([
      'waiting',
      'done',
      'done',
    ])
  })

  it('says it plainly when all stand alike', () => {
    expect(childStrip({ total: 1, states: { waiting: 1 } })?.words).toBe('1 run waiting')
    expect(childStrip({ total: 60, states: { done: 60 } })?.words).toBe('60 runs done')
  })
})
