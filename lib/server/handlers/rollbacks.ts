import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import type { RollbackId } from '@/lib/base/ids'
import { DEFAULT_ROLLBACK_S, MAX_ROLLBACK_S } from '@/lib/rollback/deadline'
import { route } from '../current'
import { parseWith } from '../http/body'
import { json } from '../http/route'
import { type PlanRequest, planFor, planViewOf, requestRollback, rollbackOf } from '../rollbacks'
import { runIdFrom } from '../run-id'

const scope = z.enum(['single', 'sub_dag', 'full_workflow'])
const only = z.literal('dependents')
const node = z.string().min(1).max(300)

/** A step, or one of its checkpoints. */
const planBody = z
  .strictObject({
    node: node.optional(),
    checkpoint: z.string().min(1).max(100).optional(),
    scope: scope.optional(),
    only: only.optional(),
  })
  .transform(({ node, checkpoint, ...reach }, context): PlanRequest => {
    if (checkpoint !== undefined && node === undefined) return { checkpoint, ...reach }
    if (node !== undefined && checkpoint === undefined) return { node, ...reach }
    context.addIssue({ code: 'custom', message: 'either "node" or "checkpoint" was expected' })
    return z.NEVER
  })

/** `POST /api/v1/runs/{run}/rollback-plans`: changes nothing. */
export const postPlan = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer', body: planBody },
  async ({ installation, params, principal, body }) =>
    json(planViewOf(await planFor(installation, runIdFrom(params.run), principal, body))),
)

/** `GET /api/v1/runs/{run}/rollback-plans?node=…|checkpoint=…&scope=…&only=…`: the same plan. */
export const getPlan = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params, principal, url }) => {
    const wish = parseWith(planBody, Object.fromEntries(url.searchParams), 'query')
    return json(planViewOf(await planFor(installation, runIdFrom(params.run), principal, wish)))
  },
)

const rollbackBody = z.strictObject({
  node,
  scope,
  only: only.optional(),
  digest: z.string().max(100),
  reason: z.string().max(500).default(''),
  /** Puts back what somebody else changed since, too (`changedSince` in the plan); without it those are left and asked about. */
  overwrite: z.boolean().optional(),
  /** Seconds it may take; what is not taken back by then is handed to a person. */
  deadline_s: z.number().int().min(1).max(MAX_ROLLBACK_S).default(DEFAULT_ROLLBACK_S),
})

/** `POST /api/v1/runs/{run}/rollbacks` */
export const postRollback = route(
  { auth: 'either', scope: 'rollbacks:execute', role: 'operator', body: rollbackBody, idempotent: true },
  async ({ installation, params, principal, body }) => {
    const runId = runIdFrom(params.run)
    const { deadline_s: withinS, ...wish } = body
    const id = await requestRollback(installation, runId, principal, { ...wish, withinS })
    return json(await rollbackOf(installation, runId, id), { status: 202 })
  },
)

/** `GET /api/v1/runs/{run}/rollbacks/{rollback}` */
export const getRollback = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) =>
    json(await rollbackOf(installation, runIdFrom(params.run), params.rollback ?? '')),
)

/** `POST /api/v1/runs/{run}/rollbacks/{rollback}/choice` */
export const postChoice = route(
  {
    auth: 'either',
    scope: 'rollbacks:execute',
    role: 'operator',
    body: z.strictObject({ choice: z.enum(['end', 'go_on']) }),
    idempotent: true,
  },
  async ({ installation, params, principal, body }) => {
    const runId = runIdFrom(params.run)
    const rollback = (params.rollback ?? '') as RollbackId
    const { choice } = body
    await installation.book.execute(runId, { type: 'choose', rollback, choice, by: actorOf(principal) })
    return json(await rollbackOf(installation, runId, rollback))
  },
)
