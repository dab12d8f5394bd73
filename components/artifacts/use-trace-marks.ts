'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback } from 'react'

/** What of the trace is on screen, as the address has it: rows by their numbers. */
export interface TraceMarks {
  a?: string
  b?: string
  artifact?: string
  /** The row whose values are open. */
  row?: string
  /** How the diff is laid out: `sides`, or unified. */
  diff?: string
}

const members = ['a', 'b', 'artifact', 'row', 'diff'] as const

/** The marks, and a way to change some of them; `undefined` takes one away. The rest of the address is left alone. */
export function useTraceMarks(): [TraceMarks, (change: TraceMarks) => void] {
  const marks = marksIn(useSearchParams())
  const change = useCallback((patch: TraceMarks) => {
    const next = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(patch)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    window.history.replaceState(null, '', next.size > 0 ? `?${next}` : window.location.pathname)
  }, [])
  return [marks, change]
}

/** The marks as the address has them at this moment: React hears of it a little later, and keys may be quicker. */
export function marksNow(): TraceMarks {
  return marksIn(new URLSearchParams(window.location.search))
}

function marksIn(search: Pick<URLSearchParams, 'get'>): TraceMarks {
  const marks: TraceMarks = {}
  for (const name of members) {
    const value = search.get(name)
    if (value !== null) marks[name] = value
  }
  return marks
}

/** A row's number as an address has it; undefined when there is no such row. */
export function rowFrom(text: string | undefined, rows: number): number | undefined {
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text)) return undefined
  const number = Number(text)
  return number <= rows ? number : undefined
}
