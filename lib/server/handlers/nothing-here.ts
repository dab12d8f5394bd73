import { Problem } from '@/lib/base/problem'
import { problemResponse } from '../http/problem-response'
import { shownPath } from '../http/shown-path'

/** Where there is nothing, a program is told so as it is told everything else: in problem details. */
export async function nothingHere(request: Request): Promise<Response> {
  const path = shownPath(request)
  const problem = new Problem(
    'not_found',
    `There is nothing at ${path}; GET /api/v1 lists the addresses there are.`,
    { index: '/api/v1' },
  )
  return problemResponse(problem, `${request.method} ${path}`, console)
}
