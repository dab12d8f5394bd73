import { describe, expect, it } from 'vitest'
import { hashJson, sha256 } from '@/lib/base/hash'
import { slotDiff, slotWindow } from './slot-diff'
import { isHashOf } from './value-hash'
import { pageFrom, valueLines } from './value-pages'

const utf8 = (text: string) => new TextEncoder().encode(text)
const entries = (count: number, word = 'entry') =>
  Array.from({ length: count }, (_, n) => ({ hash: hashJson(`${word} ${n}`), mediaType: 'text/plain' }))

describe('a slot at two moments', () => {
  it('reads of a long log only what was added, and a little before it', () => {
    const all = entries(50_000)
    const found = slotWindow(all.slice(0, 49_990), all)
    expect(found).toMatchObject({ sameBefore: 49_988, leftOut: 0 })
    expect([found.before.length, found.after.length]).toEqual([2, 12])
  })
  it('is bounded where everything differs, and says how much is left out', () => {
    const found = slotWindow(entries(150, 'a'), entries(120, 'b'))
    expect([found.before.length, found.after.length, found.sameBefore, found.leftOut]).toEqual([
      100, 100, 0, 70,
    ])
  })
  it('compares entries of text as lines, of JSON as a list', () => {
    const text = (...values: string[]) =>
      values.map((one) => ({ mediaType: 'text/markdown', bytes: utf8(one) }))
    expect(slotDiff('append', text('one'), text('one', 'two'))).toMatchObject({
      words: '1 line changes, 1 stays',
    })
    const json = (...values: unknown[]) =>
      values.map((one) => ({ mediaType: 'application/json', bytes: utf8(JSON.stringify(one)) }))
    expect(slotDiff('append', json({ step: 1 }), json({ step: 1 }, { step: 2 }))).toMatchObject({
      by: 'structure',
      words: '1 added',
    })
    expect(slotDiff('replace', undefined, text('one'))).toMatchObject({ changes: 1, same: 0 })
  })
})

describe('the bytes of a value', () => {
  it('are held against the hash that the ledger names', async () => {
    expect(await isHashOf(utf8('test'), sha256('test'))).toBe(true)
    expect(await isHashOf(utf8('tesT'), sha256('test'))).toBe(false)
  })
  it('are read as lines, and a line without end is broken', () => {
    const long = valueLines('text/plain', utf8('x'.repeat(5_000)))
    expect(long.lines.map((line) => line.length)).toEqual([2_000, 2_000, 1_000])
    expect(valueLines('application/json', utf8('{"a":[1]}')).lines).toEqual([
      '{',
      '  a: [',
      '    - 1',
      '  ]',
      '}',
    ])
    expect(valueLines('image/png', new Uint8Array([0x89, 0x50, 0xff])).is).toBe('bytes')
  })
  it('are read page by page, by lines and by letters', () => {
    const pages = (lines: string[], most: { lines: number; chars: number }) => {
      const sizes: number[] = []
      for (let from = 0; from < lines.length; from += sizes.at(-1) ?? 1)
        sizes.push(pageFrom(lines, from, most).length)
      return sizes
    }
    expect(pages(['a', 'b', 'c', 'd', 'e'], { lines: 2, chars: 100 })).toEqual([2, 2, 1])
    expect(pages(['aaaa', 'bb', 'c', 'dddddd'], { lines: 9, chars: 5 })).toEqual([1, 2, 1])
  })
  it('may be JSON nested deeper than anything can be', () => {
    const deep = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`
    expect(valueLines('application/json', utf8(deep)).lines.length).toBeGreaterThan(0)
  })
})
