/** The agents that may be called and may report: administrators register them with their address and public keys. */
import { z } from 'zod'
import { keysOfAgent, registerAgent } from '@/lib/auth/agents'
import { actorOf } from '@/lib/auth/principal'
import { hashJson } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { agentProtocols } from '@/lib/base/protocols'
import { jwksOf, parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import type { AgentRecord } from '@/lib/store/agents'
import type { AgentActivity, AgentKey, AgentRow, PublishedKeys, RunKeys } from '@/lib/view/agent-wire'
import type { Page } from '@/lib/view/wire'
import { activityOf } from '../agent-activity'
import { publishedKeys, revokeKey, rotateKeys } from '../agent-keys'
import { route } from '../current'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'

const administrators = { auth: 'session', role: 'administrator' } as const
const viewers = { auth: 'either', scope: 'runs:read', role: 'viewer' } as const

/** The thumbprint is RFC 7638's: what an administrator compares with the agent's owner. */
function keyRows(keys: VerificationKeys, revoked: AgentRecord['revoked'] = {}): AgentKey[] {
  const rows = [...keys.values()].map(({ kid, alg, jwk, endedAt }) => ({
    kid,
    alg,
    thumbprint: hashJson(jwk),
    ...(endedAt !== undefined && { endedAt, endedBy: revoked[kid]?.by ?? '' }),
  }))
  const never = Number.POSITIVE_INFINITY
  return rows.sort((a, b) => (b.endedAt ?? never) - (a.endedAt ?? never) || 0)
}

function rowOf(agent: AgentRecord): AgentRow {
  const { jwks: _jwks, revoked, removedAt: _removedAt, ...rest } = agent
  const keys = keysOfAgent(agent)
  const good = new Map([...keys].filter(([, { endedAt }]) => endedAt === undefined))
  return { ...rest, keys: keyRows(keys, revoked), jwks: JSON.stringify(jwksOf(good)) }
}

/** `GET /api/v1/agents` */
export const listAgents = route(viewers, async ({ installation }) =>
  json({ items: (await installation.agents.list()).map(rowOf) } satisfies Page<AgentRow>),
)

const places = z.number().int().min(1).max(10_000)
const agentBody = z.strictObject({
  id: z.string().max(1000),
  name: z.string().max(200),
  base_url: z.string().max(500),
  jwks: z.json(),
  domain: z.string().max(200).optional(),
  role: z.string().max(200).optional(),
  protocols: z.array(z.enum(agentProtocols)).min(1).max(agentProtocols.length).optional(),
  /** Empty: its keys are changed by hand alone. */
  jwks_url: z.string().max(500).optional(),
  limits: z
    .strictObject({
      connections: places.optional(),
      connectionsPerWorkflow: places.optional(),
      queuePerWorkflow: z.number().int().min(0).max(10_000).optional(),
      requestsPerMinute: z.number().int().min(1).max(1_000_000).optional(),
    })
    .optional(),
  /** Gives an agent that is registered a new name, address and keys. */
  replace: z.boolean().default(false),
})

/** `POST /api/v1/agents` */
export const postAgent = route(
  { ...administrators, body: agentBody },
  async ({ installation, principal, body }) => {
    const { base_url: baseUrl, jwks_url: jwksUrl, limits, replace, ...said } = body
    const known = await installation.agents.get(said.id)
    if (known && known.removedAt === undefined && !replace) {
      throw new Problem(
        'name_taken',
        `The id is registered already, for "${known.name}"; change that agent instead.`,
        { field: 'id' },
      )
    }
    const agent = { ...said, baseUrl, ...(jwksUrl !== undefined && { jwksUrl }), ...(limits && { limits }) }
    await registerAgent(installation.auth, agent, actorOf(principal))
    installation.log.info({ agent: said.id, by: principal.name, replace }, `Registered the agent ${said.id}`)
    return json({ id: said.id }, { status: 201 })
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

const rotateBody = z.strictObject({ id: z.string().max(1000) })

/** `POST /api/v1/agents/rotate`: fetches the keys that the agent publishes now. */
export const rotateAgentKeys = route(
  { ...administrators, body: rotateBody },
  async ({ installation, principal, body: { id } }) => {
    const agent = await rotateKeys(installation.agents, id, installation.auth.clock.now())
    installation.log.info({ agent: id, by: principal.name }, `Fetched the keys of ${id} again`)
    return json(rowOf(agent) satisfies AgentRow)
  },
)

const revokeBody = z.strictObject({ id: z.string().max(1000), kid: z.string().min(1).max(500) })

/** `POST /api/v1/agents/revoke`: refuses one key from now on. */
export const revokeAgentKey = route(
  { ...administrators, body: revokeBody },
  async ({ installation, principal, body: { id, kid } }) => {
    const by = { at: installation.auth.clock.now(), by: actorOf(principal) }
    const agent = await revokeKey(installation.agents, id, kid, by)
    installation.log.warn({ agent: id, kid, by: principal.name }, `Revoked the key ${kid} of ${id}`)
    return json(rowOf(agent) satisfies AgentRow)
  },
)

/** `GET /api/v1/agents/activity?id=` */
export const getAgentActivity = route(viewers, async ({ installation, url }) => {
  const id = url.searchParams.get('id') ?? ''
  if (!(await installation.agents.get(id))) {
    throw new Problem('not_found', `No agent ${JSON.stringify(id.slice(0, 200))} is registered.`)
  }
  return json((await activityOf(installation, id)) satisfies AgentActivity)
})

/** Agents that one run may have tokens of and whose keys are told. */
const maxAgentsOfRun = 200

/** `GET /api/v1/runs/{run}/keys`: what a browser verifies the run's ledger with. */
export const getRunKeys = route(viewers, async ({ installation, params }) => {
  const runId = runIdFrom(params.run)
  const ids = await installation.book.read(runId, (run) => [...(run.reported?.agents ?? [])])
  const agents: RunKeys['agents'] = []
  for (const id of ids.slice(0, maxAgentsOfRun)) {
    const keys = await installation.keysOf(id)
    if (keys) agents.push({ id, keys: jwksOf(keys).keys })
  }
  return json({ keys: installation.keys.jwks().keys, agents } satisfies RunKeys)
})
