'use client'
import { createContext, useContext } from 'react'
import type { OpenedBundle } from '@/lib/view/bundle-wire'

/** The bundle that this console shows; set by the shell. */
export const OpenedContext = createContext<OpenedBundle | undefined>(undefined)

/** The bundle that is looked at; undefined in an installation, where things go on and can be done. */
export function useOpened(): OpenedBundle | undefined {
  return useContext(OpenedContext)
}

/** How a run is spoken of at its last token: as it goes on, or as a bundle ends with it. */
const endWords = {
  goesOn: { following: 'following the run', back: 'Back to now', last: 'Now' },
  stands: { following: 'as the bundle ends', back: 'To the last token', last: 'Last token' },
}

export function useEndWords(): (typeof endWords)['goesOn'] {
  return useOpened() ? endWords.stands : endWords.goesOn
}
