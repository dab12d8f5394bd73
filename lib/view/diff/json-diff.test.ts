import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { type JsonDelta, jsonDiff } from './json-diff'
import { jsonRows } from './json-rows'

/** One side of a delta, put together again: applying the diff, forwards or backwards. */
function side(delta: JsonDelta, which: 'before' | 'after'): Json {
  const gone = which === 'before' ? 'come' : 'gone'
  switch (delta.kind) {
    case 'same':
      return delta.value
    case 'changed':
      return delta[which]
    case 'array':
      return delta.items
        .filter((item) => item.kind !== gone)
        .map((item) => (item.kind === 'kept' ? side(item.delta, which) : item.value))
    case 'object':
      return Object.fromEntries(
        delta.members
          .filter((member) => member.kind !== gone)
          .map((member) => [member.name, member.kind === 'kept' ? side(member.delta, which) : member.value]),
      )
  }
}

function diff(before: Json, after: Json) {
  const found = jsonDiff(before, after)
  if (!found) throw new Error('compared by line')
  return found
}

/** The rows as text: what a person reads. */
const shown = (before: Json, after: Json) =>
  jsonRows(diff(before, after).root).rows.map((row) =>
    row.kind === 'skip'
      ? '…'
      : `${{ same: ' ', del: '-', add: '+' }[row.kind]} ${row.parts.map((part) => part.text).join('')}`,
  )

describe('a diff of two JSON values', () => {
  it('names what was added, removed and changed', () => {
    expect(shown({ commit: 'abc', old: 1, n: 5 }, { n: 5, commit: 'def', fresh: true })).toEqual([
      '  {',
      '    n: 5',
      '-   commit: "abc"',
      '+   commit: "def"',
      '-   old: 1',
      '+   fresh: true',
      '  }',
    ])
    expect(diff({ a: 1, b: 2 }, { a: 2, c: 3 })).toMatchObject({
      added: 1,
      removed: 1,
      changed: 1,
      exact: true,
    })
  })
  it('knows an item of a list again by what it is, not by its place', () => {
    const cases = ['alpha', 'beta', 'gamma'].map((name) => ({ name, status: 'fail' }))
    const after = [
      { name: 'zero', status: 'pass' },
      ...cases.map((one, n) => (n === 1 ? { ...one, status: 'pass' } : one)),
    ]
    expect(diff(cases, after)).toMatchObject({ added: 1, removed: 0, changed: 1 })
    expect(shown(cases, after).filter((row) => !row.startsWith(' '))).toEqual([
      '+   - {',
      '+     name: "zero"',
      '+     status: "pass"',
      '+   }',
      '-     status: "fail"',
      '+     status: "pass"',
    ])
  })
  it('calls values with members in another order the same', () => {
    expect(diff({ a: [{ x: 1, y: 2 }], b: 0 }, { b: 0, a: [{ y: 2, x: 1 }] })).toMatchObject({
      root: { kind: 'same' },
      changed: 0,
    })
  })
  it('tells null, false, 0, empty and missing apart', () => {
    const values: Json[] = [null, false, 0, '', [], {}]
    for (const before of values)
      for (const after of values)
        expect(diff(before, after).root.kind === 'same', JSON.stringify([before, after])).toBe(
          before === after,
        )
    expect(diff({}, { a: null })).toMatchObject({ added: 1, changed: 0 })
  })
  it('compares texts of several lines by line', () => {
    expect(shown({ log: 'one\ntwo\nthree' }, { log: 'one\n2\nthree' })).toEqual([
      '  {',
      '    log: |',
      '      one',
      '-     two',
      '+     2',
      '      three',
      '  }',
    ])
  })
  it('takes a member named __proto__ as any other', () => {
    const evil = JSON.parse('{"__proto__": {"polluted": 1}}') as JsonObject
    expect(diff({}, evil)).toMatchObject({ added: 1 })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
  it('is not made of values that are too many or too deep', () => {
    let deep: Json = 1
    for (let at = 0; at < 50_000; at++) deep = [deep]
    expect(jsonDiff(deep, 1)).toBeUndefined()
    expect(
      jsonDiff(
        Array.from({ length: 200_001 }, () => 0),
        [],
      ),
    ).toBeUndefined()
  })
  it('is bounded on lists with nothing in common, and says that it was coarse', () => {
    const list = (from: number) => Array.from({ length: 4_000 }, (_, n) => ({ id: from + n, v: n }))
    const found = diff(list(0), list(1e6))
    expect(found.exact).toBe(false)
    expect(side(found.root, 'after')).toEqual(list(1e6))
  })
  it('gives the other side when it is applied, forwards and backwards', () => {
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
    const keyed = fc.array(fc.record({ id: fc.nat(6), v: fc.nat(3), w: fc.option(fc.nat(2)) }), {
      maxLength: 8,
    })
    const either = fc.oneof(value, keyed as fc.Arbitrary<Json>)
    fc.assert(
      fc.property(either, either, (before, after) => {
        const clean = (one: Json) => JSON.parse(JSON.stringify(one)) as Json
        const [a, b] = [clean(before), clean(after)]
        const { root } = diff(a, b)
        expect(side(root, 'before')).toEqual(a)
        expect(side(root, 'after')).toEqual(b)
      }),
      { numRuns: 400 },
    )
  })
})
