import { z } from 'zod'
import { actorOf, holds } from '@/lib/auth/principal'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { route } from '../current'
import { forkTreeOf } from '../fork-tree'
import { forkPlan, forkRun } from '../forks'
import { json, roleMissing } from '../http/route'
import { runIdFrom } from '../run-id'

const place = {
  /** Sequence number of a token of the run. */
  at: z.int().min(1).max(10_000_000),
  /** Content hash of a version of the same workflow; absent: the run's own. */
  version: z.string().min(1).max(100).optional(),
}

/** `POST /api/v1/runs/{run}/fork-plans`: changes nothing. */
export const postForkPlan = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer', body: z.strictObject(place) },
  async ({ installation, params, body }) => json(await forkPlan(installation, runIdFrom(params.run), body)),
)

const forkBody = z.strictObject({
  ...place,
  input: z.json().optional(),
  /** Whole values of declared artifacts, by name. */
  artifacts: z
    .custom<JsonObject>(isJsonObject, 'An object with artifacts by their names was expected.')
    .optional(),
  dry_run: z.boolean().default(true),
  reason: z.string().max(500).optional(),
  /** Of the plan that was shown. */
  digest: z.string().min(1).max(100),
})

/** `POST /api/v1/runs/{run}/forks` */
export const postFork = route(
  { auth: 'either', scope: 'runs:write', body: forkBody, idempotent: true, maxBodyBytes: 4 * 1024 * 1024 },
  async ({ installation, params, principal, body, idempotency }) => {
    if (!holds(principal, 'operator') && !holds(principal, 'author')) throw roleMissing(principal, 'operator')
    const { dry_run: dryRun, artifacts, input, ...wish } = body
    const id = await forkRun(installation, runIdFrom(params.run), {
      ...wish,
      dryRun,
      ...(artifacts && { artifacts }),
      ...(input !== undefined && { input: input as Json }),
      by: actorOf(principal),
      answer: idempotency && ((run) => idempotency.answer(201, JSON.stringify({ id: run }))),
    })
    return json({ id }, { status: 201 })
  },
)

/** `GET /api/v1/runs/{run}/forks` */
export const getForks = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) => json(await forkTreeOf(installation, runIdFrom(params.run))),
)
