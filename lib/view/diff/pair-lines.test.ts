import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pairLines as pairs } from './pair-lines'
import { Work } from './work'

const pairLines = (went: string[], came: string[]) => pairs(went, came, new Work(1e6))

describe('lines that became others', () => {
  it('are paired by what they have in common', () => {
    expect(
      pairLines(['timeout 30 s', 'host a.example'], ['# moved', 'host b.example', 'timeout 60 s']),
    ).toEqual([{ from: 0, to: 2 }])
    expect(pairLines(['x = 1', 'y = 2'], ['x = 9', 'new', 'y = 3'])).toEqual([
      { from: 0, to: 0 },
      { from: 1, to: 2 },
    ])
  })
  it('are left alone when they share next to nothing', () => {
    expect(pairLines(['neighbor 10.0.0.2 shutdown'], ['route-map LP-90 permit 10'])).toEqual([])
    expect(pairLines([''], [''])).toEqual([])
  })
  it('go by their place in a hunk too long to compare', () => {
    const long = (word: string) => Array.from({ length: 200 }, (_, at) => `${word} ${at}`)
    expect(pairLines(long('a'), long('b'))).toHaveLength(200)
    expect(pairLines(long('a'), long('b').slice(1))).toEqual([])
  })
  it('never cross, and each has one partner', () => {
    const lines = fc.array(fc.array(fc.constantFrom('a', 'b', 'set', 'ip')).map((words) => words.join(' ')))
    fc.assert(
      fc.property(lines, lines, (went, came) => {
        const found = pairLines(went, came)
        for (const [index, pair] of found.entries()) {
          const next = found[index + 1]
          expect(pair.from < went.length && pair.to < came.length).toBe(true)
          if (next) expect(next.from > pair.from && next.to > pair.to).toBe(true)
        }
      }),
    )
  })
})
