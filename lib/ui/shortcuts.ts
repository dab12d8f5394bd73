'use client'
import { useEffect, useRef } from 'react'

/** Key (as `event.key`) → what it does. Letters are lower case; `mod+k` is ⌘K on a Mac and Ctrl+K elsewhere. */
export type Shortcuts = Record<string, (() => void) | undefined>

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

/** True while a dialog or menu is open: the page's keys belong to it then. */
function isCovered(): boolean {
  return (
    document.querySelector('[role="dialog"][data-state="open"], [role="menu"][data-state="open"]') !== null
  )
}

/** True when a page's keys rest for this event: someone types, or a dialog or menu is in front. */
export function keysRest(event: KeyboardEvent): boolean {
  return isTyping(event.target) || isCovered()
}

/**
 * Keys of a page, while it is mounted. They rest while someone types, while a dialog or menu is open, and when a
 * modifier is held (so that Ctrl+C stays copy).
 */
export function useShortcuts(shortcuts: Shortcuts, enabled = true): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    if (!enabled) return
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || event.repeat || event.altKey) return
      const mod = event.metaKey || event.ctrlKey
      const act = latest.current[mod ? `mod+${event.key.toLowerCase()}` : event.key]
      if (!act) return
      if (!mod && (isTyping(event.target) || (isCovered() && event.key !== '?'))) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [enabled])
}
