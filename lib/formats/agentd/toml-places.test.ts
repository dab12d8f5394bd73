import fc from 'fast-check'
import { parse } from 'smol-toml'
import { expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { locate, offsetOf } from './toml-places'
import { tomlText } from './toml-write'

/** Every number of a document with what stands at its place in the text. */
function numbersAndPlaces(text: string): [path: string, value: number, at: string][] {
  const places = locate(text)
  const found: [string, number, string][] = []
  const walk = (value: Json, path: (string | number)[]) => {
    if (typeof value === 'number')
      found.push([
        path.join('/'),
        value,
        /^[-\d.]+/.exec(text.slice(offsetOf(places, path, 'value')))?.[0] ?? '',
      ])
    else if (Array.isArray(value)) for (const [at, entry] of value.entries()) walk(entry, [...path, at])
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) walk(member, [...path, name])
  }
  walk(parse(text) as JsonObject, [])
  return found
}

it('finds values however they are written', () => {
  const found = numbersAndPlaces(`
# a = 0 "not [this]"
"na me".x = 1 # nor = this
a.b."c d".e = 2
s = """x "" y \\""" [nope] = 9 """""
'lit' = '''it''s ''''
after = 3
u = [ 4, [5, "a]b", { x = "}", y.z = [ 6,
 7 ] } ], # comment ]
 8,
]
d = { in = { deep = [ {q=9}, {q = 10} ] } }
[ x . "y" ]
k = 11
[[ l . m ]]
v = 12
[l.m.sub]
w = 13
[[l.m]]
v = 14
[[l.m.n]]
z = 15\r
[t]\r
# the end = 1\r
last = 16`)
  expect(found.map(([path]) => path)).toContain('l/m/1/n/0/z')
  expect(found).toHaveLength(16)
  for (const [, value, at] of found) expect(at).toBe(String(value))
})

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.nat(),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.boolean(),
)
const documents = fc.letrec<{ value: Json; table: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('table')),
  table: fc.dictionary(fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }), tie('value'), {
    maxKeys: 4,
  }),
})).table

it('finds every value of every document that can be written', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const text = tomlText(document)
      expect(parse(text)).toEqual(document)
      for (const [, value, at] of numbersAndPlaces(text)) expect(Number(at)).toBe(value)
    }),
    { numRuns: 500 },
  )
})

it('walks through long strings, lists and comments without memory for each character', () => {
  const many = 500_000
  for (const text of [
    `a = """${'\\"'.repeat(many)}"""\nb = 1`,
    `a = '''${"''\n".repeat(many)}'''\nb = 1`,
    `${'\n# x\n'.repeat(many)}b = 1`,
    `a = [${'1,'.repeat(many)}]\nb = 1`,
  ])
    expect(text.slice(offsetOf(locate(text), ['b'], 'name'))).toBe('b = 1')
  // No TOML at all: the walk ends, and says what it has.
  for (const text of [`b = "${'x'.repeat(many)}`, '['.repeat(many)]) expect(locate(text).at).toBe(0)
})
