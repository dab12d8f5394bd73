/*
 * A browser sends a person's cookies with whatever request any site makes it send. So a write that cookies
 * authenticate must prove that it came from our own pages, by what a script cannot forge: Sec-Fetch-Site, and Origin
 * where a browser or a plain-http address leaves that out. Nothing to prove it with is a refusal, not a benefit of doubt.
 */
import { Problem } from '@/lib/base/problem'

/** Throws Problem `cross_site` unless the request came from a page of this origin. `publicOrigin`: behind a proxy, what browsers see. */
export function refuseCrossSite(request: Request, publicOrigin?: string): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  if (site !== null && site !== 'same-origin') {
    throw refusal(`it was sent from a ${site} page`)
  }
  // A form on a no-referrer page sends "null"; the browser's own word `same-origin` then stands alone.
  if (origin === null || (origin === 'null' && site !== null)) {
    if (site === null) throw refusal('it has neither a Sec-Fetch-Site nor an Origin header')
    return
  }
  if (!isOurs(origin, request, publicOrigin)) throw refusal(`its origin is ${quoted(origin)}`)
}

function isOurs(origin: string, request: Request, publicOrigin: string | undefined): boolean {
  if (publicOrigin !== undefined && origin === publicOrigin) return true
  const host = request.headers.get('host')
  if (host === null || !URL.canParse(origin)) return false
  const url = new URL(origin)
  // The scheme is not compared: a proxy that ends TLS makes it differ, and no page of another scheme has our host.
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.host === host.toLowerCase()
}

function refusal(found: string): Problem {
  return new Problem(
    'cross_site',
    `This write was refused because ${found}; do it from a page of this console, or over the API with a token.`,
  )
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
