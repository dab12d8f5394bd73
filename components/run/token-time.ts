import { clockTime } from '@/lib/ui/format-time'

/** Time of day to the millisecond: `09:12:17.388`. */
export function clockMs(at: number): string {
  return `${clockTime(at)}.${String(at % 1000).padStart(3, '0')}`
}
