/*
 * The run as a film. At 1x a second of the run takes a second; what the strip draws as a break takes half a second at
 * any speed, so that nobody watches three hours of waiting. Where the film is, is a function of the real time since it
 * began: a page that stood still for a while goes on where it should be, and no timer adds up its errors.
 */
import { lastAtMost } from './bounds'
import type { Scale, Seq } from './terms'
import type { Timeline } from './timeline'

export const playSpeeds = [1, 2, 4, 8, 16, 32, 64] as const
export type PlaySpeed = (typeof playSpeeds)[number]

/** What a break takes, at any speed. */
const breakMs = 500

/** Where the film is: the token shown, and the moment of the run between it and the next. */
export interface PlayPosition {
  seq: Seq
  at: number
  over: boolean
}

/**
 * The film from a token on, at a speed. Call the answer with the real ms since it began; a film that is at its end
 * begins with the first token again.
 */
export function film(
  timeline: Timeline,
  scale: Scale,
  from: Seq,
  speed: number,
): (elapsedMs: number) => PlayPosition {
  const { times } = timeline
  const first = from >= timeline.seq ? 1 : Math.max(1, from)
  const count = timeline.seq
  /** Real ms from the film's beginning to each token, the first token shown at 0. */
  const shownAt: number[] = []
  let real = 0
  for (let at = first - 1; at < count; at++) {
    const gap = at === first - 1 ? 0 : (times[at] as number) - (times[at - 1] as number)
    real += gap > scale.idleMs ? breakMs : gap / speed
    shownAt.push(real)
  }
  return (elapsedMs) => {
    if (count === 0) return { seq: 0, at: 0, over: true }
    const index = Math.max(0, lastAtMost(shownAt, elapsedMs))
    const seq = first + index
    const at = timeline.timeOf(seq)
    const next = shownAt[index + 1]
    if (next === undefined) return { seq, at, over: true }
    const passed =
      (elapsedMs - (shownAt[index] as number)) / Math.max(next - (shownAt[index] as number), 1e-9)
    return { seq, at: at + Math.min(1, Math.max(0, passed)) * (timeline.timeOf(seq + 1) - at), over: false }
  }
}
