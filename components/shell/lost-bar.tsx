'use client'
import { useEffect, useState } from 'react'
import { Button } from '@/components/ui/button'
import { CutIcon } from '@/components/ui/icons'
import { age, clockTime } from '@/lib/ui/format-time'
import { useLive } from '@/lib/ui/live'
import { useNow } from '@/lib/ui/now'

/** A reconnection within this is not worth a bar across the page. */
const graceMs = 1_500

/** Says that the picture stands still, what that means, and when it is tried again. */
export function LostBar() {
  const live = useLive()
  const lost = live.status === 'lost'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!lost) {
      setShown(false)
      return
    }
    const timer = setTimeout(() => setShown(true), graceMs)
    return () => clearTimeout(timer)
  }, [lost])
  const now = useNow(1000)
  return (
    <div aria-live="polite">
      {shown && (
        <div className="flex min-h-10 items-center gap-2 border-b border-failed-line bg-failed-wash px-4 max-md:flex-wrap max-md:py-2">
          <CutIcon className="shrink-0 text-failed-mark" />
          <b className="whitespace-nowrap text-failed-ink">Connection lost.</b>
          <span className="min-w-0 flex-1 max-md:order-last max-md:basis-full">
            {live.heardAt === undefined ? (
              'Nothing was heard from Holdpoint yet.'
            ) : (
              <>
                You see the state of <span className="num">{clockTime(live.heardAt)}</span>, resuming; runs go
                on without this page, and a decision is checked before it counts.
              </>
            )}
          </span>
          <span className="whitespace-nowrap text-ink-2 max-md:flex-1 max-md:text-right" aria-hidden="true">
            {live.retryAt !== undefined && live.retryAt > now ? (
              <>
                trying again in <span className="num">{age(live.retryAt - now).replace(/\.\d/, '')}</span>
              </>
            ) : (
              'trying now'
            )}
          </span>
          <Button size="sm" onClick={live.tryNow}>
            Try now
          </Button>
        </div>
      )}
    </div>
  )
}
