import Link from 'next/link'
import { RelativeTime } from '@/components/ui/relative-time'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { percentNumber } from './words'

/** A breaker that an agent keeps itself: what its token says, and where that stands. No call of it was counted here. */
export function Reported({ row, told }: { row: CircuitRow; told: NonNullable<CircuitRow['reported']> }) {
  const { caller, downstream, status, errorRate, cooldownS } = row
  return (
    <div className="mt-2 text-ink-2">
      <p>
        {caller.name} says that it{' '}
        {status === 'open' ? `refuses its calls to ${downstream.name}` : `calls ${downstream.name} again`}
        {status === 'open' && errorRate > 0 && (
          <>
            ; <span className="num">{percentNumber(errorRate)} %</span> had failed
          </>
        )}
        {status === 'open' && cooldownS !== undefined && (
          <>
            , cooldown <span className="num">{cooldownS} s</span>
          </>
        )}
        .
      </p>
      <p className="text-ink-3">
        Reported <RelativeTime at={told.at} />, signed by it, in{' '}
        <Link
          href={links.run(told.run)}
          title={told.run}
          className="mono underline decoration-line-strong underline-offset-4 hover:decoration-ink"
        >
          {shortId(told.run)}
        </Link>
        . It is decided there: nobody can force it here.
      </p>
    </div>
  )
}
