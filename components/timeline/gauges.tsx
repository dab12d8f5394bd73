'use client'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { duration } from '@/lib/ui/format-time'
import type { Gauge } from '@/lib/view/timeline/terms'

/** What each limit is called beside its figure. */
const names: Record<Gauge['of'], string> = {
  visits: 'This state',
  total_visits: 'All visits',
  tool_calls: 'Tool calls',
  model_tokens: 'Model tokens',
  active_time: 'Active time',
  run_time: 'Time',
  written_bytes: 'Written',
}

/** The limits of a workflow and what the run had used of them. Nothing where the workflow sets none. */
export function Gauges({ gauges, labelOf }: { gauges: readonly Gauge[]; labelOf: (node: string) => string }) {
  const bounded = gauges.filter(({ bound }) => bound !== undefined)
  if (bounded.length === 0) return null
  return (
    <section aria-label="Limits" className="mt-4">
      <h3 className="mb-1 text-t1 text-ink-3">Limits</h3>
      <Facts label={96} dense className="border-t">
        {bounded.map((gauge) => (
          <Fact
            key={gauge.of}
            label={gauge.node === undefined ? (names[gauge.of] ?? gauge.of) : labelOf(gauge.node)}
          >
            <Meter gauge={gauge} />
          </Fact>
        ))}
      </Facts>
    </section>
  )
}

function Meter({ gauge }: { gauge: Gauge }) {
  const { used, bound = 1, reached } = gauge
  const share = Math.min(1, used / Math.max(bound, 1e-9))
  return (
    <>
      <span className="flex items-baseline justify-between gap-2">
        <span>{wordsOf(gauge)}</span>
        {reached && <span className="text-t1 font-medium">used up</span>}
      </span>
      <span className="mt-1 block h-1 w-full rounded-r1 bg-selected" aria-hidden="true">
        <span
          className={`block h-1 rounded-r1 ${reached ? 'bg-ink' : 'bg-ink-4'}`}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      {gauge.of === 'active_time' && <Sub>Waiting for people is not counted.</Sub>}
    </>
  )
}

/** "visit 3 of 10", "1 m 12 s of 10 m 0 s". */
function wordsOf({ words, unit, used, bound = 0 }: Gauge): string {
  if (words !== undefined) return words
  if (unit === 'ms') return `${duration(used)} of ${duration(bound)}`
  return `${used.toLocaleString('en')} of ${bound.toLocaleString('en')}`
}
