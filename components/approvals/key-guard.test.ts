import { expect, it } from 'vitest'
import { guarded } from './key-guard'

it('keeps every key that answers from a question that came by itself', () => {
  for (const key of ['a', 'x', 'd', 'n', 'p', 'e', '1', '9']) {
    expect(guarded({ type: 'keydown', key }), key).toBe('swallowed')
    expect(guarded({ type: 'keydown', key, repeat: true }), key).toBe('swallowed')
  }
})

it('ends with an act of the person, and not with a page that moves under a resting pointer', () => {
  expect(guarded({ type: 'keydown', key: 'j' })).toBe('aware')
  expect(guarded({ type: 'pointermove', movementX: 0, movementY: 2 })).toBe('aware')
  expect(guarded({ type: 'pointerdown' })).toBe('aware')
  expect(guarded({ type: 'pointermove', movementX: 0, movementY: 0 })).toBe('nothing')
  expect(guarded({ type: 'keydown', key: 'j', repeat: true })).toBe('nothing')
})
