/** Pools: how full each is, and their bounds, which administrators set. */
import { z } from 'zod'
import { Problem } from '@/lib/base/problem'
import { usualRules } from '@/lib/pool/schedule'
import type { PoolLimits, PoolUse } from '@/lib/pool/terms'
import type { AgentRecord } from '@/lib/store/agents'
import type { PoolList, PoolRow } from '@/lib/view/pool-wire'
import { route } from '../current'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { hereCapacity, hereSetting, hereSettingSchema, readHere, usualLimits } from '../pools'

/** `GET /api/v1/pools` */
export const listPools = route({ auth: 'session' }, async ({ installation }) =>
  json(await pools(installation)),
)

async function pools({ poolUse, settings, agents, auth }: Installation): Promise<PoolList> {
  const at = auth.clock.now()
  const [use, registered, here] = await Promise.all([poolUse.all(at), agents.list(), readHere(settings)])
  const known = new Set(registered.map(({ id }) => id))
  const unknown = new Set(use.map(({ pool }) => pool).filter((pool) => pool !== 'here' && !known.has(pool)))
  const items: PoolRow[] = [
    ...registered.map((agent) => agentRow(agent, use)),
    // Removed while steps were at work there.
    ...[...unknown].map((name) => ({ name, label: '', limits: usualLimits, workflows: usersOf(name, use) })),
    {
      name: 'here',
      label: '',
      limits: usualLimits,
      capacity: hereCapacity(here),
      workflows: usersOf('here', use),
    },
  ]
  return { items, starveAfterS: here.starve_after_s ?? usualRules.starveAfterS, at }
}

function agentRow({ id, name, limits }: AgentRecord, use: readonly PoolUse[]): PoolRow {
  return { name: id, label: name, limits: { ...usualLimits, ...limits }, workflows: usersOf(id, use) }
}

function usersOf(name: string, use: readonly PoolUse[]): PoolRow['workflows'] {
  return use
    .filter(({ pool }) => pool === name)
    .map(({ pool: _, ...one }) => one)
    .sort((one, other) => other.running + other.queued - (one.running + one.queued))
}

const limitsSchema = z
  .strictObject({
    connections: z.int().min(1).max(10_000),
    connections_per_workflow: z.int().min(1).max(10_000),
    queue_per_workflow: z.int().min(0).max(100_000),
    requests_per_minute: z.int().min(1).max(1_000_000).optional(),
  })
  .refine(({ connections, connections_per_workflow: each }) => each <= connections, {
    path: ['connections_per_workflow'],
    message: 'One workflow cannot have more than all together.',
  })

/**
 * `PUT /api/v1/pools?name=spiffe://…` or `?name=here`: an id is full of slashes, which a path does not carry through every
 * proxy. Who keeps the pool takes the new bounds within a second; what runs runs on.
 */
export const putPool = route(
  { auth: 'session', role: 'administrator', body: z.json() },
  async ({ installation, principal, url, body }) => {
    const { agents, settings, auth, log } = installation
    const name = url.searchParams.get('name') ?? ''
    if (name === 'here') {
      const value = fitting(hereSettingSchema, body)
      await settings.put(hereSetting, {
        value,
        updatedAt: auth.clock.now(),
        updatedBy: principal.name,
      })
    } else {
      const agent = await agents.get(name)
      if (!agent || agent.removedAt !== undefined) {
        throw new Problem('not_found', `No agent ${JSON.stringify(name.slice(0, 200))} is registered.`)
      }
      const { id, name: label, baseUrl, jwks, addedAt, addedBy } = agent
      const wish = fitting(limitsSchema, body)
      const limits: PoolLimits = {
        connections: wish.connections,
        connectionsPerWorkflow: wish.connections_per_workflow,
        queuePerWorkflow: wish.queue_per_workflow,
        ...(wish.requests_per_minute !== undefined && { requestsPerMinute: wish.requests_per_minute }),
      }
      await agents.put({ id, name: label, baseUrl, jwks, addedAt, addedBy, limits })
    }
    log.info({ pool: name, by: principal.name }, `${principal.name} set the bounds of ${name}`)
    return json(await pools(installation))
  },
)

/** Throws Problem `bad_request` at the first member that does not fit. */
function fitting<T>(schema: z.ZodType<T>, body: unknown): T {
  const read = schema.safeParse(body)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new Problem('bad_request', issue?.message ?? 'The body does not fit.', { field })
}
