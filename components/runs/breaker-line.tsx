'use client'
import Link from 'next/link'
import { BreakerMark } from '@/components/breakers/breaker-mark'
import { useCircuits } from '@/lib/ui/circuit-queries'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'

/** How many breakers let no calls pass, when any does not; nothing while all is well. */
export function BreakerLine() {
  const items = useCircuits().data?.items ?? []
  const open = items.filter(({ shown }) => shown === 'open' || shown === 'half_open').length
  const forced = items.filter(({ shown }) => shown === 'forced_open' || shown === 'forced_closed').length
  if (open + forced === 0) return null
  const words = [
    open > 0 ? `${count(open, 'breaker')} open` : '',
    forced > 0 ? (open > 0 ? `${forced} forced` : `${count(forced, 'breaker')} forced`) : '',
  ]
  return (
    <p className="border-b px-4 py-2 max-md:py-0">
      <Link
        href={links.breakers()}
        className="inline-flex items-center underline-offset-4 hover:underline max-md:min-h-12"
      >
        <BreakerMark shown={open > 0 ? 'open' : 'forced_open'}>
          {words.filter(Boolean).join(', ')}
        </BreakerMark>
      </Link>
    </p>
  )
}
