import { Problem } from '@/lib/base/problem'
import { problemResponse } from '../http/problem-response'

/** Where there is nothing, a program is told so as it is told everything else: in problem details. */
export function nothingHere(request: Request): Response {
  const { pathname } = new URL(request.url)
  const shown = pathname.length > 200 ? `${pathname.slice(0, 199)}…` : pathname
  const problem = new Problem(
    'not_found',
    `There is nothing at ${shown}; the addresses of the API are in its documentation.`,
  )
  return problemResponse(problem, `${request.method} ${shown}`, console)
}
