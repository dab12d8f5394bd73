'use client'
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { agentName } from '@/lib/view/plain-words'
import { barsBetween } from '@/lib/view/timeline/drawn'
import type { DrawnBar, Lane, LaneBy, Scale, Seq, View } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'
import type { LedgerRow } from '@/lib/view/visit-view'
import { type Chosen, LaneRows, trackHeight } from './lane-rows'

/** Px above the first line and below the last. */
const paddingPx = 4
/** Lines above and below those in sight that are drawn already. */
const overscanPx = 60
/** Of one track and of one lane; more than anyone tells apart. Each is an element, and a dozen lanes are in sight. */
const maxBars = { track: 180, lane: 1_000 }

/** What all rows of a film are drawn from. */
export interface FilmDrawn {
  timeline: Timeline
  scale: Scale
  view: View
  /** How many tokens there are: the timeline grows in place. */
  seq: Seq
}

/** The lines with their bars. Only those in sight are in the page; the line of the token shown is scrolled to. */
export function Lanes({
  timeline,
  scale,
  view,
  seq,
  by,
  height,
  chosen,
  at,
  row,
}: FilmDrawn & {
  by: LaneBy
  /** At most so many px; the lines themselves where they need less. */
  height: number
  chosen: Chosen
  /** The token the page stands at, when it looks back. */
  at: Seq | undefined
  /** The token shown. */
  row: LedgerRow | undefined
}) {
  const scroller = useRef<HTMLElement>(null)
  const [scrolled, setScrolled] = useState({ top: 0, height: 400 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timeline grows in place, `seq` says so
  const { placed, total } = useMemo(() => stack(timeline.lanes(by)), [timeline, by, seq])
  const shownHeight = Math.min(height, total + 2 * paddingPx)

  useLayoutEffect(() => {
    const element = scroller.current
    if (element) setScrolled({ top: element.scrollTop, height: shownHeight })
  }, [shownHeight])
  const here = placed.find(({ lane }) => isLaneOf(lane, row))
  const hereTop = here?.top
  const scrolledTo = useRef(0)
  scrolledTo.current = scrolled.top
  useEffect(() => {
    if (!scroller.current || hereTop === undefined) return
    // What is known of the scrolling, not what the page says: asking it would have it laid out in the middle of a drag.
    const top = scrolledTo.current
    const bottom = hereTop + trackHeight + 2 * paddingPx
    if (hereTop < top) scroller.current.scrollTop = hereTop
    else if (bottom > top + shownHeight) scroller.current.scrollTop = bottom - shownHeight
  }, [hereTop, shownHeight])

  const inSight = placed.filter(
    ({ top, tracks }) =>
      top + tracks * trackHeight >= scrolled.top - overscanPx &&
      top <= scrolled.top + scrolled.height + overscanPx,
  )
  const overflows = total + 2 * paddingPx > shownHeight
  return (
    <section
      ref={scroller}
      aria-label={by === 'agent' ? 'Steps by agent' : 'Steps'}
      tabIndex={overflows ? 0 : undefined}
      className="tl-lanes ring-inside"
      data-by={by}
      style={{ height: shownHeight }}
      onScroll={({ currentTarget }) =>
        setScrolled({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
      }
    >
      <div style={{ position: 'relative', height: total }}>
        {inSight.map(({ lane, top }) => (
          <DrawnLane
            key={`${by} ${lane.id}`}
            lane={lane}
            top={top}
            scale={scale}
            view={view}
            seq={seq}
            chosen={chosen}
            at={at}
          />
        ))}
      </div>
    </section>
  )
}

interface Placed {
  lane: Lane
  top: number
  tracks: number
}

function stack(lanes: readonly Lane[]): { placed: Placed[]; total: number } {
  let total = 0
  const placed = lanes.map((lane) => {
    const tracks = Math.max(1, lane.tracks.length)
    const top = total
    total += tracks * trackHeight
    return { lane, top, tracks }
  })
  return { placed, total }
}

function isLaneOf(lane: Lane, row: LedgerRow | undefined): boolean {
  if (row?.node === undefined) return false
  return lane.by === 'node' ? lane.id === row.node : lane.id !== '' && lane.id === row.who
}

const DrawnLane = memo(function DrawnLane({
  lane,
  top,
  scale,
  view,
  seq,
  chosen,
  at,
}: {
  lane: Lane
  top: number
  scale: Scale
  view: View
  seq: Seq
  chosen: Chosen
  at: Seq | undefined
}) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a lane grows in place, `seq` says so
  const drawn = useMemo(
    () => barsBetween(lane, scale, view, { maxBars: barsOf(lane) }),
    [lane, scale, view, seq],
  )
  const takenBack = useMemo(() => drawn.some(({ bar }) => bar.takenBack), [drawn])
  // Only what a rollback took back looks different at different moments.
  const moment = takenBack ? at : undefined
  const bars = useMemo(() => drawn.map((one) => asAt(one, moment)), [drawn, moment])
  return (
    <LaneRows lane={lane} name={nameOf(lane)} drawn={bars} top={top} widthPx={view.widthPx} chosen={chosen} />
  )
})

function barsOf({ tracks }: Lane): number {
  return Math.min(maxBars.lane, maxBars.track * Math.max(1, tracks.length))
}

/** Before it was taken back a step was done. */
function asAt(drawn: DrawnBar, at: Seq | undefined): DrawnBar {
  const { takenBack } = drawn.bar
  if (!takenBack || at === undefined || at >= takenBack.seq || drawn.count > 1) return drawn
  return { ...drawn, shown: takenBack.from }
}

/** Steps that no agent of its own does are the installation's. */
function nameOf(lane: Lane): string {
  if (lane.by === 'node') return lane.label || lane.id
  return lane.id === '' ? 'holdpoint' : agentName(lane.id)
}
