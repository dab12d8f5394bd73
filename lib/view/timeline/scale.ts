/*
 * The scale of a timeline: time to place and back, with idle time collapsed.
 *
 *   time   ├─ work ─┤       3 hours until somebody answers        ├─ work ─┤
 *   place  0 ─────── 0.48 ╱╱ 0.52 ─────────────────────────────────────── 1
 *
 * Idle is a gap between two tokens of more than 20 s that stands out: it is four times as long as any gap that is not
 * idle, and drawing such gaps to scale would leave the rest less than four fifths of the strip; or it alone is longer
 * than all the rest. A run whose gaps are alike has none, however long they are. The threshold is made anew when a
 * quarter more tokens, or long gaps, have come: in between a live run's strip does not jump, and a token costs nothing.
 */
import { lastWhere } from './bounds'
import type { Break, DrawnBreak, Scale, View } from './terms'
import type { Timeline } from './timeline'

/** What no strip collapses: shorter gaps are how work looks. */
export const minIdleMs = 20_000
/** The part of the strip that one break takes, and all of them together at most. */
const breakShare = 0.03
const breaksShareAtMost = 0.3
/** Of a run that took no time at all: so that places exist. */
const leastMs = 1

/** A gap that may be a break: the token before it. */
interface Gap {
  after: number
  ms: number
}

/** Makes scales of one timeline as it grows; keep one for each timeline. */
export class ScaleMaker {
  readonly #timeline: Timeline
  readonly #gaps: Gap[] = []
  /** Ms in gaps too short to ever be breaks, all together and the longest. */
  #shortMs = 0
  #longestShortMs = 0
  #seen = 0
  #idleMs = Number.POSITIVE_INFINITY
  #madeAt = { seen: 0, gaps: 0 }
  #last: { seen: number; until: number; idleMs: number; scale: Scale } | undefined

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  /**
   * The scale up to the last token, or to `until` (ms since the epoch, a live run's now) if that is later. `idleMs` sets
   * the threshold by hand; `Infinity` collapses nothing. The same object while nothing changed.
   */
  scale({ until = 0, idleMs }: { until?: number; idleMs?: number } = {}): Scale {
    this.#read()
    const threshold = Math.max(minIdleMs, idleMs ?? this.#threshold())
    const known = this.#last
    if (known && known.seen === this.#seen && known.until === until && known.idleMs === threshold)
      return known.scale
    const scale = this.#make(until, threshold)
    this.#last = { seen: this.#seen, until, idleMs: threshold, scale }
    return scale
  }

  #read(): void {
    const { times } = this.#timeline
    for (; this.#seen < times.length; this.#seen++) {
      if (this.#seen === 0) continue
      const ms = (times[this.#seen] as number) - (times[this.#seen - 1] as number)
      if (ms > minIdleMs) this.#gaps.push({ after: this.#seen, ms })
      else {
        this.#shortMs += ms
        this.#longestShortMs = Math.max(this.#longestShortMs, ms)
      }
    }
  }

  #threshold(): number {
    const grown = this.#seen > this.#madeAt.seen * 1.25
    if (!grown && this.#gaps.length <= this.#madeAt.gaps * 1.25) return this.#idleMs
    this.#madeAt = { seen: this.#seen, gaps: this.#gaps.length }
    const long = this.#gaps.map((gap) => gap.ms).sort((a, b) => a - b)
    this.#idleMs = idleFrom(long, this.#shortMs, this.#longestShortMs)
    return this.#idleMs
  }

  #make(until: number, idleMs: number): Scale {
    const { times } = this.#timeline
    const fromAt = times[0] ?? until
    const lastAt = times.at(-1) ?? fromAt
    const toAt = Math.max(lastAt, until)
    const breaks = this.#gaps
      .filter((gap) => gap.ms > idleMs)
      .map(({ after }) => ({ fromAt: times[after - 1] as number, toAt: times[after] as number, after }))
    if (toAt - lastAt > idleMs) breaks.push({ fromAt: lastAt, toAt, after: times.length })
    return scaleOf(fromAt, toAt, breaks, idleMs)
  }
}

/** Above how many ms a gap is idle. `long` in ascending order; the short ones come to `shortMs`, the longest to `before`. */
function idleFrom(long: readonly number[], shortMs: number, before: number): number {
  let active = shortMs
  let idle = long.reduce((sum, ms) => sum + ms, 0)
  let previous = Math.max(before, 1_000)
  for (const ms of long) {
    const standsOut = ms >= previous * 4 && idle > active / 4
    // Just below it: a gap of this length is a break.
    if (active > 0 && (standsOut || ms > active)) return ms - 1
    active += ms
    idle -= ms
    previous = ms
  }
  return Number.POSITIVE_INFINITY
}

/** A scale with these breaks, which are in order and do not overlap. */
export function scaleOf(
  fromAt: number,
  toAt: number,
  gaps: readonly { fromAt: number; toAt: number; after: number }[],
  idleMs = Number.POSITIVE_INFINITY,
): Scale {
  const idle = gaps.reduce((sum, gap) => sum + gap.toAt - gap.fromAt, 0)
  const activeMs = Math.max(0, toAt - fromAt - idle)
  // Where there is nothing but breaks, they have it all.
  const most = activeMs === 0 ? 1 : breaksShareAtMost
  const share = gaps.length === 0 ? 0 : Math.min(activeMs === 0 ? 1 : breakShare, most / gaps.length)
  const breaksShare = share * gaps.length
  const perMs = (1 - breaksShare) / Math.max(activeMs, leastMs)
  const breaks: Break[] = []
  /** Active ms before each break. */
  const before: number[] = []
  let active = 0
  let from = fromAt
  for (const gap of gaps) {
    active += gap.fromAt - from
    before.push(active)
    const fromPlace = active * perMs + breaks.length * share
    breaks.push({ ...gap, fromPlace, toPlace: fromPlace + share })
    from = gap.toAt
  }
  const placeOf = (at: number): number => {
    if (at <= fromAt) return 0
    if (at >= toAt) return 1
    const index = lastWhere(breaks, (one) => one.fromAt <= at)
    const last = breaks[index]
    if (!last) return (at - fromAt) * perMs
    if (at < last.toAt) return last.fromPlace + ((at - last.fromAt) / (last.toAt - last.fromAt)) * share
    return Math.min(1, last.toPlace + (at - last.toAt) * perMs)
  }
  const timeAt = (place: number): number => {
    if (place <= 0) return fromAt
    if (place >= 1) return toAt
    const index = lastWhere(breaks, (one) => one.fromPlace <= place)
    const last = breaks[index]
    if (!last) return Math.min(toAt, fromAt + place / perMs)
    if (place < last.toPlace) {
      return (
        last.fromAt + ((place - last.fromPlace) / (last.toPlace - last.fromPlace)) * (last.toAt - last.fromAt)
      )
    }
    return Math.min(toAt, last.toAt + (place - last.toPlace) / perMs)
  }
  return { fromAt, toAt, breaks, idleMs, activeMs, placeOf, timeAt }
}

/** All of it. */
export function wholeView(widthPx: number): View {
  return { from: 0, to: 1, widthPx }
}

/** Pixels from the left edge of the view; outside of it negative, or more than its width. */
export function xOf(scale: Scale, view: View, at: number): number {
  return ((scale.placeOf(at) - view.from) / (view.to - view.from)) * view.widthPx
}

/** The moment at a pixel of the view. */
export function atOf(scale: Scale, view: View, x: number): number {
  return scale.timeAt(placeAt(view, x))
}

export function placeAt(view: View, x: number): number {
  return view.from + (x / Math.max(1, view.widthPx)) * (view.to - view.from)
}

/** The view, `factor` times as near (2 shows half as much), with what is at that pixel staying where it is. */
export function zoomed(scale: Scale, view: View, factor: number, aroundX: number): View {
  const span = Math.min(1, Math.max(leastSpan(scale), (view.to - view.from) / factor))
  const place = placeAt(view, aroundX)
  return within({ ...view, from: place - (aroundX / Math.max(1, view.widthPx)) * span }, span)
}

/** The view, moved to the right by so many pixels. */
export function panned(view: View, byPx: number): View {
  const span = view.to - view.from
  return within({ ...view, from: view.from + (byPx / Math.max(1, view.widthPx)) * span }, span)
}

/** The view between two places, as a brush says it. */
export function brushed(scale: Scale, view: View, one: number, other: number): View {
  const from = Math.min(one, other)
  const span = Math.min(1, Math.max(leastSpan(scale), Math.abs(other - one)))
  return within({ ...view, from }, span)
}

/** The view, moved no further than it must so that a moment is in it, `marginPx` from its edges. */
export function following(scale: Scale, view: View, at: number, marginPx = 24): View {
  const x = xOf(scale, view, at)
  const margin = Math.min(marginPx, view.widthPx / 2)
  if (x < margin) return panned(view, x - margin)
  return x > view.widthPx - margin ? panned(view, x - view.widthPx + margin) : view
}

/** The nearest there is to see: 20 ms across. */
function leastSpan(scale: Scale): number {
  return Math.min(1, 20 / Math.max(scale.activeMs, leastMs))
}

function within(view: View, span: number): View {
  const from = Math.min(Math.max(0, view.from), 1 - span)
  return { ...view, from, to: from + span }
}

/** Breaks in view, as they are drawn. */
export function breaksBetween(scale: Scale, view: View): DrawnBreak[] {
  const pxPerPlace = view.widthPx / (view.to - view.from)
  const drawn: DrawnBreak[] = []
  const first = Math.max(0, lastWhere(scale.breaks, (one) => one.toPlace < view.from) + 1)
  for (let at = first; at < scale.breaks.length; at++) {
    const one = scale.breaks[at] as Break
    if (one.fromPlace > view.to) break
    const from = Math.max(view.from, one.fromPlace)
    const to = Math.min(view.to, one.toPlace)
    drawn.push({
      x: (from - view.from) * pxPerPlace,
      width: (to - from) * pxPerPlace,
      lastedMs: one.toAt - one.fromAt,
    })
  }
  return drawn
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  [1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  [1, 2, 7, 14, 28].map((days) => days * 86_400_000),
)

const longestStepMs = steps.at(-1) as number

/** Round moments to write along the view, `minPx` apart at least, none within a break, and how far apart they are. */
export function axisBetween(
  scale: Scale,
  view: View,
  minPx = 64,
): { stepMs: number; ticks: { x: number; at: number }[] } {
  const most = Math.max(1, Math.floor(view.widthPx / minPx))
  // Breaks aside, the view shows so many ms.
  const shownMs = Math.max(leastMs, scale.activeMs) * (view.to - view.from)
  const stepMs =
    steps.find((step) => shownMs / step <= most) ?? longestStepMs * Math.ceil(shownMs / longestStepMs / most)
  const ticks: { x: number; at: number }[] = []
  let lastX = Number.NEGATIVE_INFINITY
  const until = scale.timeAt(view.to)
  for (let at = Math.ceil(scale.timeAt(view.from) / stepMs) * stepMs; at <= until && ticks.length <= most; ) {
    const inBreak = scale.breaks[lastWhere(scale.breaks, (one) => one.fromAt < at)]
    if (inBreak && at < inBreak.toAt) {
      at = Math.ceil(inBreak.toAt / stepMs) * stepMs
      continue
    }
    const x = xOf(scale, view, at)
    if (x - lastX >= minPx - 0.5) {
      ticks.push({ x, at })
      lastX = x
    }
    at += stepMs
  }
  return { stepMs, ticks }
}
