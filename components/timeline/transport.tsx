'use client'
import { ChevronDown, ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Pause, Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, IconButton } from '@/components/ui/button'
import { Menu, MenuChoice } from '@/components/ui/menu'
import { useEndWords } from '@/lib/ui/opened'
import { type PlaySpeed, playSpeeds } from '@/lib/view/timeline/play'
import type { LaneBy } from '@/lib/view/timeline/terms'

const drawn = { size: 16, strokeWidth: 1.5, 'aria-hidden': true } as const

export interface TransportProps {
  /** The token shown, and how many there are. */
  seq: number
  last: number
  following: boolean
  playing: boolean
  onGo: (seq: number | undefined) => void
  onPlay: () => void
}

/** A button of the transport that cannot be pressed is quiet, and keeps its place. */
export const quietWhenOff = 'disabled:border-transparent! disabled:bg-transparent! disabled:text-ink-4!'

/** First, previous, play, next, now. */
export function TransportButtons({ seq, last, following, playing, onGo, onPlay }: TransportProps) {
  const end = useEndWords()
  return (
    <span className="flex shrink-0">
      <IconButton
        className={quietWhenOff}
        label="First token"
        aria-keyshortcuts="Home"
        disabled={seq <= 1}
        onClick={() => onGo(1)}
      >
        <ChevronFirst {...drawn} />
      </IconButton>
      <IconButton
        className={quietWhenOff}
        label="One token back"
        aria-keyshortcuts="ArrowLeft"
        disabled={seq <= 1}
        onClick={() => onGo(seq - 1)}
      >
        <ChevronLeft {...drawn} />
      </IconButton>
      <PlayButton playing={playing} disabled={last <= 1} onPlay={onPlay} />
      <IconButton
        className={quietWhenOff}
        label="One token on"
        aria-keyshortcuts="ArrowRight"
        disabled={seq >= last}
        onClick={() => onGo(seq + 1)}
      >
        <ChevronRight {...drawn} />
      </IconButton>
      <IconButton
        className={quietWhenOff}
        label={end.last}
        aria-keyshortcuts="End"
        disabled={following}
        onClick={() => onGo(undefined)}
      >
        <ChevronLast {...drawn} />
      </IconButton>
    </span>
  )
}

export function PlayButton({
  playing,
  disabled,
  onPlay,
}: {
  playing: boolean
  disabled: boolean
  onPlay: () => void
}) {
  return (
    <IconButton
      className={quietWhenOff}
      label={playing ? 'Stop playing' : 'Play'}
      aria-keyshortcuts="Space"
      disabled={disabled}
      onClick={onPlay}
    >
      {playing ? <Pause {...drawn} /> : <Play {...drawn} />}
    </IconButton>
  )
}

/** A choice out of a few behind one quiet button that says what is chosen. */
function Choice<T extends string>({
  label,
  value,
  choices,
  onChange,
  children,
}: {
  label: string
  value: T
  choices: { value: T; word: string }[]
  onChange: (value: T) => void
  children: ReactNode
}) {
  return (
    <Menu
      trigger={
        <Button size="sm" variant="quiet" className="gap-1! px-1.5!" title={label}>
          <span className="sr-only">{label}: </span>
          {children}
          <ChevronDown size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      }
    >
      <MenuChoice label={label} value={value} choices={choices} onChange={onChange} />
    </Menu>
  )
}

export function SpeedChoice({ speed, onSpeed }: { speed: PlaySpeed; onSpeed: (speed: PlaySpeed) => void }) {
  return (
    <Choice
      label="Speed"
      value={String(speed)}
      choices={playSpeeds.map((one) => ({ value: String(one), word: speedWord(one) }))}
      onChange={(value) => onSpeed(playSpeeds.find((one) => String(one) === value) ?? 1)}
    >
      <span className="num">{speed}×</span>
    </Choice>
  )
}

function speedWord(speed: PlaySpeed): string {
  return speed === 1 ? '1×, as it happened' : `${speed}×`
}

export function LanesChoice({ by, onBy }: { by: LaneBy; onBy: (by: LaneBy) => void }) {
  return (
    <Choice
      label="Lanes"
      value={by}
      choices={[
        { value: 'agent', word: 'By agent' },
        { value: 'node', word: 'By node' },
      ]}
      onChange={onBy}
    >
      {by === 'agent' ? 'By agent' : 'By node'}
    </Choice>
  )
}
