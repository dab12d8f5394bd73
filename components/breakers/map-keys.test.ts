import { describe, expect, it } from 'vitest'
import { circuitTowards } from './map-keys'

const places = new Map([
  ['a', { x: 0, y: 0 }],
  ['b', { x: 0, y: 60 }],
  ['c', { x: 10, y: 200 }],
  ['far', { x: 400, y: 70 }],
])

describe('an arrow key on the map of breakers', () => {
  it('goes to the nearest circuit that way', () => {
    expect(circuitTowards('ArrowDown', 'a', places)).toBe('b')
    expect(circuitTowards('ArrowDown', 'b', places)).toBe('c')
    expect(circuitTowards('ArrowUp', 'c', places)).toBe('b')
    expect(circuitTowards('ArrowRight', 'b', places)).toBe('far')
    expect(circuitTowards('ArrowLeft', 'far', places)).toBe('b')
  })

  it('stays where nothing is that way', () => {
    expect(circuitTowards('ArrowUp', 'a', places)).toBeUndefined()
    expect(circuitTowards('Enter', 'a', places)).toBeUndefined()
  })
})
