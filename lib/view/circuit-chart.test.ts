import { describe, expect, it } from 'vitest'
import { ratePaths, ratesOf } from './circuit-chart'

const part = (n: number, calls: number, failures: number) => ({
  at: n * 10_000,
  calls,
  failures,
  rejected: 0,
  meanMs: 0,
  maxMs: 0,
})

describe('the error rate over time', () => {
  it('is of the calls within the window before each part’s end', () => {
    const series = [part(0, 4, 0), part(1, 4, 4), part(2, 0, 0), part(3, 0, 0)]
    expect(ratesOf(series, 20, 40_000)).toEqual([
      { at: 10_000, rate: 0 },
      { at: 20_000, rate: 0.5 },
      { at: 30_000, rate: 1 },
    ])
  })

  it('ends the part under way at now', () => {
    expect(ratesOf([part(0, 1, 1), part(1, 1, 0)], 10, 13_000).at(-1)).toEqual({ at: 13_000, rate: 0 })
  })

  it('is no line where no call was made', () => {
    expect(ratesOf([part(0, 0, 0), part(1, 0, 0)], 60, 20_000)).toEqual([])
  })

  it('is cut where it crosses the threshold', () => {
    const points = [
      { at: 0, rate: 0 },
      { at: 10, rate: 1 },
    ]
    expect(
      ratePaths(
        points,
        0.5,
        (at) => at,
        (rate) => 100 - rate * 100,
      ),
    ).toEqual({ under: 'M0 100L5 50', over: 'M5 50L10 0' })
  })
})
