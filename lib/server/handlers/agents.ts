/** The agents that may be called and may report: administrators register them with their address and public keys. */
import { z } from 'zod'
import { keysOfAgent, registerAgent } from '@/lib/auth/agents'
import { actorOf } from '@/lib/auth/principal'
import { hashJson } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import type { AgentRecord } from '@/lib/store/agents'
import type { AgentKey, AgentRow, Page, PublishedKeys } from '@/lib/view/wire'
import { publishedKeys } from '../agent-keys'
import { route } from '../current'
import { json } from '../http/route'

const administrators = { auth: 'session', role: 'administrator' } as const

/** The thumbprint is RFC 7638's: what an administrator compares with the agent's owner. */
function keyRows(keys: VerificationKeys): AgentKey[] {
  return [...keys.values()].map(({ kid, alg, jwk }) => ({ kid, alg, thumbprint: hashJson(jwk) }))
}

function rowOf(agent: AgentRecord): AgentRow {
  const { id, name, baseUrl, jwks, addedAt, addedBy } = agent
  return { id, name, baseUrl, keys: keyRows(keysOfAgent(agent)), jwks, addedAt, addedBy }
}

/** `GET /api/v1/agents` */
export const listAgents = route(administrators, async ({ installation }) =>
  json({ items: (await installation.agents.list()).map(rowOf) } satisfies Page<AgentRow>),
)

const agentBody = z.strictObject({
  id: z.string().max(1000),
  name: z.string().max(200),
  base_url: z.string().max(500),
  jwks: z.json(),
  /** Gives an agent that is registered a new name, address and keys. */
  replace: z.boolean().default(false),
})

/** `POST /api/v1/agents` */
export const postAgent = route(
  { ...administrators, body: agentBody },
  async ({ installation, principal, body }) => {
    const { id, name, base_url: baseUrl, jwks, replace } = body
    const known = await installation.agents.get(id)
    if (known && known.removedAt === undefined && !replace) {
      throw new Problem(
        'name_taken',
        `The id is registered already, for "${known.name}"; change that agent instead.`,
        { field: 'id' },
      )
    }
    await registerAgent(installation.auth, { id, name, baseUrl, jwks }, actorOf(principal))
    installation.log.info({ agent: id, by: principal.name, replace }, `Registered the agent ${id}`)
    return json({ id }, { status: 201 })
  },
)

/** `DELETE /api/v1/agents?id=spiffe://…`: an id is full of slashes, which a path does not carry through every proxy. */
export const deleteAgent = route(administrators, async ({ installation, principal, url }) => {
  const id = url.searchParams.get('id') ?? ''
  await installation.agents.remove(id, installation.auth.clock.now())
  installation.log.info(
    { agent: id.slice(0, 300), by: principal.name },
    `Removed the agent ${id.slice(0, 300)}`,
  )
  return new Response(null, { status: 204 })
})

const lookUpBody = z.strictObject({ base_url: z.string().max(500) })

/** `POST /api/v1/agents/keys`: what the agent publishes. Registers nothing. */
export const lookUpKeys = route({ ...administrators, body: lookUpBody }, async ({ body }) => {
  const jwks = await publishedKeys(body.base_url)
  return json({ jwks, keys: keyRows(parseKeySet(jwks)) } satisfies PublishedKeys)
})
