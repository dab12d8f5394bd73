'use client'
import { ChevronDown } from 'lucide-react'
import { Fragment, memo, useMemo } from 'react'
import { Menu, MenuChoice } from '@/components/ui/menu'
import { clockTime, duration } from '@/lib/ui/format-time'
import { useEndWords } from '@/lib/ui/opened'
import { marksBetween, ticksBetween } from '@/lib/view/timeline/drawn'
import type { DrawnBreak, DrawnMark, Scale, Seq, View } from '@/lib/view/timeline/terms'
import { axisWords, letterPx } from './axis-words'
import type { FilmDrawn } from './lanes'
import type { Moment } from './use-moment'

/** Diamonds where artifacts changed; those close together are one. The name of the line chooses one artifact out of all. */
export function ArtifactRow({
  timeline,
  scale,
  view,
  seq,
  artifact,
  onArtifact,
}: FilmDrawn & { artifact: string | undefined; onArtifact: (artifact: string | undefined) => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timeline grows in place, `seq` says so
  const marks = useMemo(
    () => marksBetween(timeline, 'artifact', scale, view, artifact === undefined ? {} : { artifact }),
    [timeline, scale, view, artifact, seq],
  )
  return (
    <div className="tl-row tl-rule">
      <span className="tl-name">
        <Menu
          align="start"
          trigger={
            <button
              type="button"
              className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 px-1 hover:text-ink"
              title="Which artifact's changes are shown and jumped to"
            >
              <span className="sr-only">Artifact shown: </span>
              <span className="min-w-0 truncate">{artifact ?? 'artifacts'}</span>
              <ChevronDown size={12} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
            </button>
          }
        >
          <MenuChoice
            label="Changes of"
            value={artifact === undefined ? 'all' : `one ${artifact}`}
            choices={[
              { value: 'all', word: 'All artifacts' },
              ...timeline.artifacts.map((name) => ({ value: `one ${name}`, word: name })),
            ]}
            onChange={(value) => onArtifact(value === 'all' ? undefined : value.slice(4))}
          />
        </Menu>
      </span>
      <div className="tl-track" data-scrub>
        {marks.map((drawn, at) => (
          <Diamond
            key={`${drawn.mark.seq} ${drawn.mark.artifact}`}
            drawn={drawn}
            roomPx={(marks[at + 1]?.x ?? view.widthPx + 12) - drawn.x}
            named={artifact === undefined}
          />
        ))}
      </div>
    </div>
  )
}

function Diamond({ drawn, roomPx, named }: { drawn: DrawnMark; roomPx: number; named: boolean }) {
  const name = named && drawn.count === 1 ? (drawn.mark.artifact ?? '') : ''
  const fits = name !== '' && name.length * letterPx + 24 < roomPx
  return (
    <button
      type="button"
      tabIndex={-1}
      className="tl-mark"
      style={{ left: drawn.x }}
      data-from={drawn.mark.seq}
      data-mark
      aria-label={markWords(drawn)}
      title={markWords(drawn)}
    >
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d="M5 .5L9.5 5 5 9.500.5 5z" />
      </svg>
      {fits && <span aria-hidden="true">{name}</span>}
    </button>
  )
}

function markWords({ count, mark, last }: DrawnMark): string {
  if (count === 1) return `${mark.words}, token ${mark.seq}`
  return `${count} changes of artifacts, tokens ${mark.seq} to ${last.seq}`
}

/** Kinds of marks that stand out among the ticks: taller, thicker, and the error red. */
const standingOut = [
  { kind: 'fork', top: 2, height: 16 },
  { kind: 'rollback', top: 3, height: 14 },
  { kind: 'breaker', top: 1, height: 18 },
  { kind: 'person', top: 2, height: 16 },
  { kind: 'error', top: 4, height: 12 },
] as const

/** A tick for each token, several that would touch as one, and the playhead's knob: the slider of the film. */
export function TokenRow({
  timeline,
  scale,
  view,
  seq,
  measure,
  shown,
  moment,
  at,
  words,
}: FilmDrawn & {
  measure: (element: HTMLElement | null) => void
  /** The token shown, when it came, and what it says. */
  shown: Seq
  moment: Moment
  at: number
  words: string
}) {
  const following = moment.at === undefined
  const end = useEndWords()
  return (
    <div className="tl-row tl-tokens">
      <span className="tl-name">tokens</span>
      <div className="tl-track" data-scrub data-tokens ref={measure}>
        <Ticks timeline={timeline} scale={scale} view={view} seq={seq} />
        <div
          role="slider"
          tabIndex={0}
          className="tl-knob"
          data-at-head="kept"
          aria-label="Moment of the run"
          aria-valuemin={1}
          aria-valuemax={Math.max(1, seq)}
          aria-valuenow={Math.max(1, shown)}
          aria-valuetext={momentWords({ shown, last: seq, at, words, following: following && end.following })}
          onKeyDown={(event) => {
            const by = { ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key]
            if (by === undefined) return
            event.preventDefault()
            const to = Math.max(1, shown + by)
            moment.goTo(to >= seq ? undefined : to)
          }}
        />
      </div>
    </div>
  )
}

/** "token 23 of 41, 09:14:31, step done, plan-failover". */
export function momentWords({
  shown,
  last,
  at,
  words,
  following,
}: {
  shown: Seq
  last: Seq
  at: number
  words: string
  /** What is said where it is the last one. */
  following: string | false
}): string {
  const place = `token ${shown} of ${last}`
  return following ? `${place}, ${following}` : [place, clockTime(at), words].filter(Boolean).join(', ')
}

const Ticks = memo(function Ticks({ timeline, scale, view, seq }: FilmDrawn) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timeline grows in place, `seq` says so
  const paths = useMemo(
    () => ({
      tokens: ticksBetween(timeline, scale, view)
        .map(({ x }) => tickAt(x, 5, 10))
        .join(''),
      marks: standingOut.map(({ kind, top, height }) => {
        const drawn = marksBetween(timeline, kind, scale, view, { apartPx: 3 })
        const path = (passing: boolean) =>
          drawn
            .filter(({ mark, last }) => passing === Boolean(mark.passing && last.passing))
            .map(({ x }) => tickAt(x, top, height))
            .join('')
        return { kind, path: path(false), passing: path(true) }
      }),
    }),
    [timeline, scale, view, seq],
  )
  return (
    <svg className="tl-ticks" width={view.widthPx} height="20" aria-hidden="true">
      <path data-line d={`M0 10.5h${view.widthPx + 16}`} />
      <path d={paths.tokens} />
      {paths.marks.map(({ kind, path, passing }) => (
        <Fragment key={kind}>
          {passing !== '' && <path data-kind={kind} data-passing d={passing} />}
          <path data-kind={kind} d={path} />
        </Fragment>
      ))}
    </svg>
  )
})

function tickAt(x: number, top: number, height: number): string {
  return `M${Math.round(x) + 0.5} ${top}v${height}`
}

/** Times under the tracks, and how long what was cut out lasted. */
export const AxisRow = memo(function AxisRow({
  scale,
  view,
  cuts,
}: {
  scale: Scale
  view: View
  cuts: readonly DrawnBreak[]
}) {
  const labels = useMemo(() => spaced(axisWords(scale, view), cuts), [scale, view, cuts])
  return (
    <div className="tl-row tl-axis">
      <span />
      <div className="tl-track" data-scrub>
        {labels.map(({ key, x, text, title }) => (
          <span key={key} style={{ left: x }} title={title}>
            {text}
          </span>
        ))}
      </div>
    </div>
  )
})

interface Placed {
  key: string
  x: number
  text: string
  title?: string
}

/** How long a cut lasted stands under it; a time that would touch it gives way. */
function spaced(labels: ReturnType<typeof axisWords>, cuts: readonly DrawnBreak[]): Placed[] {
  const said = cuts.map((cut): Placed & { to: number } => {
    const text = `↔ ${duration(cut.lastedMs)}`
    const width = text.length * letterPx
    const x = Math.max(0, cut.x + cut.width / 2 - width / 2)
    return {
      key: `cut ${cut.x}`,
      x,
      to: x + width,
      text,
      title: `Nothing happened for ${duration(cut.lastedMs)}`,
    }
  })
  const fitting = said.filter((one, at) => at === 0 || one.x > (said[at - 1]?.to ?? 0) + 8)
  const free = labels.filter(({ x, text }) => {
    const to = x + text.length * letterPx
    return fitting.every((one) => to + 8 < one.x || x > one.to + 8)
  })
  return [
    ...fitting.map(({ key, x, text, title }) => ({ key, x, text, ...(title ? { title } : {}) })),
    ...free.map(({ at, x, text }) => ({ key: `at ${at}`, x, text })),
  ]
}
