'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { film, type PlaySpeed } from '@/lib/view/timeline/play'
import type { Scale } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'

/** The page is folded and drawn this often at most; the playhead glides in between. */
const drawEveryMs = 80

export interface Playback {
  playing: boolean
  toggle: () => void
  stop: () => void
  speed: PlaySpeed
  setSpeed: (speed: PlaySpeed) => void
}

interface Shown {
  timeline: Timeline
  scale: Scale
  /** The token shown; of a page that follows the run, the last. */
  seq: number
  /** Shows that token; nothing: now. */
  onGo: (seq: number | undefined) => void
  /** Moves the playhead between tokens, in ms since the epoch. */
  onGlide: (at: number) => void
}

/** Plays the run from the token shown to its end, where the page follows the run again. */
export function usePlayback(shown: Shown): Playback {
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<PlaySpeed>(1)
  const latest = useRef(shown)
  latest.current = shown

  useEffect(() => {
    if (!playing) return
    const { timeline, scale } = latest.current
    // Another speed begins another film from where this one is.
    const at = film(timeline, scale, latest.current.seq, speed)
    let begun: number | undefined
    let drawn = Number.NEGATIVE_INFINITY
    let frame = requestAnimationFrame(function tick(time) {
      begun ??= time
      const place = at(time - begun)
      const { seq, onGo, onGlide } = latest.current
      if (place.over) {
        onGo(undefined)
        setPlaying(false)
        return
      }
      onGlide(place.at)
      if (place.seq !== seq && time - drawn >= drawEveryMs) {
        drawn = time
        onGo(place.seq)
      }
      frame = requestAnimationFrame(tick)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, speed])

  const toggle = useCallback(() => setPlaying((was) => !was), [])
  const stop = useCallback(() => setPlaying(false), [])
  return { playing, toggle, stop, speed, setSpeed }
}
