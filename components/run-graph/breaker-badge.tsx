'use client'
import Link from 'next/link'
import { BreakerShape } from '@/components/breakers/breaker-mark'
import { partyName } from '@/lib/base/party-name'
import { useCircuits } from '@/lib/ui/circuit-queries'
import { countdown } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useNow } from '@/lib/ui/now'
import type { BreakerFrame } from '@/lib/view/circuit-frame'
import { breakerWords } from '@/lib/view/circuit-words'

/** A breaker on the edges into a step, with its word and the time left below: a link to the breaker itself. */
export function BreakerBadge({ breaker }: { breaker: BreakerFrame }) {
  const { shown, downstream, until } = breaker
  const now = useNow()
  const word = breakerWords[shown]
  const isAhead = until !== undefined && until > now
  // While time is left the run does not know that people are asked meanwhile: its breaker does.
  const row = useCircuits().data?.items.find(({ id }) => id === breaker.circuit)
  const held = breaker.held === true || (isAhead && row?.held === true && !row.forced)
  const left = isAhead && !held ? countdown(until - now) : undefined
  return (
    <Link
      href={links.breakers({ circuit: breaker.circuit })}
      className="rg-breaker nopan"
      data-shown={shown}
      aria-label={`Breaker to ${partyName(downstream)}: ${word}${held ? ', its probes are held' : ''}`}
      title={`Breaker to ${downstream}`}
    >
      <span className="rg-breaker-mark">
        <BreakerShape shown={shown} />
      </span>
      <span className="rg-breaker-word" aria-hidden="true" suppressHydrationWarning>
        {word}
        {held ? ', held' : left && <span className="num"> {left}</span>}
      </span>
    </Link>
  )
}
