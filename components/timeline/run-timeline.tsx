'use client'
/*
 * A run's film on its page: the strip where there is room, the slider on a phone, and the keys of both. What a key does
 * is found in the timeline's ordered lists (lib/view/timeline/navigate.ts), however long the run is.
 */
import { useContext, useMemo, useRef } from 'react'
import type { RunFold } from '@/lib/view/run-fold'
import { noteworthyBeside, transitionBeside } from '@/lib/view/timeline/navigate'
import { ScaleMaker } from '@/lib/view/timeline/scale'
import { FilmSlider } from './film-slider'
import type { Chosen } from './lane-rows'
import { Timeline, tokenWords } from './timeline'
import { useFilmKeys } from './use-film-keys'
import { MomentContext } from './use-moment'
import { usePlayback } from './use-playback'
import { useScale } from './use-scale'

export function RunTimeline({
  run,
  fold,
  live,
  mayFork,
  chosen,
  onChoose,
  artifact,
  onArtifact,
  labelOf,
  compact,
  brackets,
}: {
  run: string
  fold: RunFold
  live: boolean
  mayFork: boolean
  chosen: Chosen
  onChoose: (node: string, visit: number) => void
  artifact: string | undefined
  onArtifact: (artifact: string | undefined) => void
  labelOf: (node: string) => string
  /** On a phone. */
  compact: boolean
  /** `[` and `]` go to transitions here. */
  brackets: boolean
}) {
  const moment = useContext(MomentContext)
  const { timeline } = fold
  const last = timeline.seq
  const seq = moment.at ?? last
  const maker = useMemo(() => new ScaleMaker(timeline), [timeline])
  const scale = useScale(maker, live, moment.at === undefined)
  const glide = useRef<(at: number) => void>(() => {})
  const goTo = (to: number | undefined) =>
    moment.goTo(to === undefined || to >= last ? undefined : Math.max(1, to))
  const playback = usePlayback({
    timeline,
    scale,
    seq,
    onGo: goTo,
    onGlide: (at) => {
      if (!prefersStill()) glide.current(at)
    },
  })
  const byHand = (to: number | undefined) => {
    playback.stop()
    goTo(to)
  }
  useFilmKeys(
    {
      step: (by) => byHand(seq + by),
      jump: (by) => {
        const mark = noteworthyBeside(timeline, seq, by > 0 ? 'next' : 'previous', artifact)
        if (mark) byHand(mark.seq)
      },
      transition: brackets
        ? (by) => {
            const to = transitionBeside(timeline, seq, by > 0 ? 'next' : 'previous')
            if (to !== undefined) byHand(to)
          }
        : undefined,
      first: () => byHand(1),
      now: () => byHand(undefined),
      play: playback.toggle,
    },
    last > 1,
  )
  const clockAt = moment.at === undefined ? scale.toAt : timeline.timeOf(seq)
  if (compact) {
    return (
      <FilmSlider
        timeline={timeline}
        seq={seq}
        clockAt={clockAt}
        words={tokenWords(fold.rows[seq - 1], labelOf)}
        moment={moment}
        playback={playback}
      />
    )
  }
  return (
    <Timeline
      run={run}
      timeline={timeline}
      rows={fold.rows}
      scale={scale}
      seq={seq}
      clockAt={clockAt}
      moment={moment}
      playback={playback}
      glide={glide}
      mayFork={mayFork}
      chosen={chosen}
      onChoose={onChoose}
      artifact={artifact}
      onArtifact={onArtifact}
      labelOf={labelOf}
    />
  )
}

/** With reduced motion the playhead goes from token to token and does not glide. */
function prefersStill(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches
}
