import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import type { JsonObject } from '@/lib/base/json'
import type { ApprovalRow, Page } from '@/lib/view/wire'
import { approvalCardOf, approvalRecord, approvalRowOf, decideApproval } from '../approvals'
import { route } from '../current'
import { pageOf, queryOf } from '../http/paging'
import { json } from '../http/route'

const listQuery = z.object({
  show: z.enum(['open', 'decided']).default('open'),
  cursor: z.string().optional(),
  limit: z.string().optional(),
})

/** `GET /api/v1/approvals` */
export const listApprovals = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, url, principal } = call
  const { show } = queryOf(url, listQuery)
  const { approvals } = installation.store
  const { items, next } = await (show === 'open'
    ? approvals.open({}, pageOf(url))
    : approvals.closed({}, pageOf(url)))
  const rows = await Promise.all(items.map((item) => approvalRowOf(installation, item, principal)))
  return json({ items: rows, next } satisfies Page<ApprovalRow>)
})

/** `GET /api/v1/approvals/{approval}` */
export const getApproval = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, principal } = call
  const record = await approvalRecord(installation, params.approval ?? '')
  return json(await approvalCardOf(installation, record, principal))
})

const decisionBody = z.strictObject({
  verdict: z.enum(['approve', 'refuse', 'took_effect', 'not_taken', 'acknowledge']),
  action: z.string().max(100),
  comment: z.string().max(500).default(''),
  edited: z.record(z.string(), z.json()).optional(),
})

/** `POST /api/v1/approvals/{approval}/decision` */
export const postDecision = route(
  { auth: 'either', scope: 'approvals:decide', body: decisionBody, idempotent: true },
  async ({ installation, params, principal, body }) => {
    const record = await approvalRecord(installation, params.approval ?? '')
    await decideApproval(installation, record, principal, {
      ...body,
      edited: body.edited as JsonObject | undefined,
    })
    return json(await approvalCardOf(installation, await approvalRecord(installation, record.id), principal))
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
