/** The installation itself: health, who is signed in, keys, agents, API tokens, exports. */
import { z } from 'zod'
import { registerAgent } from '@/lib/auth/agents'
import { createApiToken } from '@/lib/auth/api-tokens'
import { actorOf, scopes } from '@/lib/auth/principal'
import { Problem } from '@/lib/base/problem'
import type { AgentRow, Page, Person } from '@/lib/view/wire'
import { bundleMediaType } from '../bundle/bundle'
import { collectBundle, writeBundle } from '../bundle/write-bundle'
import { route } from '../current'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'

/** `GET /api/v1/health`: answers as soon as the engine is there. */
export const getHealth = route({ auth: 'none' }, async () => json({ status: 'ok' }))

/** `GET /api/v1/me` */
export const getMe = route({ auth: 'session' }, async ({ principal }) =>
  json({ id: principal.id, name: principal.name, roles: [...principal.roles] } satisfies Person),
)

/** `GET /.well-known/jwks.json`, `GET /api/v1/keys`: public keys, present and former (RFC 7517). */
export const getKeys = route({ auth: 'none' }, async ({ installation }) => {
  return json(installation.keys.jwks(), { headers: { 'content-type': 'application/jwk-set+json' } })
})

/** `GET /api/v1/agents` */
export const listAgents = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation }) => {
    const items = (await installation.agents.list()).map(({ id, name, baseUrl, jwks, addedAt }): AgentRow => {
      const { keys } = JSON.parse(jwks) as { keys: unknown[] }
      return { id, name, baseUrl, keys: keys.length, addedAt }
    })
    return json({ items } satisfies Page<AgentRow>)
  },
)

const agentBody = z.strictObject({
  id: z.string().max(1000),
  name: z.string().max(200),
  base_url: z.string().max(500),
  jwks: z.json(),
})

/** `POST /api/v1/agents` */
export const postAgent = route({ auth: 'session', role: 'administrator', body: agentBody }, async (call) => {
  const { installation, principal, body } = call
  const { id, name, base_url: baseUrl, jwks } = body
  await registerAgent(installation.auth, { id, name, baseUrl, jwks }, actorOf(principal))
  return json({ id }, { status: 201 })
})

const tokenBody = z.strictObject({
  name: z.string().min(1).max(80),
  scopes: z.array(z.enum(scopes)).min(1),
  days: z.number().int().min(1).max(365).default(90),
})

/** `POST /api/v1/tokens`: the token is in the answer, once. */
export const postToken = route(
  { auth: 'session', body: tokenBody },
  async ({ installation, principal, body }) => {
    if (principal.kind !== 'person')
      throw new Problem('not_signed_in', 'Only a signed-in person makes API tokens')
    const { name, scopes, days } = body
    return json(await createApiToken(installation.auth, principal, { name, scopes, days }), { status: 201 })
  },
)

/** `GET /api/v1/runs/{run}/export`: the signed bundle. */
export const getExport = route({ auth: 'either', scope: 'export:read', role: 'viewer' }, async (call) => {
  const { installation, params } = call
  const runId = runIdFrom(params.run)
  const { store, keys, ports } = installation
  const contents = await collectBundle(runId, {
    ledger: store.ledger,
    workflows: store.workflows,
    keys: keys.jwks(),
  })
  const pieces = writeBundle(contents, keys.current, ports.timer.now())
  return new Response(new Blob(pieces as Uint8Array<ArrayBuffer>[]), {
    headers: {
      'content-type': bundleMediaType,
      'content-disposition': `attachment; filename="${runId}.holdpoint.tar"`,
    },
  })
})
