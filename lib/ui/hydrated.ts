'use client'
import { useSyncExternalStore } from 'react'

const never = () => () => {}

/**
 * False while a page is as the server made it, then true. The server does not know where on earth the reader is: what
 * names a time of day waits for the browser.
 */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  )
}
