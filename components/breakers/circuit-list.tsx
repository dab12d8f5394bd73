'use client'
import { useState } from 'react'
import { cx } from '@/components/ui/cx'
import { count } from '@/lib/ui/format-time'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { breakerWords, noCallsWords } from '@/lib/view/circuit-words'
import { BreakerShape, breakerLooks } from './breaker-mark'
import { RateSpark } from './rate-chart'
import { nameOf, percentNumber, underState } from './words'

/** Closed ones at 0 % beyond so many rows are told in one line. */
const quietRows = 30

/** Every breaker as a row: who is called, how it stands, its rate against the threshold. What needs somebody comes first. */
export function CircuitList({
  rows,
  now,
  selected,
  onSelect,
}: {
  rows: readonly CircuitRow[]
  /** By the server's clock. */
  now: number
  selected: string | undefined
  onSelect: (id: string) => void
}) {
  const [all, setAll] = useState(false)
  const called = rows.find(({ id }) => id === selected)?.downstream.id
  // Whoever calls the chosen one is listed: on the map, their lines run into one.
  const isQuiet = (row: CircuitRow) =>
    row.shown === 'closed' && row.errorRate === 0 && row.downstream.id !== called
  const told = all ? rows : rows.filter((row, at) => at < quietRows || !isQuiet(row))
  const left = rows.length - told.length
  const first = rows[0]
  const alike = rows.every((row) => row.windowS === first?.windowS && row.threshold === first?.threshold)
  return (
    <table className="w-full border-separate border-spacing-0" aria-label="Breakers">
      <thead>
        <tr className="h-7 text-left text-t1 text-ink-3 [&>th]:border-b [&>th]:px-2 [&>th]:font-regular">
          <th scope="col" className="pl-4!">
            Called
          </th>
          <th scope="col">State</th>
          <th scope="col" className="text-right max-xl:hidden">
            <span className="whitespace-nowrap">
              5 min
              {alike && first && <> against {percentNumber(first.threshold)} %</>}
            </span>
          </th>
          <th scope="col" className="pr-4! text-right">
            Now
          </th>
        </tr>
      </thead>
      <tbody>
        {told.map((row) => (
          <Row key={row.id} row={row} now={now} selected={row.id === selected} onSelect={onSelect} />
        ))}
        {left > 0 && (
          <tr>
            <td colSpan={4} className="h-8 border-b pl-10 pr-4 text-t1 max-md:h-12">
              <button
                type="button"
                onClick={() => setAll(true)}
                className="text-ink-3 underline decoration-line-strong underline-offset-4 hover:text-ink"
              >
                {count(left, 'more closed', 'more closed')}, at 0 %
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

function Row({
  row,
  now,
  selected,
  onSelect,
}: {
  row: CircuitRow
  now: number
  selected: boolean
  onSelect: (id: string) => void
}) {
  const look = breakerLooks[row.shown]
  const under = underState(row, now)
  const cell = 'h-11 border-b px-2 max-md:h-14'
  return (
    <tr
      onClick={() => onSelect(row.id)}
      className={cx('cursor-default hover:bg-hover', selected && 'bg-selected hover:bg-selected')}
    >
      <td className={cx(cell, 'w-[44%] py-1 pl-4')}>
        <span className="flex items-start gap-2">
          <span className="mt-0.5">
            <BreakerShape shown={row.shown} />
          </span>
          <span className="min-w-0 leading-4">
            <button
              type="button"
              // The row takes the click as well.
              onClick={(event) => {
                event.stopPropagation()
                onSelect(row.id)
              }}
              aria-pressed={selected}
              aria-label={`Open the breaker ${nameOf(row)}`}
              title={row.downstream.id}
              className="block max-w-full text-left font-medium leading-[18px] text-ink [overflow-wrap:anywhere]"
            >
              {row.downstream.name}
            </button>
            <small className="block text-t1 text-ink-3 [overflow-wrap:anywhere]" title={row.caller.id}>
              from {row.caller.name}
            </small>
          </span>
        </span>
      </td>
      <td className={cell}>
        <span className={cx('block whitespace-nowrap leading-[18px]', look.text)}>
          {breakerWords[row.shown]}
        </span>
        {under && (
          <small
            className={cx(
              'block whitespace-nowrap text-t1 leading-4 text-ink-3',
              /^[\d:]+$/.test(under) && 'num',
            )}
            suppressHydrationWarning
          >
            {under}
          </small>
        )}
      </td>
      <td className={cx(cell, 'text-right max-xl:hidden')}>
        {!row.reported && <RateSpark row={row} now={now} />}
      </td>
      <td className={cx(cell, 'num whitespace-nowrap pr-4 text-right')}>
        {row.counts.calls === 0 ? (
          <span className="text-ink-3" title={noRateWords(row)}>
            –<span className="sr-only">{noRateWords(row)}</span>
          </span>
        ) : (
          `${percentNumber(row.errorRate)} %`
        )}
      </td>
    </tr>
  )
}

function noRateWords({ reported, windowS }: CircuitRow): string {
  return reported ? 'its calls are not counted here' : noCallsWords(windowS)
}
