'use client'
/*
 * Which moment of a run its page shows: a token's sequence number, or nothing while the page follows the run.
 *
 * The hand comes first. A drag moves the moment at once; the address follows a little later and only so often, because
 * browsers allow a page a hundred or so changes of its address in half a minute and then refuse. What comes in through
 * the address (a link, the browser's "back") moves the moment just the same.
 */
import { createContext, useCallback, useEffect, useRef, useState } from 'react'
import { addressWith, searchNow } from '@/lib/ui/address'

/** Chromium allows 200 changes in 30 s, Safari 100: this stays below both. */
const addressEveryMs = 350

export interface Moment {
  /** The token the page stands at; undefined while it follows the run. */
  at: number | undefined
  /** Goes to a token, or back to now. */
  goTo: (seq: number | undefined) => void
}

/** The moment of the page around. Its film hears of it first and alone. */
export const MomentContext = createContext<Moment>({ at: undefined, goTo: () => {} })

/** A token's number as an address has it; undefined when it is none. */
export function seqFrom(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

/** Puts what was written last into the browser's address behind Next's back: it has heard of it already, and would draw it again. */
function putBack(): void {
  History.prototype.replaceState.call(window.history, window.history.state, '', addressWith(searchNow()))
}

/** `address` is what stands in the URL, `write` puts it there. */
export function useMoment(address: string | undefined, write: (address: string | undefined) => void): Moment {
  const [at, setAt] = useState(() => seqFrom(address))
  const written = useRef(address)
  const wanted = useRef(address)
  /** What was written and has not come back through React yet, oldest first. */
  const sent = useRef<(string | undefined)[]>([])
  const writtenAt = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(write)
  latest.current = write

  const rest = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = undefined
  }, [])

  useEffect(() => {
    const echo = sent.current.lastIndexOf(address)
    if (echo !== -1) {
      sent.current.splice(0, echo + 1)
      // Next puts the address it has drawn into the browser again, over what was written since: the newest has to win.
      if (sent.current.length > 0) putBack()
      return
    }
    if (address === written.current) return
    rest()
    written.current = address
    wanted.current = address
    setAt(seqFrom(address))
  }, [address, rest])

  const put = useCallback(() => {
    timer.current = undefined
    if (wanted.current === written.current) return
    written.current = wanted.current
    sent.current.push(wanted.current)
    writtenAt.current = performance.now()
    latest.current(wanted.current)
  }, [])
  useEffect(() => rest, [rest])

  const goTo = useCallback(
    (seq: number | undefined) => {
      setAt(seq)
      wanted.current = seq === undefined ? undefined : String(seq)
      if (timer.current !== undefined) return
      const since = performance.now() - writtenAt.current
      if (since >= addressEveryMs) put()
      else timer.current = setTimeout(put, addressEveryMs - since)
    },
    [put],
  )
  return { at, goTo }
}
