/*
 * The edge. Every request of the API passes through `route`, which does, in this order and for all of them alike:
 *
 *   who       session or API token, then role and scope            401, 403
 *   token     an agent's Execution-Context on a write         403 ect_…
 *   where     a write by cookie comes from our own pages           403 cross_site
 *   what      media type, bound, UTF-8, nesting, schema            415, 413, 400
 *   again     the same Idempotency-Key gets the first answer       409 idempotency_key_reused
 *   work      the handler: parsed input in, an answer out
 *   answer    problem details for every refusal; the common headers
 *
 * So a handler is a few lines and believes what it is given. A GET or HEAD has no body and no key here, and a route that
 * declares either is refused for them: reading never changes anything. Nothing about a failure leaves but its code,
 * its sentence and an id to look up in the log.
 */
import type { z } from 'zod'
import { holds, type PersonPrincipal, type Principal, type Scope } from '@/lib/auth/principal'
import { Problem } from '@/lib/base/problem'
import { openedReadOnly } from '../opened'
import { defaultMaxBodyBytes, mediaTypeOf, parseJson, parseWith, readBytes } from './body'
import { refuseCrossSite } from './cross-site'
import { type AnswerStore, type IdempotentRequest, idempotentRequestOf, onceFor } from './idempotency'
import { type EdgeLog, problemResponse } from './problem-response'
import { withApiHeaders } from './security-headers'

/** What the edge needs of an installation; whatever else it has is passed on to handlers. */
export interface Edge {
  log: EdgeLog
  answers: AnswerStore
  /** Who the session cookie stands for; nothing when there is none. Throws Problem `session_ended`. */
  personOf(request: Request): Promise<Principal | undefined>
  /** Who the Authorization header stands for; nothing when there is none. Throws Problem `token_invalid`. */
  tokenOf(request: Request): Promise<Principal | undefined>
  /**
   * An agent's own token in `Execution-Context`, on a write that somebody is let in for: verified, and joined to the run
   * it is of. Throws Problem `ect_…`: a token that does not verify is never passed over.
   */
  joinCall?(request: Request): Promise<unknown>
  /** What browsers see when a proxy stands in front: `https://holdpoint.example.com`. */
  publicOrigin?: string
  /** The bundle that it shows: every write is refused. */
  opened?: { file: string }
}

interface Common<B> {
  /** A role of lib/hitl/roles.ts that the principal must meet. */
  role?: string
  /** The body's schema; JSON is expected. Use strict objects: unknown members are refused by name. */
  body?: z.ZodType<B>
  /** Media types taken instead of `application/json`; with no `body` schema the handler gets the bytes. */
  accepts?: readonly string[]
  maxBodyBytes?: number
  /** Honours `Idempotency-Key`. */
  idempotent?: boolean
}

export type RouteOptions<B> = Common<B> &
  (
    | { auth: 'none'; role?: never; idempotent?: never }
    | { auth: 'session' }
    /** A token also needs this scope. */
    | { auth: 'token' | 'either'; scope: Scope }
  )

export interface Call<I extends Edge, B, P> {
  installation: I
  request: Request
  url: URL
  params: Record<string, string>
  principal: P
  body: B
  /** The body as it came, for routes with `accepts`. */
  bytes: Uint8Array
  mediaType: string
  /** Present when the client sent a key: give `idempotency.answer(status, body)` to the commit that does the work. */
  idempotency?: IdempotentRequest
}

/** What Next gives a route handler besides the request. */
export interface RouteContext {
  params: Promise<Record<string, string | string[] | undefined>>
}

/** A session is a person's; only the Authorization header stands for anyone else. */
type PrincipalFor<O> = O extends { auth: 'none' }
  ? undefined
  : O extends { auth: 'session' }
    ? PersonPrincipal
    : Principal
type BodyFor<O> = O extends { body: z.ZodType<infer B> } ? B : undefined

/**
 * Makes `route` for an installation. `route(options, handler)` is what a `route.ts` exports as GET, POST and so on.
 * A handler answers with a Response (`json(…)` makes one), or throws a Problem.
 */
export function routesFor<I extends Edge>(installation: () => Promise<I>) {
  return function route<const O extends RouteOptions<unknown>>(
    options: O,
    handler: (call: Call<I, BodyFor<O>, PrincipalFor<O>>) => Promise<Response>,
  ) {
    return async (request: Request, context: RouteContext): Promise<Response> => {
      const where = `${request.method} ${safePath(request.url)}`
      let log: EdgeLog = console
      try {
        const edge = await installation()
        log = edge.log
        return withApiHeaders(await answer(edge, options, handler, request, context))
      } catch (error) {
        return problemResponse(error, where, log)
      }
    }
  }
}

async function answer<I extends Edge, O extends RouteOptions<unknown>>(
  edge: I,
  options: O,
  handler: (call: Call<I, BodyFor<O>, PrincipalFor<O>>) => Promise<Response>,
  request: Request,
  context: RouteContext,
): Promise<Response> {
  const reading = request.method === 'GET' || request.method === 'HEAD'
  if (reading && (options.body || options.accepts || options.idempotent)) {
    throw new Problem(
      'method_not_allowed',
      'This address only takes writes, and a GET never changes anything; use POST.',
      {
        allow: 'POST',
      },
    )
  }
  if (!reading && edge.opened) throw openedReadOnly(edge.opened)
  const principal = await admit(edge, options, request)
  // With a token there is no cookie to abuse; without any principal (sign-in, first run) the page still must be ours.
  if (!reading && principal?.kind !== 'api_token') refuseCrossSite(request, edge.publicOrigin)
  if (!reading && principal) await edge.joinCall?.(request)
  const { bytes, mediaType, body } = await bodyOf(options, request, reading)
  const call = {
    installation: edge,
    request,
    url: new URL(request.url),
    params: await paramsOf(context),
    principal: principal as PrincipalFor<O>,
    body: body as BodyFor<O>,
    bytes,
    mediaType,
  }
  const idempotency =
    options.idempotent && principal
      ? idempotentRequestOf(request, `${principal.kind}:${principal.id}`, bytes)
      : undefined
  if (!idempotency) return handler(call)
  return onceFor(idempotency, edge.answers, () => handler({ ...call, idempotency }))
}

/** Who is asking, once role and scope hold. A request with an Authorization header is never read as its cookie's. */
async function admit<B>(
  edge: Edge,
  options: RouteOptions<B>,
  request: Request,
): Promise<Principal | undefined> {
  if (options.auth === 'none') return undefined
  const bearer = request.headers.has('authorization')
  if (bearer && options.auth === 'session') {
    throw new Problem(
      'not_signed_in',
      'This is for signed-in people, not for API tokens; do it in the console.',
    )
  }
  const principal = bearer
    ? await edge.tokenOf(request)
    : options.auth === 'token'
      ? undefined
      : await edge.personOf(request)
  if (!principal) throw notSignedIn(options.auth)
  if (principal.kind === 'api_token') {
    const scope = 'scope' in options ? options.scope : undefined
    if (!scope || !principal.scopes.includes(scope)) {
      throw new Problem(
        'scope_missing',
        `The API token "${principal.name}" has no scope ${scope}; make one that has it.`,
        { scope },
      )
    }
  }
  if (options.role !== undefined && !holds(principal, options.role))
    throw roleMissing(principal, options.role)
  return principal
}

function notSignedIn(auth: 'session' | 'token' | 'either'): Problem {
  const mend = {
    session: 'sign in first',
    token: 'send an API token as "Authorization: Bearer hp_…"',
    either: 'sign in, or send an API token as "Authorization: Bearer hp_…"',
  }[auth]
  return new Problem('not_signed_in', `Nobody is signed in; ${mend}.`)
}

/** The refusal for a role that is not held; handlers that look closer use it too. */
export function roleMissing(principal: Principal, role: string): Problem {
  const held = principal.roles.length > 0 ? principal.roles.join(', ') : 'no role'
  return new Problem(
    'role_missing',
    `This needs the role ${role}; ${principal.name} holds ${held}. Ask an administrator.`,
    { role },
  )
}

async function bodyOf<B>(options: RouteOptions<B>, request: Request, reading: boolean) {
  const none = { bytes: new Uint8Array(), mediaType: '', body: undefined }
  if (reading) return none
  const expected = options.accepts ?? (options.body ? ['application/json'] : undefined)
  const mediaType = expected ? mediaTypeOf(request, expected) : ''
  // A route that expects nothing takes nothing: its bound is 0, so that nobody relies on what is thrown away.
  const bytes = await readBytes(request, expected ? (options.maxBodyBytes ?? defaultMaxBodyBytes) : 0)
  const body = options.body ? parseWith(options.body, parseJson(bytes), 'body') : undefined
  return { bytes, mediaType, body }
}

/** Single path parameters, decoded. */
async function paramsOf(context: RouteContext): Promise<Record<string, string>> {
  const params = await context.params
  return Object.fromEntries(
    Object.entries(params ?? {}).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join('/') : (value ?? ''),
    ]),
  )
}

/** A path for logs: no query, and no one-time token. */
function safePath(url: string): string {
  return new URL(url).pathname.replace(/^\/(first-run|invitation)\/.*/, '/$1/…').slice(0, 300)
}

/** A JSON answer. */
export function json(value: unknown, init: ResponseInit = {}): Response {
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(value), { ...init, headers })
}
