import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffRow, diffRows, foldRows } from './text-diff'

const text = (parts: readonly { text: string }[]) => parts.map((part) => part.text).join('')
const partsOf = (row: DiffRow | undefined) => (!row || row.kind === 'skip' ? [] : row.parts)
const marked = (rows: readonly (DiffRow | undefined)[]) =>
  rows.flatMap((row) =>
    partsOf(row)
      .filter((part) => part.changed)
      .map((part) => part.text),
  )
/** One side of the diff, put together again from its rows. */
const side = (rows: readonly DiffRow[], other: 'add' | 'del') =>
  rows.filter((row) => row.kind !== other).map((row) => text(partsOf(row)))
const lines = (count: number, word = 'line') => Array.from({ length: count }, (_, n) => `${word} ${n}`)

describe('a diff for people', () => {
  it('puts a line beside its replacement and marks the words that differ', () => {
    const { rows, changes, same } = diffRows(
      'a\nneighbor 10.0.0.6 route-map LP-90 in\nz\n',
      'a\nneighbor 10.0.0.6 route-map LP-200 in\nz\n',
    )
    expect(changes).toBe(1)
    expect(same).toBe(2)
    expect(rows.map((row) => row.kind)).toEqual(['same', 'del', 'add', 'same'])
    expect(marked([rows[1]])).toEqual(['LP-90'])
    expect(marked([rows[2]])).toEqual(['LP-200'])
  })
  it('marks the words of a rewritten line though other lines came with it', () => {
    const { rows, changes } = diffRows(
      'a\nroute-map LP-90 in\nz\n',
      'a\ndescription transit-b\nroute-map LP-200 in\nsend-community\nz\n',
    )
    expect(changes).toBe(3)
    expect(rows.map((row) => `${row.kind} ${text(partsOf(row))}`)).toEqual([
      'same a',
      'add description transit-b',
      'del route-map LP-90 in',
      'add route-map LP-200 in',
      'add send-community',
      'same z',
    ])
    expect(marked(rows)).toEqual(['LP-90', 'LP-200'])
  })
  it('folds what does not change and keeps the lines around what does', () => {
    const before = lines(40).join('\n')
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
  it('says when only the last line break differs', () => {
    expect(diffRows('a\nb\n', 'a\nb')).toMatchObject({ changes: 0, lastBreak: 'before' })
    expect(diffRows('a\nb', 'a\nb')).not.toHaveProperty('lastBreak')
  })
  it('loses no line of either text', () => {
    const line = fc.string({ maxLength: 6 }).map((s) => s.replaceAll(/[\r\n]/g, ''))
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (a, b) => {
        const { rows } = diffRows(a.map((s) => `${s}\n`).join(''), b.map((s) => `${s}\n`).join(''))
        expect(side(rows, 'add')).toEqual(a)
        expect(side(rows, 'del')).toEqual(b)
      }),
    )
  })
  it('loses no line where it has to be coarse', () => {
    const shuffled = (seed: number) =>
      lines(9_000).map((_, n) => (n % 50 === 0 ? `anchor ${n}` : `x${(n * seed) % 9_973}`))
    const [a, b] = [shuffled(7_919), shuffled(104_729)]
    const { rows, exact, same } = diffRows(a.join('\n'), b.join('\n'))
    expect(side(rows, 'add')).toEqual(a)
    expect(side(rows, 'del')).toEqual(b)
    // Lines that stand once in both still hold the two together.
    expect(same).toBeGreaterThanOrEqual(180)
    expect(typeof exact).toBe('boolean')
  })
  it('says that two long texts with nothing in common are replaced, not compared', () => {
    const found = diffRows(lines(3_000, 'a').join('\n'), lines(3_000, 'b').join('\n'))
    expect(found).toMatchObject({ exact: false, same: 0, changes: 3_000 })
  })
  it('says a long stretch that is the same with a count', () => {
    const before = lines(10_000)
    const found = diffRows(before.join('\n'), [...before, 'end'].join('\n'))
    expect(found.same).toBe(10_000)
    expect(found.rows).toHaveLength(2_002)
    expect(found.rows[1_000]).toMatchObject({ kind: 'skip', count: 8_000, before: 1_001 })
    expect(found.rows[1_001]).toMatchObject({ kind: 'same', before: 9_001 })
  })
  it('cuts a line without end to where it differs', () => {
    const long = 'x'.repeat(100_000)
    const { rows } = diffRows(`${long}A${long}`, `${long}BB${long}`)
    expect(marked(rows)).toEqual(['A', 'BB'])
    expect(partsOf(rows[0])[0]).toMatchObject({ omitted: 99_800 })
    expect(text(partsOf(rows[0])).length).toBeLessThan(500)
  })
})
