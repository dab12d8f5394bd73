import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import { route } from '../current'
import { flagStep } from '../flag'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'

const flagBody = z.strictObject({
  node: z.string().min(1).max(300),
  visit: z.number().int().min(1).max(1_000_000).optional(),
  reason: z.string().min(1).max(500),
})

/** `POST /api/v1/runs/{run}/flag` */
export const postFlag = route(
  { auth: 'either', scope: 'runs:write', role: 'operator', body: flagBody, idempotent: true },
  async ({ installation, params, principal, body, idempotency }) => {
    const { node, visit, reason } = body
    return json(
      await flagStep(installation, runIdFrom(params.run), {
        node,
        reason,
        by: actorOf(principal),
        ...(visit !== undefined && { visit }),
        ...(idempotency && { answer: (view) => idempotency.answer(200, JSON.stringify(view)) }),
      }),
    )
  },
)
