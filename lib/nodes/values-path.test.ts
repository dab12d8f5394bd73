import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '@/lib/base/json'
import { parsePath, valueAt, valueInside } from './values-path'

const order: Json = { id: 7, lines: [{ sku: 'a' }, { sku: 'b', none: null }], '0': 'zero', name: 'Ada' }

describe('valueAt', () => {
  test('reaches into objects and lists, with dots or brackets', () => {
    expect(valueAt(order, 'lines.1.sku')).toBe('b')
    expect(valueAt(order, 'lines[1].sku')).toBe('b')
    expect(valueAt([[1, 2], [3]], '0[1]')).toBe(2)
    expect(valueAt({ a: [[1, 2]] }, 'a[0][1]')).toBe(2)
    expect(valueAt(order, '0')).toBe('zero')
  })

  test('finds a null that is there and nothing that is not', () => {
    expect(valueAt(order, 'lines.1.none')).toBeNull()
    for (const path of [
      'lines.2',
      'lines.x',
      'lines.-1',
      'lines.01',
      'lines.1e0',
      'id.x',
      'name.0',
      'name.length',
    ]) {
      expect(valueAt(order, path)).toBeUndefined()
    }
  })

  test('takes a member of exactly that name before an index', () => {
    const diff: Json = { changed: { 'items[0]': { to: 1 } }, items: [[5]] }
    expect(valueAt(diff, 'changed.items[0].to')).toBe(1)
    expect(valueAt(diff, 'items[0][0]')).toBe(5)
    expect(valueAt(diff, 'changed.items[1].to')).toBeUndefined()
  })

  test('inside a value takes too many dots for none, and no path for all of it', () => {
    expect(valueInside(order, '')).toBe(order)
    expect(valueInside(order, '.lines..1.sku')).toBe('b')
    expect(valueInside(null, 'a')).toBeUndefined()
    expect(valueInside(['x'], '0')).toBe('x')
  })

  test('never walks a prototype', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'lines.length',
      'lines.map',
      'lines.constructor',
    ]) {
      expect(valueAt(order, path)).toBeUndefined()
    }
    expect(valueAt(JSON.parse('{"__proto__": {"own": 1}}'), '__proto__.own')).toBe(1)
  })

  test('finds every member of any value by its own path', () => {
    const key = fc.stringMatching(/^[a-z_-]{1,8}$/)
    fc.assert(
      fc.property(fc.dictionary(key, fc.array(fc.dictionary(key, fc.integer()))), (value) => {
        for (const [name, list] of Object.entries(value)) {
          list.forEach((item, at) => {
            for (const [inner, number] of Object.entries(item)) {
              expect(valueAt(value, `${name}.${at}.${inner}`)).toBe(number)
              expect(valueAt(value, `${name}[${at}].${inner}`)).toBe(number)
            }
          })
        }
      }),
    )
  })
})

describe('parsePath', () => {
  test('refuses what is not a path', () => {
    for (const text of [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a[',
      'a[]',
      'a[x]',
      'a[0]b',
      'a[0',
      '[0]',
      'a[[0]]',
      'a[-1]',
    ]) {
      expect(parsePath(text), text).toBeUndefined()
    }
  })

  test('is bounded in length and depth', () => {
    expect(parsePath('a'.repeat(1_025))).toBeUndefined()
    expect(parsePath(Array(64).fill('a').join('.'))).toHaveLength(64)
    expect(parsePath(Array(65).fill('a').join('.'))).toBeUndefined()
  })
})
