'use client'
import { ChevronLeft, ChevronRight, Pause, Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from '@/components/ui/cx'
import { clockTime } from '@/lib/ui/format-time'
import { useEndWords } from '@/lib/ui/opened'
import type { Timeline } from '@/lib/view/timeline/timeline'
import { momentWords } from './film-rows'
import type { Moment } from './use-moment'
import type { Playback } from './use-playback'

const drawn = { size: 20, strokeWidth: 1.5, 'aria-hidden': true } as const

/** The film on a phone: one line to move along with a thumb, a token back and on, play. */
export function FilmSlider({
  timeline,
  seq,
  clockAt,
  words,
  moment,
  playback,
}: {
  timeline: Timeline
  seq: number
  clockAt: number
  /** What the token shown says. */
  words: string
  moment: Moment
  playback: Playback
}) {
  const last = timeline.seq
  const end = useEndWords()
  if (last <= 1) return null
  const following = moment.at === undefined
  const go = (to: number) => {
    playback.stop()
    moment.goTo(to >= last ? undefined : Math.max(1, to))
  }
  return (
    <section aria-label="Timeline" className="shrink-0 border-b bg-surface">
      <div className="flex h-12 items-center pr-4">
        <Touch label="One token back" disabled={seq <= 1} onClick={() => go(seq - 1)}>
          <ChevronLeft {...drawn} />
        </Touch>
        <Touch label={playback.playing ? 'Stop playing' : 'Play'} onClick={playback.toggle}>
          {playback.playing ? <Pause {...drawn} /> : <Play {...drawn} />}
        </Touch>
        <Touch label="One token on" disabled={seq >= last} onClick={() => go(seq + 1)}>
          <ChevronRight {...drawn} />
        </Touch>
        <input
          type="range"
          className="tl-slider ml-2"
          aria-label="Moment of the run"
          min={1}
          max={last}
          value={seq}
          aria-valuetext={momentWords({
            shown: seq,
            last,
            at: clockAt,
            words,
            following: following && end.following,
          })}
          style={{ '--tl-done': `${((seq - 1) / Math.max(1, last - 1)) * 100}%` } as React.CSSProperties}
          onChange={(event) => go(Number(event.target.value))}
        />
      </div>
      <div
        className={cx('flex items-center gap-2 pl-4 text-t1', following ? 'min-h-8 pb-1 pr-4' : 'min-h-12')}
      >
        <time suppressHydrationWarning>{clockTime(clockAt)}</time>
        <span className="shrink-0 text-ink-3">
          token <span className="num">{seq.toLocaleString('en')}</span> of{' '}
          <span className="num">{last.toLocaleString('en')}</span>
        </span>
        <span className="min-w-0 flex-1 truncate text-ink-3">{following ? end.following : words}</span>
        {!following && (
          <button
            type="button"
            className="ring-inside h-12 shrink-0 px-4 text-t2 font-medium"
            onClick={() => {
              playback.stop()
              moment.goTo(undefined)
            }}
          >
            {end.back}
          </button>
        )}
      </div>
    </section>
  )
}

function Touch({
  label,
  disabled,
  onClick,
  children,
}: {
  label: string
  disabled?: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <button
      type="button"
      aria-label={label}
      disabled={disabled}
      onClick={onClick}
      className="ring-inside grid size-12 shrink-0 place-items-center text-ink-2 active:bg-selected disabled:text-ink-4"
    >
      {children}
    </button>
  )
}
