/*
 * Where a request came from, for rate limits and the audit trail. `X-Forwarded-For` is whatever a client wrote unless a
 * proxy of ours set it, so the server that accepts connections stamps its own header over it, and only that is read.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/** Set by `stampAddress`, whatever the client sent. */
export const addressHeader = 'x-holdpoint-address'

/** On globalThis, because Next loads what starts the server and what answers requests as separate bundles. */
const stamping = globalThis as { holdpointStampsAddresses?: boolean }

/**
 * Writes the address into the request, over whatever it brought. `proxies` is how many proxies of one's own stand in
 * front (0: none); the address is the one that the outermost of them saw.
 */
export function stampAddress(request: IncomingMessage, proxies: number): void {
  const hops = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter(Boolean)
  const peer = request.socket.remoteAddress ?? 'unknown'
  const address = proxies > 0 ? (hops.at(-proxies) ?? peer) : peer
  request.headers[addressHeader] = address.slice(0, 64)
}

/**
 * From now on stamps every request of this process, before any server of it sees the request. Call it once, at start. It
 * listens where Node itself tells of requests, because Next's server takes no function of ours that early.
 */
export function stampAddresses(proxies: number): void {
  stamping.holdpointStampsAddresses = true
  subscribe('http.server.request.start', (message) => {
    stampAddress((message as { request: IncomingMessage }).request, proxies)
  })
}

/** The stamped address; `unknown` where nothing stamps, since the header is then whatever a client sent. */
export function addressOf(request: Request): string {
  if (!stamping.holdpointStampsAddresses) return 'unknown'
  return request.headers.get(addressHeader) ?? 'unknown'
}
