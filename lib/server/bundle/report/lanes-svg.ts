/** A run's timeline as an inline drawing: a lane for each step, idle time collapsed, marks above. */
import { barsBetween, marksBetween } from '@/lib/view/timeline/drawn'
import { axisBetween, breaksBetween, ScaleMaker, wholeView } from '@/lib/view/timeline/scale'
import type { DrawnBar, Lane, Mark, MarkKind, Scale, View } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'
import { html, type Markup } from './markup'
import { stateClass } from './state-shapes'
import { clock, cut, moment, span } from './words'

/** Lanes that are drawn; a run with more is told so. */
export const drawnLanesMax = 80

const labelWidth = 184
const stripWidth = 864
const laneHeight = 28
const trackHeight = 12
const tracksMax = 8
const marksHeight = 20
const axisHeight = 24
const barsPerLane = 600
const kinds: MarkKind[] = ['error', 'person', 'artifact', 'rollback']

/** The drawing of all of a run; nothing when it has no lane. */
export function lanesSvg(timeline: Timeline, label: string): Markup | undefined {
  const lanes = timeline.lanes('node').slice(0, drawnLanesMax)
  if (lanes.length === 0) return undefined
  const scale = new ScaleMaker(timeline).scale()
  const view = wholeView(stripWidth)
  const heights = lanes.map(heightOf)
  const top = axisHeight + marksHeight
  const height = top + heights.reduce((sum, one) => sum + one, 0) + 8
  let y = top
  const drawn = lanes.map((lane, at) => {
    const piece = drawnLane(lane, y, heights[at] as number, scale, view)
    y += heights[at] as number
    return piece
  })
  const width = labelWidth + stripWidth + 16
  return html`<div class="scroll"><svg role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
${axis(scale, view, height)}${gaps(scale, view, top, height)}
${kinds.map((kind) => marksBetween(timeline, kind, scale, view).map((one) => mark(one)))}
${drawn}</svg></div>`
}

function heightOf({ tracks }: Lane): number {
  return Math.max(laneHeight, Math.min(tracks.length, tracksMax) * trackHeight + 10)
}

function drawnLane(lane: Lane, y: number, height: number, scale: Scale, view: View): Markup {
  const shown = { ...lane, tracks: lane.tracks.slice(0, tracksMax) }
  const bars = barsBetween(shown, scale, view, { maxBars: barsPerLane })
  const first = y + (height - shown.tracks.length * trackHeight) / 2
  return html`<g class="lane"><line x1="0" x2="${labelWidth + stripWidth + 16}" y1="${y}" y2="${y}"/>
<text x="12" y="${y + height / 2}"><title>${lane.label}</title>${cut(lane.label, 25)}</text>
${bars.map((bar) => drawnBar(bar, first))}</g>`
}

function drawnBar({ x, width, track, shown, waitsFor, count, bar }: DrawnBar, first: number): Markup {
  const state = waitsFor === 'person' ? 'waiting' : stateClass(shown)
  const thin = waitsFor === undefined ? 0 : 3
  const took = bar.toAt === undefined ? '' : `, ${span(bar.toAt - bar.fromAt)}`
  const title = `${bar.label}${bar.visit > 1 ? `, visit ${bar.visit}` : ''}: ${bar.words}${took}${count > 1 ? `, and ${count - 1} more` : ''}`
  return html`<rect class="bar b-${state}" x="${round(labelWidth + x)}" y="${first + track * trackHeight + 2 + thin}" width="${round(Math.max(1.5, width))}" height="${8 - 2 * thin}"><title>${title}</title></rect>`
}

function mark({
  x,
  kind,
  count,
  mark: first,
}: {
  x: number
  kind: MarkKind
  count: number
  mark: Mark
}): Markup {
  const at = round(labelWidth + x)
  const middle = axisHeight + marksHeight / 2
  const title = `${moment(first.at)}: ${first.words}${count > 1 ? `, and ${count - 1} more` : ''}`
  return html`<path class="mark-${kind}" d="M${at} ${middle - 5}l4 5-4 5-4-5z"><title>${title}</title></path>`
}

function axis(scale: Scale, view: View, height: number): Markup {
  const { ticks, stepMs } = axisBetween(scale, view, 88)
  return html`<g class="axis">${ticks.map(({ x, at }) => {
    const place = round(labelWidth + x)
    const words = stepMs >= 1_000 ? clock(at) : `${clock(at)}.${String(at % 1_000).padStart(3, '0')}`
    return html`<line x1="${place}" x2="${place}" y1="${axisHeight - 4}" y2="${height}"/><text x="${place + 4}" y="12">${words}</text>`
  })}</g>`
}

function gaps(scale: Scale, view: View, top: number, height: number): Markup[] {
  return breaksBetween(scale, view).map(
    ({ x, width, lastedMs }) =>
      html`<rect class="gap" x="${round(labelWidth + x)}" y="${top}" width="${round(width)}" height="${height - top}"><title>${span(lastedMs)} in which nothing happened</title></rect>`,
  )
}

/** Tenths of a pixel: enough for the eye, and the same in every file. */
function round(px: number): number {
  return Math.round(px * 10) / 10
}
