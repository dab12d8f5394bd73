'use client'
import { useSyncExternalStore } from 'react'

/** The same bound as the `md` breakpoint of app/globals.css. */
const query = '(max-width: 767.98px)'

/** True on a phone. Only for what CSS cannot do: leaving things out of a drawing. */
export function useSmallScreen(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = window.matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    () => window.matchMedia(query).matches,
    () => false,
  )
}
