'use client'
/*
 * Parts of a page's address: what stands after the "?". A change of one part keeps the others, as they were written last.
 * The browser does not know that: Next puts the address that it has drawn there again, over what was written since, and
 * comes to the newest one only when it has drawn that, too. So what was written and is not drawn yet is remembered here.
 */
import { useSearchParams } from 'next/navigation'
import { useCallback, useEffect } from 'react'

type Parts<Name extends string> = { [name in Name]?: string }

/** More changes than that are not on their way at once. */
const mostRemembered = 100

/** Where the browser may stand, oldest first: what was drawn last, and what was written since. */
let written: string[] = []

function browserSearch(): string {
  return window.location.search.replace(/^\?/, '')
}

function placeOf(search: string): string {
  return `${window.location.pathname}?${search}`
}

/** What stands after the "?" as it was written last, whatever Next has made of it meanwhile. */
export function searchNow(): URLSearchParams {
  const newest = written.at(-1)
  if (newest !== undefined && written.includes(placeOf(browserSearch()))) {
    return new URLSearchParams(newest.slice(newest.indexOf('?') + 1))
  }
  // Somebody went elsewhere: by a link, or by the browser's "back".
  written = []
  return new URLSearchParams(browserSearch())
}

/** The address with this after its "?", as `history.replaceState` takes it. */
export function addressWith(search: URLSearchParams): string {
  return search.size > 0 ? `?${search}` : window.location.pathname
}

function write(search: URLSearchParams): void {
  if (written.length === 0) written.push(placeOf(browserSearch()))
  written.push(placeOf(search.toString()))
  if (written.length > mostRemembered) written.shift()
  // Next reads the address from the browser's history: no request, no scrolling, and "back" leaves the page.
  window.history.replaceState(null, '', addressWith(search))
}

/** It is drawn: what was written before it does not come back. */
function drawn(search: string): void {
  const at = written.lastIndexOf(placeOf(search))
  if (at > 0) written.splice(0, at)
}

/** These parts of an address; others are passed over. */
export function partsIn<Name extends string>(
  names: readonly Name[],
  search: Pick<URLSearchParams, 'get'>,
): Parts<Name> {
  const parts: Parts<Name> = {}
  for (const name of names) {
    const value = search.get(name)
    if (value !== null) parts[name] = value
  }
  return parts
}

/** These parts of the address as they are drawn, and a way to change some of them; `undefined` takes one away. */
export function useAddress<Name extends string>(
  names: readonly Name[],
): [Parts<Name>, (change: Parts<Name>) => void] {
  const search = useSearchParams()
  const text = search.toString()
  useEffect(() => drawn(text), [text])
  const change = useCallback((patch: Parts<Name>) => {
    const next = searchNow()
    for (const [name, value] of Object.entries<string | undefined>(patch)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    write(next)
  }, [])
  return [partsIn(names, search), change]
}
