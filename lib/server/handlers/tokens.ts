/** One's own API tokens. A token is shown once, in the answer that makes it. */
import { z } from 'zod'
import { createApiToken, maxTokenDays } from '@/lib/auth/api-tokens'
import { scopes } from '@/lib/auth/principal'
import type { ApiTokenRecord } from '@/lib/store/person-records'
import type { ApiTokenRow, NewApiToken } from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { route } from '../current'
import { json } from '../http/route'

function rowOf({ personId: _, ...row }: ApiTokenRecord): ApiTokenRow {
  return row
}

/** `GET /api/v1/tokens`: newest first, those that are over too. */
export const listTokens = route({ auth: 'session' }, async ({ installation, principal }) => {
  const items = (await installation.people.tokensOf(principal.id)).map(rowOf)
  return json({ items } satisfies Page<ApiTokenRow>)
})

const tokenBody = z.strictObject({
  name: z.string().min(1).max(80),
  scopes: z.array(z.enum(scopes)).min(1),
  days: z.number().int().min(1).max(maxTokenDays).default(90),
})

/** `POST /api/v1/tokens`: the token is in the answer, once. */
export const postToken = route(
  { auth: 'session', body: tokenBody },
  async ({ installation, principal, body }) => {
    const { secret, token } = await createApiToken(installation.auth, principal, body)
    return json({ secret, token: rowOf(token) } satisfies NewApiToken, { status: 201 })
  },
)

/** `DELETE /api/v1/tokens/{token}`: refused from the next request on. */
export const deleteToken = route({ auth: 'session' }, async ({ installation, principal, params }) => {
  const { people, auth } = installation
  await people.revokeToken(params.token ?? '', principal.id, auth.clock.now())
  return new Response(null, { status: 204 })
})
