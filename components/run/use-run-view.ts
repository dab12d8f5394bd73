'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback } from 'react'

/** What of a run is on screen. It is kept in the URL, so that a link shows the same. */
export interface RunView {
  node?: string
  visit?: string
  tab?: string
  /** Sequence number of the token that is open. */
  token?: string
  /** What the left side shows; the graph unless it says otherwise. */
  show?: string
  /** The token the page looks back to; without it the page follows the run. */
  at?: string
  /** Sequence number of the token whose causes are shown. */
  cause?: string
  /** The artifact whose changes the timeline shows; all without it. */
  artifact?: string
}

const members = ['node', 'visit', 'tab', 'token', 'show', 'at', 'cause', 'artifact'] as const

/** The view, and a way to change parts of it; `undefined` takes a part away. */
export function useRunView(): [RunView, (change: RunView) => void] {
  const search = useSearchParams()
  const view: RunView = {}
  for (const name of members) {
    const value = search.get(name)
    if (value !== null) view[name] = value
  }
  const change = useCallback((patch: RunView) => {
    const next = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(patch)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    // Next reads the address from the browser's history: no request, no scrolling, and "back" leaves the run.
    window.history.replaceState(null, '', next.size > 0 ? `?${next}` : window.location.pathname)
  }, [])
  return [view, change]
}
