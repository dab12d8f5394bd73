'use client'
import Link from 'next/link'
import { Button } from '@/components/ui/button'
import { count, duration } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import type { PoolRow } from '@/lib/view/pool-wire'
import { capacityWords, placesWords, poolName } from './words'

/** One pool: what it holds, and who has how much of it. `now`: by the server's clock. */
export function PoolBlock({
  pool,
  now,
  onChange,
}: {
  pool: PoolRow
  now: number
  /** Absent: the reader may not. */
  onChange?: (() => void) | undefined
}) {
  const { name, limits, capacity, workflows } = pool
  const isHere = name === 'here'
  return (
    <section
      aria-label={poolName(pool)}
      data-pool={name}
      tabIndex={-1}
      className="ring-inside border-b px-4 py-3"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-medium">{poolName(pool)}</h2>
        {!isHere && pool.label && (
          <span className="mono min-w-0 truncate text-ink-3 max-md:order-last max-md:w-full" title={name}>
            {name}
          </span>
        )}
        <span className="flex-1" />
        <span className="tabular-nums text-ink-3 max-md:order-last max-md:w-full">
          {capacity ? capacityWords(capacity) : placesWords(pool)}
          {limits.requestsPerMinute !== undefined &&
            `, ${limits.requestsPerMinute.toLocaleString('en-US')} steps a minute for each workflow`}
        </span>
        {onChange && (
          <Button size="sm" onClick={onChange} aria-label={`Change the bounds of ${poolName(pool)}`}>
            Change…
          </Button>
        )}
      </div>
      {workflows.length > 0 && (
        <ul className="mt-2 flex flex-col">
          {workflows.map((one) => (
            <Workflow key={one.workflow} use={one} pool={pool} now={now} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Workflow({ use, pool, now }: { use: PoolRow['workflows'][number]; pool: PoolRow; now: number }) {
  const { limits, name } = pool
  const { workflow, running, queued, requests, oldestAt } = use
  const quota = limits.requestsPerMinute
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_220px_270px_200px] items-center gap-x-6 gap-y-1 py-1.5 tabular-nums max-lg:grid-cols-[minmax(0,1fr)_190px_180px_170px] max-md:grid-cols-[minmax(0,1fr)_auto] max-md:border-t max-md:py-2">
      <Link
        href={links.runs({ workflow })}
        className="truncate underline-offset-2 hover:underline max-md:py-1"
        title={workflow}
      >
        {workflow}
      </Link>
      <span className="max-md:justify-self-end">
        <Measure
          value={running}
          of={name === 'here' ? undefined : limits.connectionsPerWorkflow}
          words="at work"
        />
      </span>
      <span className={queued > 0 ? 'text-ink' : 'text-ink-3'}>
        {queued === 0
          ? 'nobody waits'
          : `${count(queued, 'step')} ${queued === 1 ? 'waits' : 'wait'}${
              oldestAt === undefined ? '' : `, the first for ${duration(Math.max(0, now - oldestAt))}`
            }`}
      </span>
      <span className="justify-self-end">
        <Measure value={requests} of={quota} words="in the last minute" />
      </span>
    </li>
  )
}

/** "3 of 32 at work", over a bar that says the same. Without a bound there is no bar. */
function Measure({ value, of, words }: { value: number; of: number | undefined; words: string }) {
  const said = value.toLocaleString('en-US')
  if (of === undefined) {
    return (
      <span className="text-ink-2">
        {said} {words}
      </span>
    )
  }
  const share = Math.min(1, value / Math.max(1, of))
  return (
    <span className="flex items-center gap-2">
      <span
        aria-hidden="true"
        className="h-1.5 w-16 shrink-0 max-md:w-8 overflow-hidden rounded-full border border-line-strong bg-well"
      >
        <span className="block h-full bg-ink-2" style={{ width: `${share * 100}%` }} />
      </span>
      <span className={share === 1 ? 'font-medium text-ink' : 'text-ink-2'}>
        {said} of {of.toLocaleString('en-US')} {words}
        {share === 1 && ', full'}
      </span>
    </span>
  )
}
