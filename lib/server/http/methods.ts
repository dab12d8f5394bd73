/*
 * An address answers every method: those it knows with its handlers, the others with what it does know. Left to Next,
 * they would be an empty 405 that no program can read. Every `route.ts` exports all of what `methods` returns;
 * methods.test.ts holds that.
 */
import { Problem } from '@/lib/base/problem'
import { problemResponse } from './problem-response'
import type { RouteContext } from './route'
import { withApiHeaders } from './security-headers'
import { shownPath } from './shown-path'

/** The methods that Next passes on to a `route.ts`. */
export const routeMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
type Method = (typeof routeMethods)[number]

type Handler = (request: Request, context: RouteContext) => Promise<Response>

/**
 * Handlers for all methods: the given ones; HEAD as GET, whose body the server leaves out; OPTIONS 204 with `Allow`;
 * any other 405 `method_not_allowed` with `Allow`.
 */
export function methods(given: Partial<Record<Exclude<Method, 'HEAD' | 'OPTIONS'>, Handler>>) {
  const known: Partial<Record<Method, Handler>> = { ...given, ...(given.GET ? { HEAD: given.GET } : {}) }
  const allow = routeMethods.filter((method) => known[method] || method === 'OPTIONS').join(', ')
  const tell: Handler = async () => withApiHeaders(new Response(null, { status: 204, headers: { allow } }))
  const refuse: Handler = async (request) => {
    const path = shownPath(request)
    const problem = new Problem(
      'method_not_allowed',
      `${path} takes no ${request.method}; it takes ${allow}.`,
      { allow },
    )
    return problemResponse(problem, `${request.method} ${path}`, console)
  }
  const all = routeMethods.map((method) => [method, known[method] ?? (method === 'OPTIONS' ? tell : refuse)])
  return Object.fromEntries(all) as Record<Method, Handler>
}
