/*
 * URLs against the allowlist's patterns. A URL can be written in many ways that lead to the same place, and in some that
 * only look as if they did; so both sides are first brought into the one form that a request is made from (WHATWG URL):
 * scheme and host in lower case, the default port gone, dots in the path worked off, backslashes turned, an address in
 * its plain spelling. Then scheme, host and port must be equal, and only the path is matched.
 *
 *   pattern https://api.example.com/v1/**      allows   https://API.example.com:443/v1/orders?page=2
 *                                              denies   https://api.example.com.evil.example/v1/orders
 *                                                       https://api.example.com@evil.example/v1/orders
 *                                                       https://api.example.com/v1/../admin
 *                                                       https://api.example.com/v1/..%2fadmin
 */
import { isRefused, targetOf } from './targets'

/** A URL in the one form it is compared in. */
export interface CanonicalUrl {
  /** Scheme, host and port: `https://api.example.com`. */
  origin: string
  /** Begins with a slash; escapes that change nothing are undone. */
  path: string
  /** With its `?`, or empty. */
  query: string
}

/** The canonical form of a URL that a request may go to; undefined when it is none, or carries credentials. */
export function canonicalUrl(text: string): CanonicalUrl | undefined {
  const target = targetOf(text)
  if (isRefused(target)) return undefined
  const { url, host } = target
  const spokenHost = host.includes(':') ? `[${host}]` : host
  return {
    origin: `${url.protocol}//${spokenHost}${url.port === '' ? '' : `:${url.port}`}`,
    path: plainEscapes(url.pathname),
    query: url.search,
  }
}

/** Whether a pattern of one of the three forms allows the URL. */
export function urlMatches(pattern: string, url: CanonicalUrl): boolean {
  if (pattern === '*') return true
  const prefix = /^(.*)\/\*\*?$/s.exec(pattern)?.[1]
  if (prefix === undefined) {
    const literal = canonicalUrl(pattern)
    return literal !== undefined && textOf(literal) === textOf(url)
  }
  const base = canonicalUrl(prefix)
  if (base === undefined) return isSchemeOnly(prefix) && textOf(url).startsWith(`${prefix.toLowerCase()}/`)
  if (base.origin !== url.origin || base.query !== '') return false
  const folder = base.path.replace(/\/$/, '')
  if (folder === '') return true
  if (url.path === folder) return url.query === ''
  return url.path.startsWith(`${folder}/`) && !hidesDots(url.path)
}

/** Whether a pattern allows anything at all at the scheme, host and port of a URL. */
export function mayMatchHost(pattern: string, url: string): boolean {
  const origin = canonicalUrl(url)?.origin
  if (origin === undefined) return false
  const prefix = pattern.replace(/\/\*\*?$/, '')
  return (
    pattern === '*' ||
    canonicalUrl(prefix)?.origin === origin ||
    (isSchemeOnly(prefix) && origin.startsWith(`${prefix.toLowerCase().replace(/\/$/, '')}//`))
  )
}

/** Hosts with ports that patterns name themselves: `host:port`. A `*` names nobody. */
export function namedHosts(patterns: readonly string[]): string[] {
  const named = patterns.flatMap((pattern) => {
    const target = targetOf(pattern.replace(/\/\*\*?$/, ''))
    if (isRefused(target) || target.host.includes('*')) return []
    return [`${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`]
  })
  return [...new Set(named)]
}

/**
 * True when a path has a `.` or `..` that only shows once escapes are undone (`..%2f`, `%252e%252e`), also in the
 * spellings that servers are known to fall for: `..;x`, a backslash, an overlong `%c0%ae`. A server may undo what the
 * URL standard leaves alone.
 */
export function hidesDots(path: string): boolean {
  let undone = path
  // Four rounds: nobody escapes more often by accident, and each round can only shorten the text.
  for (let round = 0; round < 4; round++) {
    const parts = undone.split(/[/\\]/).map((part) => part.split(';')[0])
    if (parts.includes('..') || parts.includes('.')) return true
    const next = undone
      .replace(/%c0%ae/gi, '.')
      .replace(/%c0%af/gi, '/')
      .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === undone) return false
    undone = next
  }
  return true
}

/** `https:/**` and `https://*`: every URL of the scheme, and not a host whose name happens to begin so. */
function isSchemeOnly(prefix: string): boolean {
  return /^https?:\/?$/i.test(prefix)
}

function textOf({ origin, path, query }: CanonicalUrl): string {
  return `${origin}${path}${query}`
}

/** RFC 3986 section 6.2.2: unreserved characters stand for themselves, other escapes in capitals. */
function plainEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (found) => {
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : found.toUpperCase()
  })
}
