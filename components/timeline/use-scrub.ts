'use client'
import { type MouseEvent, type PointerEvent, useRef } from 'react'
import { atOf } from '@/lib/view/timeline/scale'
import type { Scale, View } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'
import type { Moment } from './use-moment'
import type { Playback } from './use-playback'

/** A pointer that moved less than this pressed, and did not drag. */
const pressPx = 4

interface Held {
  x: number
  moved: boolean
  /** The left edge of the tracks, on the screen. */
  left: number
  bar: HTMLElement | null
}

/**
 * Pressing and dragging on the tracks. A press on a bar chooses its step too; one on a diamond goes to that very token.
 * A pointer that comes as a click alone (a screen reader's) goes to where the bar begins.
 */
export function useScrub({
  timeline,
  scale,
  view,
  moment,
  playback,
  onChoose,
}: {
  timeline: Timeline
  scale: Scale
  view: View
  moment: Moment
  playback: Playback
  onChoose: (node: string, visit: number) => void
}) {
  const held = useRef<Held>(undefined)
  const frame = useRef(0)

  const go = (seq: number) => moment.goTo(seq >= timeline.seq ? undefined : Math.max(1, seq))
  const toPointer = (clientX: number, hold: Held) => {
    const seq = timeline.nearest(atOf(scale, view, clientX - hold.left))
    const bar = hold.moved ? undefined : hold.bar?.dataset
    if (bar?.from === undefined) return go(seq)
    // A press on a bar stays in it, also where it is narrower than the pointer is exact.
    const from = Number(bar.from)
    const to = bar.open === 'true' ? timeline.seq : Math.max(from, Number(bar.to))
    go(Math.min(Math.max(seq, from), to))
  }
  const choose = (bar: HTMLElement | null) => {
    const { node, visit } = bar?.dataset ?? {}
    if (node !== undefined) onChoose(node, Number(visit))
  }
  const end = () => {
    held.current = undefined
    cancelAnimationFrame(frame.current)
  }
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0 || !(event.target instanceof Element)) return
      const track = event.target.closest<HTMLElement>('[data-scrub]')
      if (!track) return
      playback.stop()
      const mark = event.target.closest<HTMLElement>('[data-mark]')
      if (mark) return go(Number(mark.dataset.from))
      const bar = event.target.closest<HTMLElement>('.tl-bar')
      held.current = { x: event.clientX, moved: false, left: track.getBoundingClientRect().left + 1, bar }
      event.currentTarget.setPointerCapture(event.pointerId)
      toPointer(event.clientX, held.current)
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const hold = held.current
      if (!hold) return
      hold.moved ||= Math.abs(event.clientX - hold.x) >= pressPx
      if (!hold.moved) return
      const { clientX } = event
      cancelAnimationFrame(frame.current)
      frame.current = requestAnimationFrame(() => toPointer(clientX, hold))
    },
    onPointerUp() {
      const hold = held.current
      if (hold && !hold.moved) choose(hold.bar)
      held.current = undefined
    },
    onPointerCancel: end,
    onClick(event: MouseEvent<HTMLElement>) {
      // `detail` counts presses of a pointer; a click without any comes from a keyboard or a screen reader.
      if (event.detail !== 0 || !(event.target instanceof Element)) return
      const found = event.target.closest<HTMLElement>('.tl-bar, [data-mark]')
      if (!found) return
      playback.stop()
      go(Number(found.dataset.from))
      choose(found)
    },
  }
}
