'use client'
import Link from 'next/link'
import { BreakerShape } from '@/components/breakers/breaker-mark'
import { partyName } from '@/lib/base/party-name'
import { countdown } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useNow } from '@/lib/ui/now'
import type { BreakerFrame } from '@/lib/view/circuit-frame'

/** Why a step stands behind a breaker, when it tries again, and where the breaker is. */
export function BreakerWait({
  circuit,
  downstream,
  until,
  shown = 'open',
}: {
  circuit: string
  downstream: string
  /** When it asks again, ms since the epoch. */
  until: number
  shown?: BreakerFrame['shown'] | undefined
}) {
  const now = useNow()
  const name = partyName(downstream)
  return (
    <div role="note" className="mb-2 flex gap-2 rounded-r2 border border-line-strong px-3 py-2">
      <span className="mt-0.5">
        <BreakerShape shown={shown} />
      </span>
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium" suppressHydrationWarning>
          Waits for {name},{' '}
          {until > now ? (
            <>
              next try in <span className="num">{countdown(until - now)}</span>
            </>
          ) : (
            'next try now'
          )}
        </p>
        <p className="mt-0.5 text-ink-2">
          {whyWords[shown]} Nothing was sent, and nothing is lost.{' '}
          <Link
            href={links.breakers({ circuit })}
            className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
          >
            Its breaker
          </Link>
        </p>
      </div>
    </div>
  )
}

const whyWords: Record<BreakerFrame['shown'], string> = {
  open: 'Its calls failed too often, so a breaker refuses them for a while.',
  half_open: 'A breaker lets one call go as a probe; the others wait for its answer.',
  forced_open: 'A person holds its breaker open.',
  forced_closed: 'Its breaker is being closed.',
  closed: 'Its breaker lets calls pass again.',
}
