/*
 * Headers that every answer carries. Pages run only scripts of this origin that carry the nonce of their response; the
 * API runs nothing at all. Nothing of Holdpoint may be framed: a decision under someone else's page is a stolen click.
 */

/** Set by proxy.ts for pages: the path and query that were asked for, whatever the client sent under this name. */
export const askedPathHeader = 'x-holdpoint-path'

/** Set on pages, API answers and files alike. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** A response of the API with its headers; what the handler set itself stays. */
export function withApiHeaders(response: Response): Response {
  const defaults = {
    ...commonHeaders,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'no-store',
  }
  for (const [name, value] of Object.entries(defaults)) {
    if (!response.headers.has(name)) response.headers.set(name, value)
  }
  return response
}

/**
 * The Content-Security-Policy of a page. Next puts the nonce on its own scripts when it finds it in the request's
 * policy (proxy.ts). Styles may be inline: graph and table positions are style attributes, and they cannot run anything.
 * `development` lets React's debugging evaluate; a build never does.
 */
export function pagePolicy(nonce: string, development: boolean): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    `connect-src 'self'${development ? ' ws:' : ''}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
