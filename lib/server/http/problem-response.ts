/*
 * Refusals on the wire: RFC 9457 problem details from the one table of codes. What is no Problem is a fault of ours: it
 * answers `internal` with an id, and its own words go to the log under that id and nowhere else.
 */
import { mintUuid } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import type { ProblemDetails } from '@/lib/view/wire'
import { withApiHeaders } from './security-headers'

/** What the edge asks of a log; pino's loggers fit. */
export interface EdgeLog {
  warn(data: object, sentence: string): void
  error(data: object, sentence: string): void
}

/** The body of a refusal. */
export function detailsOf(problem: Problem): ProblemDetails {
  return {
    ...problem.data,
    type: `urn:holdpoint:problem:${problem.code}`,
    title: titleOf(problem.code),
    status: problem.status,
    detail: problem.message,
    code: problem.code,
  }
}

/** Parts of codes that are no words, as a title says them. */
const partWords = new Map([
  ['ect', 'token'],
  ['alg', 'algorithm'],
  ['typ', 'type'],
  ['ext', 'extension'],
  ['jti', 'id'],
  ['url', 'URL'],
])

/** `approval_decided` as a title: `Approval decided`; `ect_malformed`: `Token malformed`. */
function titleOf(code: string): string {
  const title = code
    .split('_')
    .map((part) => partWords.get(part) ?? part)
    .join(' ')
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** The response to anything a handler threw. `where` is a method and a path without secrets. */
export function problemResponse(error: unknown, where: string, log: EdgeLog): Response {
  const problem = asProblem(error, where, log)
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  const retryAfterS = problem.data.retryAfterS
  if (typeof retryAfterS === 'number') headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterS))))
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer realm="holdpoint"')
  if (problem.code === 'method_not_allowed' && typeof problem.data.allow === 'string') {
    headers.set('allow', problem.data.allow)
  }
  return withApiHeaders(new Response(JSON.stringify(detailsOf(problem)), { status: problem.status, headers }))
}

function asProblem(error: unknown, where: string, log: EdgeLog): Problem {
  if (isProblem(error)) {
    // Refusals are ordinary; those of 500 and above mean that somebody has to look after the installation, but for work
    // that a breaker keeps out.
    if (error.status >= 500 && error.code !== 'dependency_open')
      log.error({ err: error, code: error.code, where }, `Could not answer ${where}: ${error.message}`)
    return error
  }
  const errorId = mintUuid()
  log.error({ err: error, errorId, where }, `Failed unexpectedly at ${where} (${errorId})`)
  return new Problem(
    'internal',
    `Holdpoint failed while it answered this; nothing more is known here. The server's log has the cause under ${errorId}.`,
    { errorId },
  )
}
