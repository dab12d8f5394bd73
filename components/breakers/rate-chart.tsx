'use client'
import { useMemo } from 'react'
import { clockTime } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { type RatePoint, ratePaths, ratesOf } from '@/lib/view/circuit-chart'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { noCallsWords } from '@/lib/view/circuit-words'
import { percentNumber } from './words'

const size = { width: 408, height: 96, left: 28, top: 8, bottom: 78 }

/** The error rate of the last minutes against its threshold, with the moment it opened. */
export function RateChart({ row, now }: { row: CircuitRow; now: number }) {
  const { series, threshold } = row
  const hydrated = useHydrated()
  const from = series[0]?.at ?? now - 300_000
  const points = useMemo(() => pointsOf(row, now), [row, now])
  const x = (at: number) => size.left + ((at - from) / Math.max(1, now - from)) * (size.width - size.left)
  const y = (rate: number) => size.bottom - rate * (size.bottom - size.top)
  const paths = ratePaths(points, threshold, x, y)
  const opened = row.status === 'open' && row.since > from ? row.since : undefined
  const flat = flatOf(row, from, now)
  const minutes = Math.round((now - from) / 60_000)
  const rate =
    row.counts.calls === 0 ? noCallsWords(row.windowS) : `${percentNumber(row.errorRate)} percent now`
  const words = `Error rate over ${minutes} minutes: ${rate}, against a threshold of ${percentNumber(threshold)}`
  return (
    <svg
      viewBox={`0 0 ${size.width} ${size.height}`}
      className="br-chart my-2 block w-full"
      role="img"
      aria-label={words}
    >
      {[0, 1].map((rate) => (
        <g key={rate}>
          <path className="br-grid" d={`M${size.left} ${y(rate)}H${size.width}`} />
          <text x={size.left - 6} y={y(rate) + 4} textAnchor="end">
            {rate * 100}
          </text>
        </g>
      ))}
      <path className="br-threshold" d={`M${size.left} ${y(threshold)}H${size.width}`} />
      {threshold > 0.12 && threshold < 0.88 && (
        <text className="br-strong" x={size.left - 6} y={y(threshold) + 4} textAnchor="end">
          {percentNumber(threshold)}
        </text>
      )}
      {opened !== undefined && <path className="br-trip" d={`M${x(opened)} ${size.top}V${size.bottom}`} />}
      <path className="br-rate" d={paths.under} />
      <path className="br-rate" data-over d={paths.over} />
      {flat && (
        <>
          <path className="br-flat" d={`M${x(flat.from)} ${y(row.errorRate)}H${x(flat.to)}`} />
          {flat.to === now && <circle cx={size.width - 2.5} cy={y(row.errorRate)} r="2.5" />}
        </>
      )}
      <text x={size.left} y={size.height - 4}>
        −{minutes} min
      </text>
      {opened !== undefined && hydrated && (
        <text x={labelX(x(opened))} y={size.height - 4} textAnchor="middle">
          opened {clockTime(opened)}
        </text>
      )}
      <text x={size.width} y={size.height - 4} textAnchor="end">
        now
      </text>
    </svg>
  )
}

/** Its rates; of an open breaker until it opened: no calls pass that could change the rate it opened at. */
function pointsOf(row: CircuitRow, now: number): RatePoint[] {
  const points = ratesOf(row.series, row.windowS, now)
  if (row.status !== 'open') return points
  const before = points.filter(({ at }) => at < row.since)
  return before.length === 0 ? [] : [...before, { at: row.since, rate: row.errorRate }]
}

/** How long the rate of an open breaker holds on: until the calls that opened it have left its window. */
function flatOf(row: CircuitRow, from: number, now: number): { from: number; to: number } | undefined {
  if (row.status !== 'open' || row.errorRate === 0) return undefined
  const to = Math.min(now, row.since + row.windowS * 1000)
  return to > from ? { from: Math.max(from, row.since), to } : undefined
}

/** Between the words at both ends. */
function labelX(x: number): number {
  return Math.min(Math.max(x, size.left + 116), size.width - 88)
}

const spark = { width: 72, height: 20 }

/** The same as a line among words. */
export function RateSpark({ row, now }: { row: CircuitRow; now: number }) {
  const { series, threshold } = row
  const from = series[0]?.at ?? now - 300_000
  const x = (at: number) => ((at - from) / Math.max(1, now - from)) * spark.width
  const y = (rate: number) => spark.height - 2 - rate * (spark.height - 4)
  const paths = ratePaths(pointsOf(row, now), threshold, x, y)
  const flat = flatOf(row, from, now)
  return (
    <svg
      width={spark.width}
      height={spark.height}
      viewBox={`0 0 ${spark.width} ${spark.height}`}
      className="br-chart inline-block align-middle"
      aria-hidden="true"
    >
      <path className="br-threshold" d={`M0 ${y(threshold)}H${spark.width}`} />
      <path className="br-rate" d={paths.under} />
      <path className="br-rate" data-over d={paths.over} />
      {flat && (
        <path className="br-rate" data-over d={`M${x(flat.from)} ${y(row.errorRate)}H${x(flat.to)}`} />
      )}
    </svg>
  )
}
