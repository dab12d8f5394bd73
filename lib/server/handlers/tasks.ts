import { z } from 'zod'
import { isHash } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { errorTypes } from '@/lib/engine/facts'
import { route } from '../current'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'
import {
  checkpointTask,
  claimTask,
  completeTask,
  failTask,
  heartbeatTask,
  offeredTasks,
  type TaskPlace,
  taskView,
} from '../tasks'

const work = { auth: 'either', scope: 'tasks:work', role: 'operator' } as const

/** `GET /api/v1/tasks`: what is offered now. */
export const listTasks = route(
  { auth: 'either', scope: 'tasks:work', role: 'viewer' },
  async ({ installation }) => json({ items: await offeredTasks(installation) }),
)

/** `GET /api/v1/tasks/{run}/{node}` */
export const getTask = route(
  { auth: 'either', scope: 'tasks:work', role: 'viewer' },
  async ({ installation, params }) =>
    json(await taskView(installation, runIdFrom(params.run), params.node ?? '')),
)

/** An agent by its SPIFFE id, which must be registered: it is who the ledger will name. */
const agent = z.string().min(1).max(500)
const visit = z.number().int().min(1).default(1)
const claimS = z.number().int().min(10).max(3600).default(60)

function placeOf(params: Record<string, string>, body: { visit: number }): TaskPlace {
  return { runId: runIdFrom(params.run), node: params.node ?? '', visit: body.visit }
}

/** `POST /api/v1/tasks/{run}/{node}/claim` */
export const postClaim = route(
  { ...work, body: z.strictObject({ agent, visit, claim_s: claimS }), idempotent: true },
  async ({ installation, params, body }) =>
    json(await claimTask(installation, placeOf(params, body), body.agent, body.claim_s)),
)

/** `POST /api/v1/tasks/{run}/{node}/heartbeat` */
export const postHeartbeat = route(
  { ...work, body: z.strictObject({ agent, visit, claim_s: claimS }), idempotent: true },
  async ({ installation, params, body }) =>
    json(await heartbeatTask(installation, placeOf(params, body), body.agent, body.claim_s)),
)

const checkpointBody = z.strictObject({
  agent,
  visit,
  out_hash: z.string().refine(isHash, 'Expected the base64url SHA-256 of the state, 43 characters'),
  reversible: z.boolean(),
  rollback_uri: z.url().max(1000),
  target: z.string().max(200),
  description: z.string().max(300),
  ttl: z.number().int().min(60).max(31_536_000).default(86_400),
  /** A token names at most 100 parents, and one of them is the task's. */
  children: z.array(z.string().min(1).max(100)).min(1).max(99).optional(),
})

/** `POST /api/v1/tasks/{run}/{node}/checkpoint` */
export const postCheckpoint = route({ ...work, body: checkpointBody, idempotent: true }, async (call) => {
  const { installation, params, body } = call
  const { agent: claimant, visit: _visit, ...checkpoint } = body
  return json(await checkpointTask(installation, placeOf(params, body), claimant, checkpoint), {
    status: 201,
  })
})

const maxOutputBytes = 1024 * 1024

/** `POST /api/v1/tasks/{run}/{node}/complete` */
export const postComplete = route(
  {
    ...work,
    body: z.strictObject({ agent, visit, output: z.json() }),
    idempotent: true,
    maxBodyBytes: maxOutputBytes,
  },
  async ({ installation, params, body }) => {
    await completeTask(installation, placeOf(params, body), body.agent, body.output)
    return json(await taskView(installation, runIdFrom(params.run), params.node ?? ''))
  },
)

const failBody = z.strictObject({
  agent,
  visit,
  error_type: z.enum(errorTypes).default('action_failed'),
  severity: z.enum(['error', 'critical']).default('error'),
  code: z.string().max(60).default('task_failed'),
  /** Errors that it came from: ids of their tokens. */
  upstream_errors: z.array(z.string().min(1).max(100)).max(20).default([]),
  description: z.string().min(1).max(500),
  retriable: z.boolean().default(false),
})

/** `POST /api/v1/tasks/{run}/{node}/fail` */
export const postFail = route(
  { ...work, body: failBody, idempotent: true },
  async ({ installation, params, body }) => {
    const { agent: claimant, visit: _visit, error_type, upstream_errors: upstream, ...failure } = body
    if (failure.description.trim() === '')
      throw new Problem('bad_request', 'Say in "description" what failed')
    await failTask(installation, placeOf(params, body), claimant, {
      ...failure,
      errorType: error_type,
      upstream,
    })
    return json(await taskView(installation, runIdFrom(params.run), params.node ?? ''))
  },
)
