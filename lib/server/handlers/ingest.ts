/** Agents report: `POST /api/v1/tokens` with tokens that they signed, by themselves or through somebody who relays them. */
import { z } from 'zod'
import { refuseReplay, verifyAgentRequest } from '@/lib/auth/agents'
import { Problem } from '@/lib/base/problem'
import { door } from '../doors/door'
import { mediaTypeOf, parseJson, parseWith, readBytes } from '../http/body'
import { json } from '../http/route'
import { audienceOf, type IngestWish, ingest, maxTokensAtOnce } from '../ingest'
import type { Installation } from '../installation'

/** A hundred of the longest tokens. */
const maxBodyBytes = 4 * 1_048_576
const tokenTypes = ['application/jose', 'application/jwt', 'text/plain'] as const

const compact = z.string().min(1).max(40_000)
const uuid = z.uuid()
const body = z.union(
  [
    z.strictObject({
      tokens: z.array(compact).min(1).max(maxTokensAtOnce),
      /** Parents in other runs: parent `jti` → the `wid` of its run. */
      links: z.record(uuid, uuid).optional(),
    }),
    z.strictObject({ token: compact, links: z.record(uuid, uuid).optional() }),
  ],
  `{"token": "…"} or {"tokens": […]} was expected, with 1 to ${maxTokensAtOnce} compact tokens, and beside it at most "links" of UUIDs`,
)

/**
 * `POST /api/v1/tokens` of agents. The sender proves itself by its own token in `Execution-Context`, or with an API token
 * of the scope `tokens:report`; each token in the body by its signature. Without a body the token of the field is the one
 * that is reported. Answers with what became of each.
 */
export const postReports = door(async (house, request) => {
  const bytes = await readBytes(request, maxBodyBytes)
  const isAlone = bytes.byteLength === 0
  const field = request.headers.get('execution-context')?.trim()
  await admit(house, request, isAlone)
  if (isAlone && field === undefined) {
    throw new Problem('bad_request', 'The body is empty; send one compact token, or {"tokens": […]}.')
  }
  const wish = isAlone ? { tokens: [field as string] } : wishIn(request, bytes)
  return json({ items: await ingest(house, wish) })
})

function wishIn(request: Request, bytes: Uint8Array): IngestWish {
  const type = mediaTypeOf(request, ['application/json', ...tokenTypes])
  if (type !== 'application/json') return { tokens: [Buffer.from(bytes).toString('latin1').trim()] }
  const { links, ...sent } = parseWith(body, parseJson(bytes), 'body')
  return { tokens: 'token' in sent ? [sent.token] : sent.tokens, ...(links && { links }) }
}

/** Who sends. The token that is itself reported may come again, and gets its first answer. */
async function admit(house: Installation, request: Request, isAlone: boolean): Promise<void> {
  if (request.headers.has('authorization')) {
    const principal = await house.tokenOf(request)
    if (principal?.kind !== 'api_token') {
      throw new Problem(
        'token_invalid',
        'The API token is not known; send one as "Authorization: Bearer hp_…".',
      )
    }
    if (principal.scopes.includes('tokens:report')) return
    throw new Problem(
      'scope_missing',
      `The API token "${principal.name}" has no scope tokens:report; make one that has it.`,
      { scope: 'tokens:report' },
    )
  }
  if (isAlone) return
  const { origin, pathname } = new URL(request.url)
  const sender = await verifyAgentRequest(house.auth, request, [...audienceOf(house), `${origin}${pathname}`])
  await house.agentRates.spend(sender.principal.id, house.ports.timer.now())
  await refuseReplay(house.store.ledger, sender)
}
