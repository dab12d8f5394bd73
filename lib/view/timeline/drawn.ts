/*
 * What of a timeline is drawn in a view. However long the run is, there are never more things than pixels: what would
 * be narrower than one, or cover its neighbour, is drawn as one, which says how many it is and shows the worst of them.
 */
import type { ShownState } from '../shown-state'
import { lastAtMost, lastWhere } from './bounds'
import { placeAt } from './scale'
import type {
  Bar,
  Bucket,
  DrawnBar,
  DrawnMark,
  DrawnTick,
  Lane,
  Mark,
  MarkKind,
  Scale,
  Seq,
  View,
} from './terms'
import type { Timeline } from './timeline'

/** Of several bars on one pixel, the first of these is what one must not miss. */
const worstFirst: ShownState[] = [
  'failed',
  'escalated',
  'waiting',
  'rolled_back',
  'running',
  'cancelled',
  'unknown',
  'skipped',
  'pending',
  'done',
]
const rankOf = new Map(worstFirst.map((shown, rank) => [shown, rank]))

/** A view turned into numbers that are quick to use for many times in a row, oldest first. */
class Ruler {
  readonly fromAt: number
  readonly untilAt: number
  readonly #scale: Scale
  readonly #view: View

  constructor(scale: Scale, view: View) {
    this.#scale = scale
    this.#view = view
    this.fromAt = scale.timeAt(view.from)
    this.untilAt = scale.timeAt(view.to)
  }

  /** Pixels from the left edge, kept within the view. */
  x(at: number): number {
    if (at <= this.fromAt) return 0
    if (at >= this.untilAt) return this.#xOf(this.untilAt)
    return this.#xOf(at)
  }

  #xOf(at: number): number {
    const { from, to, widthPx } = this.#view
    const x = ((this.#scale.placeOf(at) - from) / (to - from)) * widthPx
    return Math.min(widthPx, Math.max(0, x))
  }

  /** The moment at a pixel. */
  at(x: number): number {
    return this.#scale.timeAt(placeAt(this.#view, x))
  }
}

/**
 * The bars of a lane in a view, at most `maxBars` and never more on a track than it has pixels. Bars that last still end
 * at `now` (ms since the epoch; the scale's end without it). Left to right within each track.
 */
export function barsBetween(
  lane: Lane,
  scale: Scale,
  view: View,
  { maxBars = 2_000, now = scale.toAt }: { maxBars?: number; now?: number } = {},
): DrawnBar[] {
  const ruler = new Ruler(scale, view)
  const drawn: DrawnBar[] = []
  const tracks = lane.tracks.slice(0, maxBars)
  // Each track may draw its part of the most there may be.
  const least = Math.max(1, (view.widthPx * tracks.length) / maxBars)
  for (const [track, bars] of tracks.entries()) drawTrack(bars, track, ruler, now, least, drawn)
  return drawn
}

function drawTrack(
  bars: readonly Bar[],
  track: number,
  ruler: Ruler,
  now: number,
  leastPx: number,
  drawn: DrawnBar[],
): void {
  let last: DrawnBar | undefined
  /** Until when a bar lies on the pixels that the last one takes: told by its times, because there may be many. */
  let sameUntil = Number.NEGATIVE_INFINITY
  for (let at = lastWhere(bars, (bar) => (bar.toAt ?? now) < ruler.fromAt) + 1; at < bars.length; at++) {
    const bar = bars[at] as Bar
    if (bar.fromAt > ruler.untilAt) return
    const endAt = Math.max(bar.fromAt, bar.toAt ?? now)
    if (last && endAt < sameUntil) {
      merge(last, bar)
      continue
    }
    const x = ruler.x(bar.fromAt)
    const endX = endAt === bar.fromAt ? x : ruler.x(endAt)
    const isNarrow = endX - x < leastPx
    if (last && x < last.x + leastPx && (isNarrow || last.width <= leastPx)) {
      merge(last, bar)
      last.width = Math.max(last.width, endX - last.x)
      continue
    }
    last = {
      x,
      width: Math.max(leastPx, endX - x),
      track,
      shown: bar.shown,
      count: 1,
      bar,
      from: bar.from,
      to: bar.to ?? bar.from,
      open: bar.to === undefined,
    }
    if (bar.waitsFor !== undefined) last.waitsFor = bar.waitsFor
    sameUntil = isNarrow ? ruler.at(x + leastPx) : Number.NEGATIVE_INFINITY
    drawn.push(last)
  }
}

function merge(into: DrawnBar, bar: Bar): void {
  into.count += 1
  into.to = bar.to ?? bar.from
  into.open ||= bar.to === undefined
  if (bar.shown === into.shown || (rankOf.get(bar.shown) ?? 0) >= (rankOf.get(into.shown) ?? 0)) return
  into.shown = bar.shown
  into.bar = bar
  if (bar.waitsFor === undefined) delete into.waitsFor
  else into.waitsFor = bar.waitsFor
}

/** The tokens in a view: ticks at least `apartPx` from each other, each with the tokens it stands for. */
export function ticksBetween(timeline: Timeline, scale: Scale, view: View, apartPx = 2): DrawnTick[] {
  const ruler = new Ruler(scale, view)
  const { times } = timeline
  const until = lastAtMost(times, ruler.untilAt)
  const drawn: DrawnTick[] = []
  for (let at = lastAtMost(times, ruler.fromAt - 1) + 1; at <= until; ) {
    const x = ruler.x(times[at] as number)
    // All that the pixels up to the next tick hold, at once; always at least this one.
    const untilAt = ruler.at(x + apartPx)
    const end = Math.max(
      at,
      Math.min(
        until,
        lastWhere(times, (time) => time < untilAt),
      ),
    )
    drawn.push({ x, from: at + 1, to: end + 1 })
    at = end + 1
  }
  return drawn
}

/** The marks of a kind in a view (of one artifact, if it is named), at least `apartPx` from each other. */
export function marksBetween(
  timeline: Timeline,
  kind: MarkKind,
  scale: Scale,
  view: View,
  { apartPx = 8, artifact }: { apartPx?: number; artifact?: string } = {},
): DrawnMark[] {
  const ruler = new Ruler(scale, view)
  const marks = artifact === undefined ? timeline.marks(kind) : timeline.artifactMarks(artifact)
  const until = lastWhere(marks, (mark) => mark.at <= ruler.untilAt)
  const drawn: DrawnMark[] = []
  for (let at = lastWhere(marks, (mark) => mark.at < ruler.fromAt) + 1; at <= until; ) {
    const mark = marks[at] as Mark
    const x = ruler.x(mark.at)
    const untilAt = ruler.at(x + apartPx)
    const end = Math.max(
      at,
      Math.min(
        until,
        lastWhere(marks, (one) => one.at < untilAt),
      ),
    )
    drawn.push({ x, kind, count: end - at + 1, mark, last: marks[end] as Mark })
    at = end + 1
  }
  return drawn
}

/** The whole run in so many columns, for a minimap. */
export function summaryOf(timeline: Timeline, scale: Scale, columns: number): Bucket[] {
  const kinds: MarkKind[] = ['transition', 'error', 'person', 'artifact', 'rollback']
  const counts = (at: number) => [
    timeline.seqAt(at),
    ...kinds.map((kind) => lastWhere(timeline.marks(kind), (mark) => mark.at <= at) + 1),
  ]
  const buckets: Bucket[] = []
  let before = [0, 0, 0, 0, 0, 0]
  for (let column = 0; column < columns; column++) {
    const fromPlace = column / columns
    const toPlace = (column + 1) / columns
    const toAt = scale.timeAt(toPlace)
    const upTo = counts(toAt)
    const [tokens = 0, transitions = 0, errors = 0, people = 0, artifacts = 0, rollbacks = 0] = upTo.map(
      (count, at) => count - (before[at] ?? 0),
    )
    const fromAt = scale.timeAt(fromPlace)
    buckets.push({
      fromPlace,
      toPlace,
      fromAt,
      toAt,
      tokens,
      transitions,
      errors,
      people,
      artifacts,
      rollbacks,
    })
    before = upTo
  }
  return buckets
}

/** The bar of a lane at a moment of the run, if one was open then; of several the one that began last. */
export function barAt(lane: Lane, seq: Seq): Bar | undefined {
  let found: Bar | undefined
  for (const bars of lane.tracks) {
    const bar = bars[lastWhere(bars, (one) => one.from <= seq)]
    const holds = bar && (bar.to === undefined || bar.to > seq)
    if (holds && (!found || bar.from > found.from)) found = bar
  }
  return found
}
