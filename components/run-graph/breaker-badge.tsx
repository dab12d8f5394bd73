'use client'
import Link from 'next/link'
import { BreakerShape } from '@/components/breakers/breaker-mark'
import { partyName } from '@/lib/base/party-name'
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
  const left = until !== undefined && until > now ? countdown(until - now) : undefined
  return (
    <Link
      href={links.breakers({ circuit: breaker.circuit })}
      className="rg-breaker nopan"
      data-shown={shown}
      aria-label={`Breaker to ${partyName(downstream)}: ${word}`}
      title={`Breaker to ${downstream}`}
    >
      <span className="rg-breaker-mark">
        <BreakerShape shown={shown} />
      </span>
      <span className="rg-breaker-word" aria-hidden="true" suppressHydrationWarning>
        {word}
        {left && <span className="num"> {left}</span>}
      </span>
    </Link>
  )
}
