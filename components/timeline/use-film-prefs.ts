'use client'
import { useCallback, useEffect, useState } from 'react'
import type { LaneBy } from '@/lib/view/timeline/terms'

/** How somebody likes their films drawn; kept in their browser, the same for every run. */
export interface FilmPrefs {
  /** Most px the lines take. */
  height: number
  collapsed: boolean
  /** Absent until somebody chose: by agent where there are several. */
  by?: LaneBy | undefined
}

const key = 'holdpoint.timeline'
const usual: FilmPrefs = { height: 128, collapsed: false }

export function useFilmPrefs(): [FilmPrefs, (change: Partial<FilmPrefs>) => void] {
  const [prefs, setPrefs] = useState(usual)
  // After the first drawing, so that it is the same as the server's.
  useEffect(() => setPrefs(kept()), [])
  const change = useCallback((patch: Partial<FilmPrefs>) => {
    setPrefs((before) => {
      const next = { ...before, ...patch }
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // A browser that keeps nothing shows it for as long as the page is open.
      }
      return next
    })
  }, [])
  return [prefs, change]
}

function kept(): FilmPrefs {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    if (typeof found !== 'object' || found === null) return usual
    const { height, collapsed, by } = found as Partial<Record<keyof FilmPrefs, unknown>>
    return {
      height: typeof height === 'number' && height >= 24 && height <= 480 ? height : usual.height,
      collapsed: collapsed === true,
      by: by === 'agent' || by === 'node' ? by : undefined,
    }
  } catch {
    return usual
  }
}
