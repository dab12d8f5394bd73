'use client'
import { type PointerEvent, useMemo, useRef } from 'react'
import { duration } from '@/lib/ui/format-time'
import { summaryOf } from '@/lib/view/timeline/drawn'
import type { Bucket, Scale } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'
import type { FilmView } from './use-film-view'

/** Px of a column, and of the whole drawing's height. */
const columnPx = 3
const heightPx = 20

type Grip = 'from' | 'to' | 'middle' | 'new'

/**
 * The whole film in one line: how many tokens came when, and where errors and people's acts are. A stretch drawn across
 * it is what is in sight above; its ends and itself can be moved, and arrow keys move it too.
 */
export function Minimap({
  timeline,
  scale,
  film,
  seq,
}: {
  timeline: Timeline
  scale: Scale
  film: FilmView
  /** Tokens there are: a new one is drawn anew. */
  seq: number
}) {
  const { widthPx, from, to } = film.view
  const columns = Math.max(1, Math.floor(widthPx / columnPx))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timeline grows in place, `seq` says so
  const paths = useMemo(
    () => pathsOf(summaryOf(timeline, scale, columns), columns),
    [timeline, scale, columns, seq],
  )
  const held = useRef<{ grip: Grip; at: number; from: number; to: number }>(undefined)

  const placeOf = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)))
  }
  const begin = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return
    const named = event.target instanceof HTMLElement ? event.target.dataset.grip : undefined
    event.currentTarget.setPointerCapture(event.pointerId)
    held.current = { grip: (named as Grip | undefined) ?? 'new', at: placeOf(event), from, to }
  }
  const move = (event: PointerEvent<HTMLElement>) => {
    const hold = held.current
    if (!hold) return
    const by = placeOf(event) - hold.at
    switch (hold.grip) {
      case 'from':
        return film.brush(hold.from + by, hold.to)
      case 'to':
        return film.brush(hold.from, hold.to + by)
      case 'middle': {
        const moved = Math.min(Math.max(by, -hold.from), 1 - hold.to)
        return film.brush(hold.from + moved, hold.to + moved)
      }
      case 'new':
        // A press that hardly moves is no stretch.
        return Math.abs(by) * widthPx > 4 ? film.brush(hold.at, hold.at + by) : undefined
      default:
        return hold.grip satisfies never
    }
  }
  const inSight = duration(scale.activeMs * (to - from))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a pointer's way; from the keyboard the film's buttons and the slider in it do the same
    <div
      className="tl-mini"
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={() => {
        held.current = undefined
      }}
      onPointerCancel={() => {
        held.current = undefined
      }}
      onDoubleClick={film.showAll}
      title="Draw a stretch to look closer; a double click shows all"
    >
      <svg viewBox={`0 0 ${columns} ${heightPx}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={paths.tokens} />
        <path data-kind="people" d={paths.people} />
        <path data-kind="errors" d={paths.errors} />
      </svg>
      {!film.isWhole && (
        <div
          role="slider"
          tabIndex={0}
          aria-label="Part of the film in sight"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(from * 100)}
          aria-valuetext={`${inSight}, from ${Math.round(from * 100)} to ${Math.round(to * 100)} percent of the film`}
          className="tl-brush"
          data-grip="middle"
          style={{ left: `${from * 100}%`, width: `max(6px, ${(to - from) * 100}%)` }}
          onKeyDown={(event) => {
            if (event.shiftKey || event.altKey || event.metaKey || event.ctrlKey) return
            const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
            if (by === undefined) return
            event.preventDefault()
            film.pan(by * widthPx * 0.25)
          }}
        >
          <i data-grip="from" />
          <i data-grip="to" />
        </div>
      )}
    </div>
  )
}

function pathsOf(buckets: readonly Bucket[], columns: number) {
  const most = buckets.reduce((max, { tokens }) => Math.max(max, tokens), 1)
  const paths = { tokens: '', people: '', errors: '' }
  for (const [at, bucket] of buckets.entries()) {
    if (at >= columns) break
    if (bucket.tokens > 0) {
      // The root, so that one burst of tokens does not flatten all the rest.
      const height = Math.max(2, Math.round(Math.sqrt(bucket.tokens / most) * (heightPx - 4)))
      paths.tokens += `M${at} ${heightPx}v-${height}h.67v${height}z`
    }
    if (bucket.people > 0) paths.people += `M${at} 0h1v4h-1z`
    if (bucket.errors > 0) {
      const height = Math.max(4, Math.round(Math.sqrt(bucket.errors / most) * (heightPx - 4)))
      paths.errors += `M${at} ${heightPx}v-${height}h.67v${height}z`
    }
  }
  return paths
}
