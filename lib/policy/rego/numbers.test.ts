import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  add,
  compareNumbers,
  divide,
  floor,
  multiply,
  numberOf,
  parseNumber,
  type RegoNumber,
  remainder,
  round,
  subtract,
} from './numbers'

const n = (text: string): RegoNumber => parseNumber(text) as RegoNumber

describe('numbers', () => {
  it.each<[string, RegoNumber, string]>([
    ['a sum that a double gets wrong', add(n('0.1'), n('0.2')), '0.3'],
    ['a quotient in 64 bits', divide(n('1'), n('3')), '0.33333333333333333334'],
    ['a whole quotient', divide(n('6'), n('3')), '2'],
    ['a big product', multiply(n('18446744073709551617'), n('2')), '36893488147419103234'],
    ['a large fraction', add(n('1234567.25'), n('0.25')), '1.2345675e+06'],
    ['a small fraction', multiply(n('0.00001'), n('0.5')), '5e-06'],
    ['a remainder with the dividend’s sign', remainder(n('-17'), n('5')), '-2'],
    ['half away from zero', round(n('-2.5')), '-3'],
    ['down', floor(n('-1.5')), '-2'],
    ['nothing left', subtract(n('2.5'), n('2.5')), '0'],
  ])('%s', (_what, number, text) => {
    expect(number.text).toBe(text)
  })

  it('are equal whatever their spelling, and keep it', () => {
    expect(new Set(['1', '1.0', '1e0', '10e-1', '0.1E1'].map((text) => n(text).key)).size).toBe(1)
    expect(n('1.50').text).toBe('1.50')
    for (const text of ['', '01', '1.', '.5', '+1', '1e', '0x1', 'NaN', '1e99999'])
      expect(parseNumber(text)).toBeUndefined()
  })

  it('compare as the decimals they are', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (a, b) => {
          const order = a < b ? -1 : a > b ? 1 : 0
          expect(compareNumbers(numberOf(a), numberOf(b)) + 0).toBe(order)
          expect(numberOf(a).key === numberOf(b).key).toBe(order === 0)
        },
      ),
    )
  })

  it('print what reads back to the same float', () => {
    const size = fc.double({ min: 1e-9, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(size, size, (a, b) => {
        // Each factor is its shortest decimal, half a last place from the double at most; the double's product and the
        // printed one are rounded once more: four halves of 2.2e-16 together.
        const product = Number(multiply(numberOf(a), numberOf(b)).text)
        expect(Math.abs(product - a * b)).toBeLessThanOrEqual(Math.abs(a * b) * 4.5e-16)
      }),
    )
  })
})
