import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '@/lib/base/json'
import { type JsonDiff, jsonDiff } from './json-diff'

describe('jsonDiff', () => {
  test('says what was added, removed and changed, by path', () => {
    const left = { config: { timeout: 1, gone: [1] }, items: [{ name: 'a' }, { name: 'b' }, 3], same: null }
    const right = { config: { timeout: 2, new: {} }, items: [{ name: 'a' }, { name: 'c' }], same: null }
    expect(jsonDiff(left, right)).toEqual({
      added: { 'config.new': {} },
      removed: { 'config.gone': [1], 'items[2]': 3 },
      changed: { 'config.timeout': { from: 1, to: 2 }, 'items[1].name': { from: 'b', to: 'c' } },
      unchanged: false,
    })
  })

  test('never takes one type for another', () => {
    const values: Json[] = [1, '1', true, null, [1], { 1: 1 }, [], {}, '', 0, false]
    for (const left of values) {
      for (const right of values) {
        expect(jsonDiff({ v: left }, { v: right }).unchanged).toBe(left === right)
      }
    }
    expect(jsonDiff(1, '1').changed).toEqual({ $: { from: 1, to: '1' } })
    expect(jsonDiff([1], [1, 2]).added).toEqual({ '[1]': 2 })
  })

  test('knows a null that is there from nothing', () => {
    expect(jsonDiff({ a: null }, {})).toMatchObject({ removed: { a: null }, unchanged: false })
    expect(jsonDiff({}, { a: null })).toMatchObject({ added: { a: null }, unchanged: false })
  })

  test('takes any name for a name', () => {
    const left = JSON.parse('{"__proto__": 1, "constructor": 1}')
    const right = JSON.parse('{"__proto__": 2}')
    const diff = jsonDiff(left, right)
    expect(Object.entries(diff.changed)).toEqual([['__proto__', { from: 1, to: 2 }]])
    expect(Object.entries(diff.removed)).toEqual([['constructor', 1]])
    expect(jsonDiff({}, { toString: 1 }).added).toEqual({ toString: 1 })
  })

  test('applied to the left gives the right', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        const diff = jsonDiff(left, right)
        expect(applied(left, diff)).toEqual(right)
        expect(diff.unchanged).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)))
      }),
    )
  })

  test('the other way round removes what was added', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        const [there, back] = [jsonDiff(left, right), jsonDiff(right, left)]
        expect(back.removed).toEqual(there.added)
        expect(back.added).toEqual(there.removed)
        expect(Object.keys(back.changed).sort()).toEqual(Object.keys(there.changed).sort())
      }),
    )
  })

  test('ends with a refusal where the paths alone would fill memory', () => {
    const deep = (leaf: Json) => {
      let made: Json = leaf
      for (let level = 0; level < 90; level++) made = { [`level_${level}_with_a_long_name`]: made }
      return made
    }
    const wide = (start: number): Json => Array.from({ length: 20_000 }, (_, at) => at + start)
    expect(() => jsonDiff(deep(wide(0)), deep(wide(1)))).toThrow(/differ in too many places/)
  })
})

/** Any JSON value whose member names leave paths unambiguous. */
const value: fc.Arbitrary<Json> = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, 1, '', '1', 'a'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '$x'), tie('any'), { maxKeys: 3 }),
  ),
})).any

function applied(left: Json, diff: JsonDiff): Json {
  const holder: Json = { root: structuredClone(left) }
  const set = (path: string, to: Json) => {
    const { parent, key } = ends(holder, path)
    parent[key] = to
  }
  for (const [path, { to }] of Object.entries(diff.changed)) set(path, to)
  for (const [path, to] of Object.entries(diff.added)) set(path, to)
  // Last elements first: a list gets shorter from its end.
  for (const path of Object.keys(diff.removed).reverse()) {
    const { parent, key } = ends(holder, path)
    if (Array.isArray(parent)) parent.length -= 1
    else delete parent[key]
  }
  return holder.root ?? null
}

function ends(holder: Json, path: string) {
  const steps =
    path === '$'
      ? []
      : path
          .replace(/\[(\d+)\]/g, '.$1')
          .split('.')
          .filter((step) => step !== '')
  const keys = ['root', ...steps]
  let parent = holder as Record<string, Json>
  for (const key of keys.slice(0, -1)) parent = parent[key] as Record<string, Json>
  return { parent, key: keys.at(-1) ?? '' }
}

function sorted(any: Json): Json {
  if (Array.isArray(any)) return any.map(sorted)
  if (any === null || typeof any !== 'object') return any
  return Object.fromEntries(
    Object.keys(any)
      .sort()
      .map((key) => [key, sorted(any[key] ?? null)]),
  )
}
