'use client'
import { memo, useMemo } from 'react'
import { lookOf } from '@/components/ui/state'
import { duration } from '@/lib/ui/format-time'
import type { DrawnBar, Lane } from '@/lib/view/timeline/terms'
import { type PlacedWords, placeWords, shapedStates } from './bar-words'
import { widthOfText } from './text-width'

/** Px of one track. */
export const trackHeight = 20

/** The step and visit the page has selected. */
export interface Chosen {
  node: string | undefined
  visit: number | undefined
}

/** One lane: its name beside its first track, and the bars of all of them. */
export const LaneRows = memo(function LaneRows({
  lane,
  name,
  drawn,
  top,
  widthPx,
  chosen,
}: {
  lane: Lane
  name: string
  drawn: readonly DrawnBar[]
  /** Px from the top of the lanes. */
  top: number
  widthPx: number
  chosen: Chosen
}) {
  const tracks = useMemo(() => byTrack(drawn, lane.tracks.length), [drawn, lane.tracks.length])
  return tracks.map((bars, track) => (
    <Track
      // biome-ignore lint/suspicious/noArrayIndexKey: a track is its number
      key={track}
      name={track === 0 ? name : ''}
      title={lane.id}
      ownLine={lane.by === 'node'}
      bars={bars}
      top={top + track * trackHeight}
      widthPx={widthPx}
      chosen={chosen}
    />
  ))
})

function byTrack(drawn: readonly DrawnBar[], count: number): DrawnBar[][] {
  const tracks: DrawnBar[][] = Array.from({ length: Math.max(1, count) }, () => [])
  for (const bar of drawn) tracks[bar.track]?.push(bar)
  return tracks
}

function Track({
  name,
  title,
  ownLine,
  bars,
  top,
  widthPx,
  chosen,
}: {
  name: string
  title: string
  /** Named for the step whose bars it has. */
  ownLine: boolean
  bars: DrawnBar[]
  top: number
  widthPx: number
  chosen: Chosen
}) {
  const words = useMemo(() => placeWords(bars, widthPx, widthOfText, ownLine), [bars, widthPx, ownLine])
  const here = bars.some(({ bar }) => bar.node === chosen.node)
  return (
    <div className="tl-row" style={{ top }} data-here={here}>
      <span className="tl-name" title={name === '' ? undefined : title || undefined}>
        <span>{name}</span>
      </span>
      <div className="tl-track" data-scrub>
        {bars.map((drawn, at) => (
          <BarButton
            key={`${drawn.from} ${drawn.bar.node}`}
            drawn={drawn}
            words={words[at]}
            here={isChosen(drawn, chosen)}
          />
        ))}
      </div>
    </div>
  )
}

function isChosen({ bar, count }: DrawnBar, { node, visit }: Chosen): boolean {
  return count === 1 && bar.node === node && (visit === undefined || bar.visit === visit)
}

/** One bar. What a click on it does is the film's (a press there scrubs as well): it is found again by its token. */
function BarButton({
  drawn,
  words,
  here,
}: {
  drawn: DrawnBar
  words: PlacedWords | undefined
  here: boolean
}) {
  const { bar, shown, width } = drawn
  const look = lookOf(shown)
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        className="tl-bar"
        data-shown={shown}
        data-open={drawn.open}
        data-passing={bar.retried}
        data-carried={bar.carried}
        data-slim={width < 14}
        data-here={here}
        data-node={drawn.count === 1 ? bar.node : undefined}
        data-visit={bar.visit}
        data-from={drawn.from}
        data-to={drawn.to}
        style={{ left: drawn.x, width }}
        aria-label={spoken(drawn)}
        title={spoken(drawn)}
      >
        {shapedStates.has(shown) && width >= 18 && (
          <svg
            width="10"
            height="10"
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            strokeLinecap="round"
            strokeLinejoin="round"
            aria-hidden="true"
          >
            {look.shape}
          </svg>
        )}
        {words?.where === 'in' && <span aria-hidden="true">{words.text}</span>}
      </button>
      {words?.where === 'beside' && (
        <span className="tl-beside" style={{ left: words.x }} aria-hidden="true">
          {words.text}
        </span>
      )}
    </>
  )
}

/** "plan-failover, visit 2: done in 41.6 s, tokens 4 to 9". */
function spoken({ bar, count, from, to }: DrawnBar): string {
  const tokens = from === to ? `token ${from}` : `tokens ${from} to ${to}`
  if (count > 1) return `${count} phases, among them ${bar.label}: ${bar.words}; ${tokens}`
  const visit = bar.visit > 1 ? `, visit ${bar.visit}` : ''
  const took = bar.toAt === undefined ? '' : `, ${duration(bar.toAt - bar.fromAt)}`
  const carried = bar.carried ? ', taken over from the run this one was forked from' : ''
  const back = bar.takenBack ? `, taken back by token ${bar.takenBack.seq}` : ''
  return `${bar.label}${visit}: ${bar.words}${took}${carried}${back}, ${tokens}`
}
