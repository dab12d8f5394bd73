'use client'
import { CutIcon, LiveDot } from '@/components/ui/icons'
import { absoluteTime, age } from '@/lib/ui/format-time'
import { useLive } from '@/lib/ui/live'
import { useNow } from '@/lib/ui/now'

/** How old the picture is: "Live, as of 0.4 s ago". `brief` leaves the words to the dot, for a phone. */
export function LiveMark({ brief = false }: { brief?: boolean }) {
  const live = useLive()
  const now = useNow(live.status === 'live' ? 200 : 1000)
  const old = live.heardAt === undefined ? undefined : age(Math.max(0, now - live.heardAt))
  const word =
    live.status === 'live' ? 'Live, as of' : live.status === 'lost' ? 'Not live, as of' : 'Connecting'
  return (
    <span
      className="flex items-center gap-1.5 whitespace-nowrap text-t1 text-ink-3"
      title={live.heardAt === undefined ? 'Not connected yet' : `Last heard at ${absoluteTime(live.heardAt)}`}
    >
      {live.status === 'lost' ? (
        <CutIcon size={12} className="text-failed-mark" />
      ) : (
        <LiveDot size={12} className={live.status === 'live' ? 'text-done-mark' : 'text-ink-4'} />
      )}
      <span className={brief ? 'sr-only' : 'max-md:sr-only'}>{word}</span>
      {old && live.status !== 'connecting' && (
        <span>
          <span className="num inline-block min-w-[5ch] text-right md:min-w-0">{old}</span>
          <span className={brief ? 'sr-only' : 'max-md:sr-only'}> ago</span>
        </span>
      )}
    </span>
  )
}
