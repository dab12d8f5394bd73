import { type NextRequest, NextResponse } from 'next/server'
import { askedPathHeader, commonHeaders, pagePolicy } from '@/lib/server/http/security-headers'

/** Gives every page its security headers and a nonce of its own; Next puts the nonce on its scripts (lib/server/http). */
export function proxy(request: NextRequest): NextResponse {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64')
  const policy = pagePolicy(nonce, process.env.NODE_ENV === 'development')
  const headers = new Headers(request.headers)
  headers.set('content-security-policy', policy)
  headers.set(askedPathHeader, `${request.nextUrl.pathname}${request.nextUrl.search}`)
  const response = NextResponse.next({ request: { headers } })
  for (const [name, value] of Object.entries(commonHeaders)) response.headers.set(name, value)
  response.headers.set('content-security-policy', policy)
  return response
}

/** All but the API, which sets its own (lib/server/http/route.ts), and files that are the same for everyone. */
export const config = { matcher: ['/((?!api/|_next/static/|icon.svg).*)'] }
