import { z } from 'zod'
import { actorOf, type Principal } from '@/lib/auth/principal'
import type { JsonObject } from '@/lib/base/json'
import type { ApprovalCard, ApprovalRow } from '@/lib/view/approval-wire'
import type { Page } from '@/lib/view/wire'
import { approvalCardOf, approvalRecord, approvalRowOf, decideApproval } from '../approvals'
import { route } from '../current'
import { type EventPlace, giveEvent } from '../give-event'
import { type PageRequest, pageOf, queryOf } from '../http/paging'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { lookAgain } from '../look-again'
import { putBackAsked } from '../put-back'
import { runIdFrom } from '../run-id'

const listQuery = z.object({
  show: z.enum(['open', 'decided']).default('open'),
  cursor: z.string().optional(),
  limit: z.string().optional(),
})

/** `GET /api/v1/approvals` */
export const listApprovals = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, url, principal } = call
  const { show } = queryOf(url, listQuery)
  return json(await approvalPage(installation, principal, show, pageOf(url)))
})

/** One page of the inbox, as this person sees it. */
export async function approvalPage(
  installation: Installation,
  principal: Principal,
  show: 'open' | 'decided',
  page: PageRequest,
): Promise<Page<ApprovalRow>> {
  const { approvals } = installation.store
  const { items, next } = await (show === 'open' ? approvals.open({}, page) : approvals.closed({}, page))
  return { items: await Promise.all(items.map((item) => approvalRowOf(installation, item, principal))), next }
}

/** `GET /api/v1/approvals/{approval}` */
export const getApproval = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, principal } = call
  return json(await approvalCard(installation, principal, params.approval ?? ''))
})

/** The card of one question. Throws Problem `not_found`. */
export async function approvalCard(
  installation: Installation,
  principal: Principal,
  id: string,
): Promise<ApprovalCard> {
  return approvalCardOf(installation, await approvalRecord(installation, id), principal)
}

/** `GET /api/v1/approvals/{approval}/now` */
export const getApprovalNow = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, principal } = call
  const record = await approvalRecord(installation, params.approval ?? '')
  return json(await lookAgain(installation, record, principal))
})

/** `GET /api/v1/approvals/{approval}/put-back/{checkpoint}`: for those alone who may say that it is put back all the same. */
export const getApprovalPutBack = route({ auth: 'either', scope: 'approvals:decide' }, async (call) => {
  const { installation, params, principal } = call
  const record = await approvalRecord(installation, params.approval ?? '')
  return json(await putBackAsked(installation, record, principal, params.checkpoint ?? ''))
})

/** A person writes little, and a program may bring a report along. */
const maxDecisionBytes = 4 * 1024 * 1024
const artifactValues = z
  .record(z.string(), z.json())
  .refine((values) => Object.keys(values).length <= 256, 'At most 256 artifacts go with an event.')

const decisionBody = z.strictObject({
  verdict: z.enum([
    'approve',
    'refuse',
    'took_effect',
    'not_taken',
    'acknowledge',
    'event',
    'go_on_without',
    'abort',
    'escalate',
    'ask_again',
    'overwrite',
    'release',
    'hold',
  ]),
  action: z.string().max(100),
  comment: z.string().max(500).default(''),
  edited: z.record(z.string(), z.json()).optional(),
  seen: z.string().max(100).optional(),
  event: z.string().max(200).optional(),
  artifacts: artifactValues.optional(),
})

/** `POST /api/v1/approvals/{approval}/decision` */
export const postDecision = route(
  {
    auth: 'either',
    scope: 'approvals:decide',
    body: decisionBody,
    idempotent: true,
    maxBodyBytes: maxDecisionBytes,
  },
  async ({ installation, params, principal, body }) => {
    const record = await approvalRecord(installation, params.approval ?? '')
    await decideApproval(installation, record, principal, {
      ...body,
      edited: body.edited as JsonObject | undefined,
      artifacts: body.artifacts as JsonObject | undefined,
    })
    return json(await approvalCardOf(installation, await approvalRecord(installation, record.id), principal))
  },
)

const eventBody = z.strictObject({
  event: z.string().min(1).max(200),
  /** Id of the state; absent: the one the run is at. */
  node: z.string().min(1).max(300).optional(),
  comment: z.string().max(500).default(''),
  artifacts: artifactValues.optional(),
})

/** `POST /api/v1/runs/{run}/events`: tells a state that waits for it, or a hybrid one at work, what happened. */
export const postEvent = route(
  {
    auth: 'either',
    scope: 'approvals:decide',
    body: eventBody,
    idempotent: true,
    maxBodyBytes: maxDecisionBytes,
  },
  async ({ installation, params, principal, body, idempotency }) => {
    const runId = runIdFrom(params.run)
    const { event, node, comment } = body
    const answerOf = (place: EventPlace) => ({ run: runId, event, ...place })
    const place = await giveEvent(installation, runId, principal, {
      event,
      comment,
      artifacts: body.artifacts as JsonObject | undefined,
      ...(node !== undefined && { node }),
      ...(idempotency && {
        answer: (at: EventPlace) => idempotency.answer(200, JSON.stringify(answerOf(at))),
      }),
    })
    return json(answerOf(place))
  },
)

const commentBody = z.strictObject({ comment: z.string().min(1).max(500) })

/** `POST /api/v1/approvals/{approval}/comments` */
export const postComment = route(
  { auth: 'either', scope: 'approvals:decide', role: 'viewer', body: commentBody, idempotent: true },
  async ({ installation, params, principal, body }) => {
    const record = await approvalRecord(installation, params.approval ?? '')
    await installation.book.execute(record.runId, {
      type: 'comment',
      approval: record.id as `appr_${string}`,
      by: actorOf(principal),
      comment: body.comment,
    })
    return json(await approvalCardOf(installation, record, principal))
  },
)
