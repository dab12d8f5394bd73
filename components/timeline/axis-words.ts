/*
 * The times under a film, as words: `09:12` on a minute, `:30` between minutes, `.400` within a second, the day where
 * one begins. The film's first moment in sight is said in full where there is room for it, so that the rest can be short.
 */
import { clockTime } from '@/lib/ui/format-time'
import { axisBetween } from '@/lib/view/timeline/scale'
import type { Scale, View } from '@/lib/view/timeline/terms'

export interface AxisWord {
  x: number
  text: string
  at: number
}

/** Px of a mono letter on the label size. */
export const letterPx = 7.3
const gapPx = 12
const second = 1000

/** What stands under the part of the film in sight, from left to right; no two touch. */
export function axisWords(scale: Scale, view: View): AxisWord[] {
  const { stepMs, ticks } = axisBetween(scale, view, 76)
  const first = scale.timeAt(view.from)
  const words: AxisWord[] = [{ x: 0, text: exactly(first, stepMs), at: first }]
  for (const { x, at } of ticks) {
    const before = words.at(-1) as AxisWord
    const text = roundly(at, stepMs)
    if (x + text.length * letterPx > view.widthPx + 12) continue
    if (x < before.x + before.text.length * letterPx + gapPx) continue
    words.push({ x, text, at })
  }
  return words
}

function exactly(at: number, stepMs: number): string {
  return stepMs < second ? `${clockTime(at)}.${thousandths(at)}` : clockTime(at)
}

function roundly(at: number, stepMs: number): string {
  const date = new Date(at)
  const clock = clockTime(at)
  if (at % second !== 0) return `.${thousandths(at)}`
  if (stepMs < second || date.getSeconds() !== 0) return clock.slice(5)
  const midnight = date.getHours() === 0 && date.getMinutes() === 0
  return midnight ? `${date.getDate()} ${months[date.getMonth()]}` : clock.slice(0, 5)
}

function thousandths(at: number): string {
  return String(Math.floor(at % second)).padStart(3, '0')
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
