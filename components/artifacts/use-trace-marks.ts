'use client'
import { partsIn, searchNow, useAddress } from '@/lib/ui/address'

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
  return useAddress(members)
}

/** The marks as they are at this moment: React hears of it a little later, and keys may be quicker. */
export function marksNow(): TraceMarks {
  return partsIn(members, searchNow())
}

/** A row's number as an address has it; undefined when there is no such row. */
export function rowFrom(text: string | undefined, rows: number): number | undefined {
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text)) return undefined
  const number = Number(text)
  return number <= rows ? number : undefined
}
