'use client'
import { useSyncExternalStore } from 'react'

/** True while the media query holds. False on the server: what depends on it is layout, which the first paint corrects. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => window.matchMedia(query).matches,
    () => false,
  )
}
