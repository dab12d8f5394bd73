/*
 * The handlers behind app/api/auth: next-auth at the edge's terms. next-auth brings its own double-submit token; on top
 * of it a POST must come from our own pages, its body is bounded, and of all of next-auth's addresses only the four that
 * signing in and out need are open. A GET among them gives out the form's token and changes nothing.
 */
import NextAuth from 'next-auth'
import { z } from 'zod'
import type { AuthContext } from '@/lib/auth/auth-context'
import { useFirstRunLink } from '@/lib/auth/first-run'
import { nextAuthOptions } from '@/lib/auth/next-auth-options'
import { Problem } from '@/lib/base/problem'
import { openedReadOnly } from '../opened'
import { mediaTypeOf, readBytes } from './body'
import { addressOf } from './client-address'
import { refuseCrossSite } from './cross-site'
import { type EdgeLog, problemResponse } from './problem-response'
import { type Edge, json, type RouteContext, routesFor } from './route'
import { withApiHeaders } from './security-headers'

export interface SignInEdge extends Edge {
  auth: AuthContext
}

/** next-auth's addresses that are open, by method. */
const open: Record<string, readonly string[]> = {
  GET: ['csrf', 'providers'],
  POST: ['callback/credentials', 'signout'],
}
/** A name, a password and a token. */
const maxFormBytes = 16_384

/** GET and POST of `app/api/auth/[...nextauth]/route.ts`. */
export function signInHandler(installation: () => Promise<SignInEdge>) {
  return async (request: Request, context: RouteContext): Promise<Response> => {
    const { nextauth } = await context.params
    const action = Array.isArray(nextauth) ? nextauth.join('/') : ''
    let log: EdgeLog = console
    try {
      const edge = await installation()
      log = edge.log
      if (!open[request.method]?.includes(action))
        throw new Problem('not_found', 'There is nothing at this address.')
      if (request.method === 'POST' && edge.opened) throw openedReadOnly(edge.opened)
      if (request.method === 'POST') refuseCrossSite(request, edge.publicOrigin)
      return withApiHeaders(await askNextAuth(edge, request, action.split('/')))
    } catch (error) {
      return problemResponse(error, `${request.method} /api/auth/${action.slice(0, 60)}`, log)
    }
  }
}

/** POST of `app/api/auth/first-run/route.ts`: `{token, name, password}` makes the administrator. */
export function firstRunHandler(installation: () => Promise<SignInEdge>) {
  const body = z.strictObject({
    token: z.string().max(100),
    name: z.string().max(200),
    password: z.string().max(2_000),
  })
  return routesFor(installation)(
    { auth: 'none', body, maxBodyBytes: maxFormBytes },
    async ({ installation, body }) =>
      json(await useFirstRunLink(installation.auth, body.token, body), { status: 201 }),
  )
}

/** What next-auth's handler for plain Node servers writes to. Its other handler would read an unbounded body itself. */
class Answer {
  #status = 200
  #body: string | null = null
  readonly #headers = new Map<string, string | string[]>()

  status(status: number): this {
    this.#status = status
    return this
  }

  getHeader(name: string): string | string[] | undefined {
    return this.#headers.get(name.toLowerCase())
  }

  setHeader(name: string, value: string | string[]): this {
    this.#headers.set(name.toLowerCase(), value)
    return this
  }

  json(value: unknown): void {
    this.setHeader('content-type', 'application/json')
    this.#body = JSON.stringify(value)
  }

  send(value: unknown): void {
    if (typeof value === 'string') this.#body = value
    else if (value !== undefined) this.json(value)
  }

  end(): void {}

  response(): Response {
    const headers = new Headers()
    for (const [name, value] of this.#headers) {
      for (const one of [value].flat()) headers.append(name, one)
    }
    return new Response(this.#body, { status: this.#status, headers })
  }
}

type NodeHandler = (request: object, answer: Answer, options: object) => Promise<void>

async function askNextAuth(edge: SignInEdge, request: Request, nextauth: string[]): Promise<Response> {
  const form = request.method === 'POST' ? await formOf(request) : undefined
  const address = addressOf(request)
  const pageOrigin = request.headers.get('origin') ?? 'null'
  const options = nextAuthOptions(edge.auth, {
    ...(address !== 'unknown' && { address }),
    ...(pageOrigin !== 'null' && { pageOrigin }),
    userAgent: request.headers.get('user-agent') ?? '',
    onFailure: (error) => edge.log.error({ err: error }, 'Signing in failed unexpectedly'),
  })
  const answer = new Answer()
  const asked = {
    method: request.method,
    query: { nextauth },
    headers: Object.fromEntries(request.headers),
    cookies: cookiesOf(request.headers.get('cookie') ?? ''),
    body: form,
  }
  await (NextAuth as unknown as NodeHandler)(asked, answer, options)
  return answer.response()
}

async function formOf(request: Request): Promise<Record<string, string>> {
  mediaTypeOf(request, ['application/x-www-form-urlencoded'])
  const bytes = await readBytes(request, maxFormBytes)
  return Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString('utf8')))
}

function cookiesOf(header: string): Record<string, string> {
  const pairs = header.split(';').map((part) => {
    const equals = part.indexOf('=')
    return [part.slice(0, equals).trim(), decoded(part.slice(equals + 1).trim())] as const
  })
  return Object.fromEntries(pairs.filter(([name]) => name !== ''))
}

/** next-auth's own cookies are percent-encoded; what is not comes through as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
