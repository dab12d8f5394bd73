'use client'
import { absoluteTime, ago, countdown, duration } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { useNow } from '@/lib/ui/now'
import { cx } from './cx'

/** "6 min ago", with the moment itself on hover. `at` in ms since the epoch. */
export function RelativeTime({ at, className }: { at: number; className?: string }) {
  const now = useNow()
  const hydrated = useHydrated()
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={hydrated ? absoluteTime(at) : undefined}
      className={cx('num whitespace-nowrap', className)}
      suppressHydrationWarning
    >
      {ago(at, now)}
    </time>
  )
}

/** Time left until `at`, counting down by the second: "30:29". Amber and bolder in its last `soonMs`, and it says when it has passed. */
export function Countdown({
  at,
  soonMs = 60_000,
  className,
}: {
  at: number
  soonMs?: number
  className?: string
}) {
  const now = useNow()
  const hydrated = useHydrated()
  const soon = at - now < soonMs
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={hydrated ? absoluteTime(at) : undefined}
      className={cx('num whitespace-nowrap', soon && 'font-medium text-waiting-ink', className)}
      suppressHydrationWarning
    >
      {at > now ? countdown(at - now) : 'deadline passed'}
    </time>
  )
}

/** How long something took, or takes so far when it has not ended. Both in ms since the epoch. */
export function Took({ from, to, className }: { from: number; to?: number | undefined; className?: string }) {
  const now = useNow()
  return (
    <span className={cx('num whitespace-nowrap', className)} suppressHydrationWarning>
      {duration(Math.max(0, (to ?? now) - from))}
    </span>
  )
}
