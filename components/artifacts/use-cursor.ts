'use client'
/*
 * The row that keys move. It moves at once; the page's moment follows, and its answer comes back later, when the hand may
 * be further on. An answer to an own step is passed over; any other moment (the scrubber was dragged) moves the row.
 */
import { useEffect, useRef, useState } from 'react'

export interface Cursor {
  /** The row's number, as it is drawn. */
  row: number | undefined
  /** The same, as of the last key. */
  latest: () => number | undefined
  /** `seq`: the moment that the page is asked to go to with it. */
  goTo: (row: number, seq: number | undefined) => void
}

export function useCursor(at: number | undefined, rowAt: (seq: number) => number | undefined): Cursor {
  const [row, setRow] = useState(() => (at === undefined ? undefined : rowAt(at)))
  const latest = useRef(row)
  const sent = useRef<number[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another moment is the reason to look
  useEffect(() => {
    if (at !== undefined && sent.current.includes(at)) {
      if (sent.current.at(-1) === at) sent.current = []
      return
    }
    sent.current = []
    latest.current = at === undefined ? undefined : rowAt(at)
    setRow(latest.current)
  }, [at])
  return {
    row,
    latest: () => latest.current,
    goTo: (number, seq) => {
      latest.current = number
      setRow(number)
      if (seq !== undefined && seq !== at) sent.current.push(seq)
    },
  }
}
