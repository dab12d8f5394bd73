'use client'
import { useAddress } from '@/lib/ui/address'

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
  return useAddress(members)
}
