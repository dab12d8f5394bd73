import { describe, expect, it } from 'vitest'
import { sideBySide, valueDiff } from './value-diff'

const utf8 = (text: string) => new TextEncoder().encode(text)
const text = (value: string, mediaType = 'text/plain') => ({ mediaType, bytes: utf8(value) })
const json = (value: unknown) => ({ mediaType: 'application/json', bytes: utf8(JSON.stringify(value)) })

describe('a diff of two values', () => {
  it('compares JSON by structure and text by line', () => {
    expect(valueDiff(json({ pass: 2 }), json({ pass: 5 }))).toMatchObject({
      by: 'structure',
      words: '1 value changed',
    })
    expect(valueDiff(text('a\nb'), text('a\nc'))).toMatchObject({
      by: 'line',
      words: '1 line changes, 1 stays',
    })
    expect(valueDiff(text('a'), text('b'))).toMatchObject({ words: '1 line changes' })
  })
  it('takes a value that is missing for missing', () => {
    const found = valueDiff(undefined, json({ pass: 2 }))
    expect(found).toMatchObject({ by: 'line', changes: 3, same: 0 })
    expect(found.rows.every((row) => row.kind === 'add')).toBe(true)
  })
  it('compares what only calls itself JSON as text', () => {
    expect(valueDiff(text('{"a": 1', 'application/json'), json({ a: 1 }))).toMatchObject({ by: 'line' })
  })
  it('shows bytes by their size and the head in hex', () => {
    const bytes = (...of: number[]) => ({ mediaType: 'application/octet-stream', bytes: new Uint8Array(of) })
    const found = valueDiff(bytes(0, 255, 65), bytes(0, 255, 66, 67))
    expect(found).toMatchObject({ by: 'bytes', words: 'bytes, 3 B to 4 B' })
    expect(found.rows[0]).toMatchObject({ kind: 'del', parts: expect.anything() })
  })
  it('falls back to lines for JSON that is too deep, and says so', () => {
    const deep = (inner: string) => `${'['.repeat(300)}${inner}${']'.repeat(300)}`
    const found = valueDiff(text(deep('1'), 'application/json'), text(deep('2'), 'application/json'))
    expect(found).toMatchObject({
      by: 'line',
      note: 'Too large or too deep to be compared by structure: compared by line.',
    })
  })
  it('stands a line beside what it became', () => {
    const rows = sideBySide(valueDiff(text('a\nx 1\nz'), text('a\nx 2\nnew\nz')).rows)
    expect(rows.map((row) => row.kind === 'pair' && [row.before?.kind, row.after?.kind])).toEqual([
      ['same', 'same'],
      ['del', 'add'],
      [undefined, 'add'],
      ['same', 'same'],
    ])
  })
})
