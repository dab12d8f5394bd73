/*
 * The error rate of a breaker over time, as screens draw it: at the end of each part of its series, of the calls within
 * the window before. Where none was made there is no rate, and no line.
 */
import type { CircuitBucket, CircuitRow } from './circuit-wire'

/** The rate at a moment, 0 to 1. */
export interface RatePoint {
  at: number
  rate: number
}

/** Rates at the end of each part; the one that is under way ends at `now`. Oldest first. */
export function ratesOf(series: readonly CircuitBucket[], windowS: number, now: number): RatePoint[] {
  const partMs =
    series.length > 1 ? (series[1] as CircuitBucket).at - (series[0] as CircuitBucket).at : 10_000
  const parts = Math.max(1, Math.round((windowS * 1000) / partMs))
  const points: RatePoint[] = []
  let calls = 0
  let failures = 0
  for (const [index, part] of series.entries()) {
    calls += part.calls
    failures += part.failures
    const left = series[index - parts]
    calls -= left?.calls ?? 0
    failures -= left?.failures ?? 0
    if (calls > 0)
      points.push({ at: Math.min(part.at + partMs, Math.max(now, part.at)), rate: failures / calls })
  }
  return points
}

/** A line in pieces, those over the threshold apart: they are drawn red. Coordinates as `x` and `y` give them. */
export interface RatePieces {
  under: string
  over: string
}

/** SVG paths of the rates; a piece that crosses the threshold is cut there. */
export function ratePaths(
  points: readonly RatePoint[],
  threshold: number,
  x: (at: number) => number,
  y: (rate: number) => number,
): RatePieces {
  const paths: RatePieces = { under: '', over: '' }
  const put = (a: RatePoint, b: RatePoint) => {
    const side = (a.rate + b.rate) / 2 > threshold ? 'over' : 'under'
    paths[side] += `M${round(x(a.at))} ${round(y(a.rate))}L${round(x(b.at))} ${round(y(b.rate))}`
  }
  for (let n = 1; n < points.length; n++) {
    const [a, b] = [points[n - 1] as RatePoint, points[n] as RatePoint]
    if ((a.rate - threshold) * (b.rate - threshold) < 0) {
      const share = (threshold - a.rate) / (b.rate - a.rate)
      const cut = { at: a.at + (b.at - a.at) * share, rate: threshold }
      put(a, cut)
      put(cut, b)
    } else put(a, b)
  }
  return paths
}

/** Whether somebody should look at it. */
export function isTroubled({ shown, held }: Pick<CircuitRow, 'shown' | 'held'>): boolean {
  return shown !== 'closed' || held
}

function round(n: number): number {
  return Math.round(n * 10) / 10
}
