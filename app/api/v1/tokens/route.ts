import { postReports } from '@/lib/server/handlers/ingest'
import { listTokens, postToken } from '@/lib/server/handlers/tokens'
import { methods } from '@/lib/server/http/methods'

/** People make API tokens in the console; whoever proves itself otherwise reports tokens that agents signed. */
function post(...[request, context]: Parameters<typeof postToken>): Promise<Response> {
  const isReport = request.headers.has('execution-context') || request.headers.has('authorization')
  return isReport ? postReports(request, context) : postToken(request, context)
}

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: listTokens, POST: post })
