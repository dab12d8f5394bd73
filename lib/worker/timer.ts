import type { Clock } from '@/lib/base/clock'

/** Time that can be waited for. */
export interface Timer extends Clock {
  /** Resolves at `until` (ms since the epoch), or at once when the signal fires. Never throws. */
  waitUntil(until: number, signal: AbortSignal): Promise<void>
}
