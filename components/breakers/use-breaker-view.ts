'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback } from 'react'
import { links } from '@/lib/ui/links'

/** What of the breakers is on screen, kept in the URL: one of them opened, only the troubled ones, the history unfolded. */
export interface BreakerView {
  circuit?: string | undefined
  show?: 'troubled' | undefined
  part?: 'history' | undefined
}

/** The view, and a way to change parts of it. Opening a breaker is a step that "back" takes back. */
export function useBreakerView(): [BreakerView, (change: BreakerView, how?: 'push' | 'replace') => void] {
  const search = useSearchParams()
  const view: BreakerView = {
    circuit: search.get('circuit') ?? undefined,
    show: search.get('show') === 'troubled' ? 'troubled' : undefined,
    part: search.get('part') === 'history' ? 'history' : undefined,
  }
  const { circuit, show, part } = view
  const change = useCallback(
    (patch: BreakerView, how: 'push' | 'replace' = 'replace') => {
      const next = links.breakers({ circuit, show, part, ...patch })
      window.history[how === 'push' ? 'pushState' : 'replaceState'](null, '', next)
    },
    [circuit, show, part],
  )
  return [view, change]
}
