/*
 * The edge of the protocol endpoints, beside the API's own (http/route.ts): agents bring no cookie and no API token, so
 * who they are is each door's first question. What is refused is told in problem details like everywhere else.
 */
import type { z } from 'zod'
import { installation } from '../current'
import { defaultMaxBodyBytes, mediaTypeOf, parseJson, parseWith, readBytes } from '../http/body'
import { problemResponse } from '../http/problem-response'
import type { RouteContext } from '../http/route'
import { withApiHeaders } from '../http/security-headers'
import { shownPath } from '../http/shown-path'
import type { Installation } from '../installation'
import { openedReadOnly } from '../opened'

type Answering = (
  house: Installation,
  request: Request,
  params: Record<string, string | string[] | undefined>,
) => Promise<Response>

/** What a `route.ts` of a protocol endpoint exports. */
export function door(answer: Answering) {
  return async (request: Request, context?: RouteContext): Promise<Response> => {
    const house = await installation()
    try {
      if (house.opened && request.method !== 'GET') throw openedReadOnly(house.opened)
      return withApiHeaders(await answer(house, request, (await context?.params) ?? {}))
    } catch (error) {
      return problemResponse(error, `${request.method} ${shownPath(request)}`, house.log)
    }
  }
}

/** The JSON body of a request, and its octets as they came. Throws the Problems of http/body.ts. */
export async function bodyOf<T>(
  request: Request,
  schema: z.ZodType<T>,
): Promise<{ bytes: Uint8Array; body: T }> {
  mediaTypeOf(request, ['application/json'])
  const bytes = await readBytes(request, defaultMaxBodyBytes)
  return { bytes, body: parseWith(schema, parseJson(bytes), 'body') }
}
