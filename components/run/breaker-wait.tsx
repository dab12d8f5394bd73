'use client'
import Link from 'next/link'
import { BreakerShape } from '@/components/breakers/breaker-mark'
import { partyName } from '@/lib/base/party-name'
import { useCircuits } from '@/lib/ui/circuit-queries'
import { countdown } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useNow } from '@/lib/ui/now'
import type { BreakerFrame } from '@/lib/view/circuit-frame'

/** Why a step stands behind a breaker, when it tries again, and where the breaker is. */
export function BreakerWait({
  circuit,
  downstream,
  until: said,
  shown: seen = 'open',
  held = false,
  past,
}: {
  circuit: string
  downstream: string
  /** When it asks again, ms since the epoch. */
  until: number
  shown?: BreakerFrame['shown'] | undefined
  /** Its probes are held until a person answers. */
  held?: boolean | undefined
  /** It is shown as it was: what the breaker is now does not matter. */
  past: boolean
}) {
  const now = useNow()
  // The run knows its breaker by its last call; what people did to it since stands with the breaker.
  const row = useCircuits().data?.items.find(({ id }) => id === circuit)
  const live = past || row?.shown === 'closed' ? undefined : row
  const shown = live?.shown ?? seen
  const isHeld = live ? live.held && !live.forced : held
  const until = live?.forced?.until ?? said
  const name = partyName(downstream)
  return (
    <div role="note" className="mb-2 flex gap-2 rounded-r2 border border-line-strong px-3 py-2">
      <span className="mt-0.5">
        <BreakerShape shown={shown} />
      </span>
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium" suppressHydrationWarning>
          Waits for {name},{' '}
          {isHeld ? (
            'until somebody answers'
          ) : until > now ? (
            <>
              next try in <span className="num">{countdown(until - now)}</span>
            </>
          ) : (
            'next try now'
          )}
        </p>
        <p className="mt-0.5 text-ink-2">
          {isHeld ? heldWords : whyWords[shown]} Nothing was sent, and nothing is lost.{' '}
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

const heldWords = 'A person is asked before any probe goes to it.'

const whyWords: Record<BreakerFrame['shown'], string> = {
  open: 'Its calls failed too often, so a breaker refuses them for a while.',
  half_open: 'A breaker lets one call go as a probe; the others wait for its answer.',
  forced_open: 'A person holds its breaker open.',
  forced_closed: 'Its breaker is being closed.',
  closed: 'Its breaker lets calls pass again.',
}
