'use client'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { keysRest } from '@/lib/ui/shortcuts'
import { wrapping } from './button'
import { cx } from './cx'
import { Kbd } from './kbd'

/** Long enough that a slip is no decision, short enough at three in the morning. */
const holdMs = 1000

export interface HoldButtonProps {
  children: ReactNode
  onHeld: () => void
  busy?: boolean
  disabled?: boolean
  /** The key that, held as long, does the same from anywhere on the page. */
  shortcut?: string
  /** Words that do not fit go on a second line; they are never cut. */
  wraps?: boolean
  /** What it acts on, when `children` does not say: told with the description, and on hover. */
  about?: string
  className?: string
}

/**
 * A button that must be held for one second, by pointer or by Space or Enter: for what cannot be undone. A bar along its
 * foot fills meanwhile; letting go, moving off or losing focus takes it back. A page that moves under the hand does not.
 * With reduced motion the bar fills in quarters.
 */
export function HoldButton({
  about,
  children,
  onHeld,
  busy = false,
  disabled,
  shortcut,
  wraps = false,
  className,
}: HoldButtonProps) {
  const [heldMs, setHeldMs] = useState(0)
  const timer = useRef<number>(undefined)
  const begin = useRef(0)
  /** Where the button stood when it was pressed: the hand may move within. */
  const pressed = useRef<DOMRect>(undefined)
  const act = useRef(onHeld)
  act.current = onHeld
  const off = disabled || busy

  function release() {
    cancelAnimationFrame(timer.current ?? 0)
    timer.current = undefined
    setHeldMs(0)
  }
  function press() {
    if (off || timer.current !== undefined) return
    begin.current = performance.now()
    const step = () => {
      const held = performance.now() - begin.current
      if (held >= holdMs) {
        release()
        act.current()
        return
      }
      setHeldMs(held)
      timer.current = requestAnimationFrame(step)
    }
    timer.current = requestAnimationFrame(step)
  }
  useEffect(() => () => cancelAnimationFrame(timer.current ?? 0), [])

  const hand = useRef({ press, release })
  hand.current = { press, release }
  useEffect(() => {
    if (off) hand.current.release()
  }, [off])
  useEffect(() => {
    if (!shortcut) return
    const modified = (event: KeyboardEvent) => event.metaKey || event.ctrlKey || event.altKey
    const down = (event: KeyboardEvent) => {
      if (event.key === shortcut && !event.repeat && !modified(event) && !keysRest(event))
        hand.current.press()
    }
    const up = (event: KeyboardEvent) => event.key === shortcut && hand.current.release()
    const away = () => hand.current.release()
    window.addEventListener('keydown', down)
    window.addEventListener('keyup', up)
    window.addEventListener('blur', away)
    return () => {
      window.removeEventListener('keydown', down)
      window.removeEventListener('keyup', up)
      window.removeEventListener('blur', away)
    }
  }, [shortcut])

  return (
    <button
      type="button"
      disabled={off}
      aria-busy={busy || undefined}
      title={about}
      aria-description={about ? `${about}. Hold for one second` : 'Hold for one second'}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        pressed.current = event.currentTarget.getBoundingClientRect()
        press()
      }}
      onPointerMove={(event) => pressed.current && !isWithin(event, pressed.current) && release()}
      onPointerUp={release}
      onLostPointerCapture={release}
      onBlur={release}
      onKeyDown={(event) => {
        if (event.key !== ' ' && event.key !== 'Enter') return
        event.preventDefault()
        if (!event.repeat) press()
      }}
      onKeyUp={(event) => (event.key === ' ' || event.key === 'Enter') && release()}
      onContextMenu={(event) => event.preventDefault()}
      className={cx(
        wraps ? wrapping : 'h-8 shrink-0 whitespace-nowrap',
        'relative inline-flex touch-none select-none items-center justify-center gap-2 overflow-hidden rounded-r2 border border-failed-mark bg-failed-wash px-3 font-medium text-failed-ink disabled:border-line disabled:bg-well disabled:text-ink-3 max-md:h-auto max-md:min-h-12 max-md:whitespace-normal max-md:py-1.5',
        className,
      )}
    >
      <span
        aria-hidden="true"
        className="absolute bottom-0 left-0 h-1 bg-failed-mark max-md:h-1 motion-reduce:hidden"
        style={{ width: `${(heldMs / holdMs) * 100}%` }}
      />
      <span
        aria-hidden="true"
        className="absolute bottom-0 left-0 hidden h-1 bg-failed-mark motion-reduce:block"
        style={{ width: `${Math.ceil((heldMs / holdMs) * 4) * 25}%` }}
      />
      {children}
      {!busy && <span className="whitespace-nowrap text-t1 font-regular">hold 1 s</span>}
      {shortcut && (
        <span className="max-md:hidden" aria-hidden="true">
          <Kbd quiet>{shortcut}</Kbd>
        </span>
      )}
    </button>
  )
}

function isWithin({ clientX, clientY }: { clientX: number; clientY: number }, box: DOMRect): boolean {
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom
}
