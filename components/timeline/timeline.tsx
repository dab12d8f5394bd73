'use client'
/*
 * The film of a run: a strip under its graph. One line for each agent or step with its phases as bars, a diamond where an
 * artifact changed, a tick for each token, the time below, and one playhead through all of it. Idle time is cut out, and
 * each cut says how long it lasted.
 *
 *   press, drag   the page goes to the token there          wheel + Ctrl   closer, farther
 *   arrows …      from token to token (use-film-keys.ts)     minimap        choose the stretch in sight
 *
 * A run may have 50,000 tokens and 2,000 lines: only lines in sight are in the page, and of each no more than it has
 * pixels (lib/view/timeline/drawn.ts). Moving the playhead draws nothing anew but the playhead.
 */
import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { breaksBetween, xOf } from '@/lib/view/timeline/scale'
import type { Scale } from '@/lib/view/timeline/terms'
import type { Timeline as RunTimeline } from '@/lib/view/timeline/timeline'
import type { LedgerRow } from '@/lib/view/visit-view'
import { FilmHead } from './film-head'
import { ArtifactRow, AxisRow, TokenRow } from './film-rows'
import type { Chosen } from './lane-rows'
import { Lanes } from './lanes'
import { Minimap } from './minimap'
import './timeline.css'
import { type FilmPrefs, useFilmPrefs } from './use-film-prefs'
import { type FilmView, useFilmView } from './use-film-view'
import type { Moment } from './use-moment'
import type { Playback } from './use-playback'
import { useScrub } from './use-scrub'

/** Below this a run is told from its ticks at a glance, and a minimap would repeat them. */
const minimapFrom = 120

/** The strip, on a screen that has room for it. */
export function Timeline({
  run,
  timeline,
  rows,
  scale,
  seq,
  clockAt,
  moment,
  playback,
  glide,
  mayFork,
  chosen,
  onChoose,
  artifact,
  onArtifact,
  labelOf,
}: {
  run: string
  timeline: RunTimeline
  rows: readonly LedgerRow[]
  scale: Scale
  /** The token shown; of a page that follows the run, the last. */
  seq: number
  /** The time of the moment shown; of a run under way that is followed, now. */
  clockAt: number
  moment: Moment
  playback: Playback
  /** Set here: moves the playhead while the film is played. */
  glide: { current: (at: number) => void }
  mayFork: boolean
  chosen: Chosen
  onChoose: (node: string, visit: number) => void
  /** The artifact whose changes are jumped to and drawn; all without. */
  artifact: string | undefined
  onArtifact: (artifact: string | undefined) => void
  labelOf: (node: string) => string
}) {
  const following = moment.at === undefined
  const film = useFilmView(scale)
  const [prefs, setPrefs] = useFilmPrefs()
  const body = useRef<HTMLDivElement>(null)
  const whole = useRef<HTMLElement>(null)

  const placeHead = useCallback(
    (at: number) => {
      const x = xOf(scale, film.view, at)
      const kept = Math.min(Math.max(x, 0), film.view.widthPx)
      // These few and no others: a property that all of the strip inherits would have all of it styled anew.
      for (const element of whole.current?.querySelectorAll<HTMLElement>('[data-at-head]') ?? []) {
        const isKnob = element.dataset.atHead === 'kept'
        element.style.left = `${isKnob ? kept : x}px`
        if (isKnob) element.dataset.out = String(x !== kept)
      }
    },
    [scale, film.view],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: what lies after the playhead is drawn only of a moment of the past
  useLayoutEffect(() => {
    if (!playback.playing) placeHead(clockAt)
  }, [placeHead, clockAt, playback.playing, following])
  useEffect(() => {
    glide.current = placeHead
  }, [glide, placeHead])
  // Whoever moves the playhead wants to see it; whoever looks elsewhere in the film meanwhile is left alone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another place of the playhead is a reason to move
  useEffect(() => {
    if (!film.isWhole) film.reveal(clockAt)
  }, [seq, following])
  useWheel(body, film)
  const scrub = useScrub({ timeline, scale, view: film.view, moment, playback, onChoose })

  const cuts = useMemo(() => breaksBetween(scale, film.view), [scale, film.view])
  const drawn = { timeline, scale, view: film.view, seq: timeline.seq }
  const empty = timeline.seq <= 1
  const by = prefs.by ?? (timeline.lanes('agent').length > 1 ? 'agent' : 'node')
  const words = tokenWords(rows[seq - 1], labelOf)
  return (
    <section ref={whole} aria-label="Timeline" className="tl" data-collapsed={prefs.collapsed}>
      {!prefs.collapsed && !empty && <HeightGrip prefs={prefs} setPrefs={setPrefs} body={body} />}
      <FilmHead
        timeline={timeline}
        seq={seq}
        run={run}
        clockAt={clockAt}
        words={words}
        moment={moment}
        playback={playback}
        mayFork={mayFork}
        film={film}
        headX={xOf(scale, film.view, clockAt)}
        by={by}
        prefs={prefs}
        setPrefs={setPrefs}
      />
      {empty ? (
        <Empty />
      ) : (
        <div ref={body} className="tl-body" {...scrub}>
          <div className="tl-under">
            {cuts.map(({ x, width }) => (
              <div key={x} className="tl-cut" style={{ left: x, width }} />
            ))}
          </div>
          {!prefs.collapsed && (
            <Lanes
              {...drawn}
              by={by}
              height={prefs.height}
              chosen={chosen}
              at={following ? undefined : seq}
              row={rows[seq - 1]}
            />
          )}
          {!prefs.collapsed && timeline.artifacts.length > 0 && (
            <ArtifactRow {...drawn} artifact={artifact} onArtifact={onArtifact} />
          )}
          <TokenRow
            {...drawn}
            measure={film.measure}
            shown={seq}
            moment={moment}
            at={clockAt}
            words={words}
          />
          {!prefs.collapsed && <AxisRow scale={scale} view={film.view} cuts={cuts} />}
          <div className="tl-over">
            <div className="tl-clip">
              {!following && <div className="tl-later" data-at-head />}
              <div className="tl-head" data-at-head />
            </div>
          </div>
        </div>
      )}
      {!empty && !prefs.collapsed && (!film.isWhole || timeline.seq >= minimapFrom) && (
        <Minimap timeline={timeline} scale={scale} film={film} seq={timeline.seq} />
      )}
    </section>
  )
}

/** What a token says, for those who hear the playhead move. */
export function tokenWords(row: LedgerRow | undefined, labelOf: (node: string) => string): string {
  if (!row) return ''
  const what = row.words ?? row.act
  return row.node === undefined ? what : `${what}, ${labelOf(row.node)}`
}

function Empty() {
  return (
    <p className="px-4 py-3 text-ink-3">
      The film of the run is drawn here as its tokens come: a bar for each step, a tick for each token. Then
      any of them can be gone back to.
    </p>
  )
}

/** The wheel moves the film: with Ctrl closer and farther around the pointer, sideways along it. */
function useWheel(body: { current: HTMLDivElement | null }, film: FilmView): void {
  const latest = useRef(film)
  latest.current = film
  useEffect(() => {
    const element = body.current
    if (!element) return
    function onWheel(event: WheelEvent) {
      const { view, zoom, pan } = latest.current
      const track = element?.querySelector('[data-tokens]')
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault()
        const x = event.clientX - (track?.getBoundingClientRect().left ?? 0)
        zoom(Math.exp(-event.deltaY * 0.0024), Math.min(Math.max(x, 0), view.widthPx))
        return
      }
      const by = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX
      if (Math.abs(by) <= Math.abs(event.shiftKey ? 0 : event.deltaY) || by === 0) return
      event.preventDefault()
      pan(by)
    }
    // React listens passively, and a page that scrolls or zooms under the film would be in the way.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [body])
}

const heights = { least: 24, most: 480, step: 20 }

/** The film's upper edge: drawn up it shows more lines. */
function HeightGrip({
  prefs,
  setPrefs,
  body,
}: {
  prefs: FilmPrefs
  setPrefs: (change: Partial<FilmPrefs>) => void
  body: { current: HTMLDivElement | null }
}) {
  const held = useRef<{ y: number; height: number }>(undefined)
  const [height, setHeight] = useState(prefs.height)
  useEffect(() => setHeight(prefs.height), [prefs.height])
  const kept = (value: number) => Math.min(heights.most, Math.max(heights.least, Math.round(value)))
  const move = (event: PointerEvent) => {
    if (held.current) setPrefs({ height: kept(held.current.height + held.current.y - event.clientY) })
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Height of the timeline"
      aria-valuemin={heights.least}
      aria-valuemax={heights.most}
      aria-valuenow={height}
      aria-valuetext={`${height} pixels for lines`}
      className="tl-grip"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const lanes = body.current?.querySelector('.tl-lanes')
        held.current = { y: event.clientY, height: lanes?.clientHeight ?? prefs.height }
      }}
      onPointerMove={move}
      onPointerUp={() => {
        held.current = undefined
      }}
      onPointerCancel={() => {
        held.current = undefined
      }}
      onKeyDown={(event) => {
        const by = { ArrowUp: heights.step, ArrowDown: -heights.step }[event.key]
        if (by === undefined) return
        event.preventDefault()
        setPrefs({ height: kept(prefs.height + by) })
      }}
    />
  )
}
