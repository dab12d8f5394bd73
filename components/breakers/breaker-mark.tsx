import type { ReactNode } from 'react'
import { cx } from '@/components/ui/cx'
import { Icon } from '@/components/ui/icons'
import { breakerWords, type ShownBreaker } from '@/lib/view/circuit-words'

/*
 * The one table of breakers: a lever for each state, and its colour. The lever alone tells them apart: level, lifted a
 * little, raised, raised with a hand on it. The words are in lib/view/circuit-words.ts.
 */
interface BreakerLook {
  shape: ReactNode
  text: string
  mark: string
  /** Of a badge on a line. */
  badge: string
}

const ends = (y: number) => (
  <>
    <circle cx="3" cy={y} r="1.5" />
    <circle cx="13" cy={y} r="1.5" />
  </>
)
const hand = <path d="M8 2.25v4M6 2.25h4" />
const inked = { text: 'text-ink', mark: 'text-ink', badge: 'border-ink-3 bg-surface' }

export const breakerLooks: Record<ShownBreaker, BreakerLook> = {
  closed: {
    shape: (
      <>
        {ends(9.5)}
        <path d="M4.5 9.5h7" />
      </>
    ),
    text: 'text-ink-3',
    mark: 'text-done-mark',
    badge: 'border-transparent bg-canvas',
  },
  half_open: {
    shape: (
      <>
        {ends(10.5)}
        <path d="M4.4 9.9l7.1-2.9" />
      </>
    ),
    ...inked,
  },
  open: {
    shape: (
      <>
        {ends(10.5)}
        <path d="M4.2 9.6L11 3.5" />
      </>
    ),
    text: 'text-failed-ink',
    mark: 'text-failed-mark',
    badge: 'border-failed-mark bg-failed-wash',
  },
  forced_open: {
    shape: (
      <>
        {ends(11.5)}
        <path d="M4.2 10.6L10 6" />
        {hand}
      </>
    ),
    ...inked,
  },
  forced_closed: {
    shape: (
      <>
        {ends(11.5)}
        <path d="M4.5 11.5h7" />
        <path d="M8 2.25v6.5M6 2.25h4" />
      </>
    ),
    ...inked,
  },
}

/** The lever alone, in its colour. `size` in px. */
export function BreakerShape({ shown, size = 16 }: { shown: ShownBreaker; size?: number }) {
  const look = breakerLooks[shown]
  return (
    <Icon size={size} className={cx('shrink-0', look.mark)}>
      {look.shape}
    </Icon>
  )
}

/** Lever and word. `children` replaces the word where a sentence says it better. */
export function BreakerMark({
  shown,
  children,
  className,
}: {
  shown: ShownBreaker
  children?: ReactNode
  className?: string
}) {
  return (
    <span
      className={cx(
        'inline-flex items-center gap-1.5 whitespace-nowrap',
        breakerLooks[shown].text,
        className,
      )}
    >
      <BreakerShape shown={shown} />
      <span>{children ?? breakerWords[shown]}</span>
    </span>
  )
}
