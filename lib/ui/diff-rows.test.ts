import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffRows, foldRows } from './diff-rows'

const text = (parts: { text: string }[]) => parts.map((part) => part.text).join('')

describe('a diff for people', () => {
  it('puts a line beside its replacement and marks the words that differ', () => {
    const { rows, changes, same } = diffRows(
      'a\nneighbor 10.0.0.6 route-map LP-90 in\nz\n',
      'a\nneighbor 10.0.0.6 route-map LP-200 in\nz\n',
    )
    expect(changes).toBe(1)
    expect(same).toBe(2)
    expect(rows.map((row) => row.kind)).toEqual(['same', 'del', 'add', 'same'])
    expect(rows[1]?.parts.filter((part) => part.changed).map((part) => part.text)).toEqual(['LP-90'])
    expect(rows[2]?.parts.filter((part) => part.changed).map((part) => part.text)).toEqual(['LP-200'])
  })
  it('marks the words of a rewritten line though other lines came with it', () => {
    const { rows, changes } = diffRows(
      'a\nroute-map LP-90 in\nz\n',
      'a\ndescription transit-b\nroute-map LP-200 in\nsend-community\nz\n',
    )
    expect(changes).toBe(3)
    expect(rows.map((row) => `${row.kind} ${text(row.parts)}`)).toEqual([
      'same a',
      'add description transit-b',
      'del route-map LP-90 in',
      'add route-map LP-200 in',
      'add send-community',
      'same z',
    ])
    const marked = rows.flatMap((row) => row.parts.filter((part) => part.changed).map((part) => part.text))
    expect(marked).toEqual(['LP-90', 'LP-200'])
  })
  it('folds what does not change and keeps the lines around what does', () => {
    const before = Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n')
    const folded = foldRows(diffRows(before, before.replace('line 20', 'row 20')).rows, 3)
    expect(folded.map((row) => (row.kind === 'fold' ? row.rows.length : row.kind))).toEqual([
      17,
      'same',
      'same',
      'same',
      'del',
      'add',
      'same',
      'same',
      'same',
      16,
    ])
  })
  it('loses no line of either text', () => {
    const line = fc.string({ maxLength: 6 }).map((s) => s.replaceAll(/[\r\n]/g, ''))
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (a, b) => {
        const { rows } = diffRows(a.map((s) => `${s}\n`).join(''), b.map((s) => `${s}\n`).join(''))
        expect(rows.filter((row) => row.kind !== 'add').map((row) => text(row.parts))).toEqual(a)
        expect(rows.filter((row) => row.kind !== 'del').map((row) => text(row.parts))).toEqual(b)
      }),
    )
  })
})
