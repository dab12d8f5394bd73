'use client'
/*
 * The film's keys. Unlike the page's others they may be held down, and know Shift; they rest, as those do, while someone
 * types or a dialog or menu is open, and where what has the focus uses the key itself.
 */
import { useEffect, useRef } from 'react'
import { keysRest } from '@/lib/ui/shortcuts'

export interface FilmKeys {
  step: (by: 1 | -1) => void
  jump: (by: 1 | -1) => void
  /** Absent where the brackets mean something else. */
  transition: ((by: 1 | -1) => void) | undefined
  first: () => void
  now: () => void
  play: () => void
}

/** What the `?` of a page says of them. */
export const filmKeyWords: [key: string, does: string][] = [
  ['← →', 'one token back, on'],
  ['⇧← ⇧→', 'to the next error, change of a breaker, act of a person or changed artifact'],
  ['[ ]', 'to the transition before, after'],
  ['Home End', 'to the first token, to now'],
  ['Space', 'play, stop'],
]

export function useFilmKeys(keys: FilmKeys, enabled: boolean): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    if (!enabled) return
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || event.altKey || event.metaKey || event.ctrlKey || keysRest(event)) return
      const act = actOf(event, latest.current)
      if (!act || usesItself(event)) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [enabled])
}

function actOf({ key, shiftKey, repeat }: KeyboardEvent, keys: FilmKeys): (() => void) | undefined {
  const { transition } = keys
  switch (key) {
    case 'ArrowLeft':
      return () => (shiftKey ? keys.jump(-1) : keys.step(-1))
    case 'ArrowRight':
      return () => (shiftKey ? keys.jump(1) : keys.step(1))
    case '[':
      return transition && (() => transition(-1))
    case ']':
      return transition && (() => transition(1))
    case 'Home':
      return keys.first
    case 'End':
      return keys.now
    case ' ':
      return repeat || shiftKey ? undefined : keys.play
    default:
      return undefined
  }
}

/** True where the key belongs to what has the focus: Space to a button, arrows to tabs and to what scrolls sideways. */
function usesItself({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (key === ' ') return target.closest('button, a, summary, [role="button"], [role="menuitem"]') !== null
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    if (target.closest('[role="tablist"], [role="radiogroup"]') !== null) return true
    return target.tabIndex === 0 && target.scrollWidth > target.clientWidth + 1 && isScroller(target)
  }
  return (
    (key === 'Home' || key === 'End') && isScroller(target) && target.scrollHeight > target.clientHeight + 1
  )
}

function isScroller(element: HTMLElement): boolean {
  const { overflowX, overflowY } = getComputedStyle(element)
  return /auto|scroll/.test(`${overflowX} ${overflowY}`)
}
