import type { ReactNode } from 'react'
import type { RunRow } from '@/lib/view/run-wire'
import type { ShownState } from '@/lib/view/shown-state'
import { cx } from './cx'
import { Icon } from './icons'

/*
 * The one table of states: a word, a shape and a colour for each. The shape alone tells them apart, so the table also
 * holds in greyscale. Nobody else in the project names a state or picks a colour for one.
 *
 * `text`, `mark`, `line` and `wash` are Tailwind classes over the tokens: the word's colour, the shape's, a border's
 * and a ground's. Waiting is the only amber there is; failed the only red besides what cannot be undone.
 */
export interface StateLook {
  word: string
  shape: ReactNode
  text: string
  mark: string
  line: string
  wash: string
}

const neutral = { line: 'border-line-strong', wash: 'bg-surface' }

export const stateLooks: Record<ShownState, StateLook> = {
  pending: {
    word: 'pending',
    shape: <circle cx="8" cy="8" r="5.25" />,
    text: 'text-ink-3',
    mark: 'text-ink-4',
    line: 'border-line',
    wash: 'bg-surface',
  },
  running: {
    word: 'running',
    shape: (
      <>
        <circle cx="8" cy="8" r="5.25" opacity=".22" />
        <path d="M8 2.75A5.25 5.25 0 1 1 2.75 8" strokeWidth="2" className="motion-turn" />
      </>
    ),
    text: 'text-ink',
    mark: 'text-ink',
    line: 'border-ink',
    wash: 'bg-surface',
  },
  waiting: {
    word: 'waiting',
    shape: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.75" strokeLinecap="butt" />,
    text: 'text-waiting-ink',
    mark: 'text-waiting-mark',
    line: 'border-waiting-mark',
    wash: 'bg-waiting-wash',
  },
  done: {
    word: 'done',
    shape: <path d="M3 8.5l3.25 3.25L13 4.75" strokeWidth="1.75" />,
    text: 'text-ink-2',
    mark: 'text-done-mark',
    ...neutral,
  },
  failed: {
    word: 'failed',
    shape: <path d="M4 4l8 8M12 4l-8 8" strokeWidth="2" />,
    text: 'text-failed-ink',
    mark: 'text-failed-mark',
    line: 'border-failed-mark',
    wash: 'bg-failed-wash',
  },
  rolled_back: {
    word: 'rolled back',
    shape: (
      <>
        <path d="M5.5 3L2.5 6l3 3" />
        <path d="M2.5 6h7a3.5 3.5 0 0 1 0 7H6" />
      </>
    ),
    text: 'text-back-ink',
    mark: 'text-back-mark',
    line: 'border-back-line',
    wash: 'bg-surface',
  },
  escalated: {
    word: 'escalated',
    shape: (
      <>
        <path d="M4 2.25v12" />
        <path d="M4 3h8.5l-2.25 2.75L12.5 8.5H4z" fill="currentColor" />
      </>
    ),
    text: 'text-escal-ink',
    mark: 'text-escal-mark',
    line: 'border-escal-line',
    wash: 'bg-surface',
  },
  skipped: {
    word: 'skipped',
    shape: <path d="M3 8h10" strokeWidth="1.75" />,
    text: 'text-ink-3',
    mark: 'text-ink-4',
    line: 'border-line',
    wash: 'bg-canvas',
  },
  cancelled: {
    word: 'cancelled',
    shape: <rect x="3.75" y="3.75" width="8.5" height="8.5" rx="1.5" />,
    text: 'text-ink-2',
    mark: 'text-ink-3',
    ...neutral,
  },
  exhausted: {
    word: 'budget-exhausted',
    shape: <path d="M2.5 8h7.25M6.75 5l3 3-3 3M13 3v10" />,
    text: 'text-ink-2',
    mark: 'text-ink-3',
    ...neutral,
  },
  unknown: {
    word: 'unknown',
    shape: (
      <>
        <path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.25C8.3 8.7 8 9.2 8 10" />
        <path d="M8 12.75v.01" strokeWidth="2" />
      </>
    ),
    text: 'text-ink-3',
    mark: 'text-ink-3',
    ...neutral,
  },
}

/** A state this screen has never heard of is drawn as unknown, under the name it came with. */
export function lookOf(state: string): StateLook {
  return Object.hasOwn(stateLooks, state)
    ? stateLooks[state as ShownState]
    : { ...stateLooks.unknown, word: state }
}

/** The shape alone, in its colour. `size` in px. */
export function StateShape({ state, size = 16 }: { state: string; size?: number }) {
  const look = lookOf(state)
  return (
    <Icon size={size} className={cx('shrink-0', look.mark)}>
      {look.shape}
    </Icon>
  )
}

/** Shape and word. `children` replaces the word where a sentence says it better ("waiting for operator:oncall"). */
export function StateMark({
  state,
  children,
  className,
}: {
  state: string
  children?: ReactNode
  className?: string
}) {
  const look = lookOf(state)
  return (
    <span className={cx('inline-flex items-center gap-1.5 whitespace-nowrap', look.text, className)}>
      <StateShape state={state} />
      <span>{children ?? look.word}</span>
    </span>
  )
}

type RunStatusName = RunRow['status']
type Terminal = NonNullable<RunRow['terminal']>
type RunWord = Exclude<RunStatusName, 'ended'> | Terminal | NonNullable<RunRow['stopped']>
type Standing = Pick<RunRow, 'status' | 'terminal' | 'stopped'> & Partial<Pick<RunRow, 'openApprovals'>>

/** What a run is at: its word, and whose shape and colour it wears. */
export const runLooks: Record<RunWord, { word: string; as: ShownState }> = {
  running: { word: 'running', as: 'running' },
  waiting: { word: 'waiting', as: 'waiting' },
  paused: { word: 'paused', as: 'skipped' },
  cancelling: { word: 'cancelling', as: 'running' },
  rolling_back: { word: 'rolling back', as: 'rolled_back' },
  rolled_back: { word: 'rolled back', as: 'rolled_back' },
  success: { word: 'succeeded', as: 'done' },
  partial: { word: 'partly done', as: 'failed' },
  failed: { word: 'failed', as: 'failed' },
  cancelled: { word: 'cancelled', as: 'cancelled' },
  exhausted: { word: 'budget-exhausted', as: 'exhausted' },
  flagged: { word: 'flagged', as: 'failed' },
  escalated: { word: 'escalated', as: 'escalated' },
}

/** The word and the shape of a run's row. Amber is for people: what waits for an agent or a breaker does not wear it. */
export function runLook(run: Standing): { word: string; as: ShownState } {
  if (run.status === 'waiting' && run.openApprovals === 0) return { word: 'waiting', as: 'pending' }
  const name = run.status === 'ended' ? (run.stopped ?? run.terminal ?? 'ended') : run.status
  return Object.hasOwn(runLooks, name)
    ? runLooks[name as keyof typeof runLooks]
    : { word: name, as: 'unknown' }
}

/** A run's shape and word. */
export function RunMark({ run, children }: { run: Standing; children?: ReactNode }) {
  const look = runLook(run)
  return <StateMark state={look.as}>{children ?? look.word}</StateMark>
}
