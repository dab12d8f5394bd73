import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import { route } from '../current'
import { queryOf } from '../http/paging'
import { json } from '../http/route'
import { approvePlan, goalPlan, makeGoalPlan, planChoices } from '../plans'
import { workflowDetailOf } from './workflows'

/** `GET /api/v1/plans`: the models and configurations there are. */
export const getPlanChoices = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation }) => json(await planChoices(installation)),
)

const wish = z.strictObject({
  goal: z.string().min(1).max(16_384),
  backend: z.string().min(1).max(128).optional(),
  configuration: z.string().min(1).max(100).optional(),
})

/** `POST /api/v1/plans`: asks a model, at most three times. Nothing is run, and nothing can be until it is approved. */
export const postPlan = route(
  { auth: 'either', scope: 'workflows:write', role: 'author', body: wish },
  async ({ installation, body, principal, request }) =>
    json(await makeGoalPlan(installation, { ...body, by: actorOf(principal), signal: request.signal }), {
      status: 201,
    }),
)

const planQuery = z.object({ plan: z.string().min(1).max(100) })

/** `GET /api/v1/plans/{version}?plan=` */
export const getPlan = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params, url }) =>
    json(await goalPlan(installation, params.version ?? '', queryOf(url, planQuery).plan)),
)

/** `POST /api/v1/plans/{version}/approve`: by a person, signed in; a token cannot. */
export const approve = route(
  { auth: 'session', role: 'author', body: z.strictObject(planQuery.shape), idempotent: true },
  async ({ installation, params, principal, body }) => {
    const { record, isNew } = await approvePlan(installation, principal, {
      version: params.version ?? '',
      plan: body.plan,
    })
    return json(await workflowDetailOf(installation, record.version), { status: isNew ? 201 : 200 })
  },
)
