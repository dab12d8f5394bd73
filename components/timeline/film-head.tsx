'use client'
import { ChevronDown, ChevronUp, Minus, Plus } from 'lucide-react'
import Link from 'next/link'
import { IconButton } from '@/components/ui/button'
import { clockTime } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useEndWords } from '@/lib/ui/opened'
import type { LaneBy } from '@/lib/view/timeline/terms'
import type { Timeline } from '@/lib/view/timeline/timeline'
import { LanesChoice, quietWhenOff, SpeedChoice, TransportButtons } from './transport'
import type { FilmPrefs } from './use-film-prefs'
import type { FilmView } from './use-film-view'
import type { Moment } from './use-moment'
import type { Playback } from './use-playback'

const drawn = { size: 16, strokeWidth: 1.5, 'aria-hidden': true } as const

/** The line above the tracks: the transport, where the film is, what its marks mean, and how it is drawn. */
export function FilmHead({
  run,
  timeline,
  seq,
  clockAt,
  words,
  moment,
  playback,
  mayFork,
  film,
  headX,
  by,
  prefs,
  setPrefs,
}: {
  run: string
  timeline: Timeline
  seq: number
  /** The time of the moment shown, and what its token says. */
  clockAt: number
  words: string
  moment: Moment
  playback: Playback
  mayFork: boolean
  film: FilmView
  /** Where the playhead is, in px of the tracks; it may be out of sight. */
  headX: number
  by: LaneBy
  prefs: FilmPrefs
  setPrefs: (change: Partial<FilmPrefs>) => void
}) {
  const last = timeline.seq
  const following = moment.at === undefined
  const end = useEndWords()
  // Closer to what one looks at, which is the playhead while it is in sight.
  const around = headX >= 0 && headX <= film.view.widthPx ? headX : undefined
  return (
    <div className="flex h-10 shrink-0 items-center gap-3 overflow-hidden max-lg:gap-2 whitespace-nowrap border-b px-2">
      <TransportButtons
        seq={seq}
        last={last}
        following={following}
        playing={playback.playing}
        onGo={(to) => {
          playback.stop()
          moment.goTo(to !== undefined && to >= last ? undefined : to)
        }}
        onPlay={playback.toggle}
      />
      <SpeedChoice speed={playback.speed} onSpeed={playback.setSpeed} />
      {last > 0 && (
        <>
          <time className="font-medium" suppressHydrationWarning>
            {clockTime(clockAt)}
          </time>
          <span className="shrink-0 text-ink-3">
            token <span className="num">{seq.toLocaleString('en')}</span> of{' '}
            <span className="num">{last.toLocaleString('en')}</span>
            {following && `, ${end.following}`}
          </span>
          {!following && <span className="min-w-0 truncate text-ink-3">{words}</span>}
        </>
      )}
      {!following && mayFork && (
        <Link
          href={links.fork(run, seq)}
          className="rounded-r1 text-ink-2 underline decoration-line-strong underline-offset-4 hover:text-ink"
        >
          Fork<span className="max-lg:sr-only"> from here</span>…
        </Link>
      )}
      <span className="flex-1" />
      {following && (
        <Legend artifacts={timeline.artifacts.length > 0} breakers={timeline.marks('breaker').length > 0} />
      )}
      {/* Where there is little room, what is shown counts more than how. */}
      <span className={following ? 'flex' : 'flex max-lg:hidden'}>
        <LanesChoice by={by} onBy={(chosen) => setPrefs({ by: chosen, collapsed: false })} />
      </span>
      <span className="flex max-lg:hidden">
        <IconButton
          className={quietWhenOff}
          label="Show more of the film"
          disabled={film.isWhole}
          onClick={() => film.zoom(0.5, around)}
        >
          <Minus {...drawn} />
        </IconButton>
        <IconButton
          className={quietWhenOff}
          label="Look closer at the film"
          disabled={last <= 1}
          onClick={() => film.zoom(2, around)}
        >
          <Plus {...drawn} />
        </IconButton>
      </span>
      <span className="flex">
        <IconButton
          label={prefs.collapsed ? 'Show the lines of the timeline' : 'Fold the timeline'}
          aria-expanded={!prefs.collapsed}
          onClick={() => setPrefs({ collapsed: !prefs.collapsed })}
        >
          {prefs.collapsed ? <ChevronUp {...drawn} /> : <ChevronDown {...drawn} />}
        </IconButton>
      </span>
    </div>
  )
}

/** What the marks are, as many of them as there is room for: what does not fit is on a second line, out of sight. */
function Legend({ artifacts, breakers }: { artifacts: boolean; breakers: boolean }) {
  return (
    <span className="flex h-4 min-w-0 flex-wrap justify-end gap-x-3 overflow-hidden text-t1 text-ink-3">
      {artifacts && (
        <span className="flex items-center gap-1.5">
          <svg viewBox="0 0 10 10" className="size-2 fill-ink-2" aria-hidden="true">
            <path d="M5 .5L9.5 5 5 9.500.5 5z" />
          </svg>
          artifact changed
        </span>
      )}
      <span className="flex items-center gap-1.5">
        <i className="h-2 w-px bg-ink-3" />
        token
      </span>
      <span className="flex items-center gap-1.5">
        <i className="h-3 w-0.5 bg-ink" />a person
      </span>
      {breakers && (
        <span className="flex items-center gap-1.5">
          <i className="h-3 w-0.5 border-y-4 border-y-ink-2" />
          breaker
        </span>
      )}
      <span className="flex items-center gap-1.5">
        <i className="h-2.5 w-0.5 bg-failed-mark" />
        error
      </span>
    </span>
  )
}
