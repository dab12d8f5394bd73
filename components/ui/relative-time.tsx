'use client'
import { absoluteTime, ago, countdown, duration, utcTime } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { useNow } from '@/lib/ui/now'
import { useOpened } from '@/lib/ui/opened'
import { cx } from './cx'

/**
 * "6 min ago", with the moment itself on hover; in an opened bundle, which is read whenever, the moment itself. `at` in
 * ms since the epoch.
 */
export function RelativeTime({ at, className }: { at: number; className?: string }) {
  const now = useNow()
  const hydrated = useHydrated()
  const opened = useOpened() !== undefined
  const moment = hydrated ? absoluteTime(at) : undefined
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={moment}
      className={cx('num whitespace-nowrap', className)}
      suppressHydrationWarning
    >
      {opened ? (moment ?? utcTime(at)) : ago(at, now)}
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
