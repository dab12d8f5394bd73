/** The endpoints of AERR, as its sections 5 to 7 print them. */
import { z } from 'zod'
import { aerrAgentId, bareId, hexHash, mustBeSender } from '@/lib/ect/aerr-words'
import { errorTypes, severities } from '@/lib/engine/facts'
import { scopeOfCascade } from '@/lib/rollback/scope'
import { callerOf } from '../doors/caller'
import { circuitsFor, printedTime } from '../doors/circuits-door'
import { bodyOf, door } from '../doors/door'
import { tellError } from '../doors/error-door'
import { type RollbackTold, rollbackAtDoor } from '../doors/rollback-door'
import { json } from '../http/route'

const id = z.string().regex(/^[A-Za-z0-9:./_-]{1,300}$/, 'An id such as urn:uuid:… was expected')

const errorBody = z.object({
  error_id: id,
  source_agent: id.optional(),
  severity: z.enum(severities),
  checkpoint_id: id,
  error_type: z.enum(errorTypes).catch('unknown'),
  description: z.string().max(2000).default(''),
  timestamp: z.iso.datetime({ offset: true, error: 'An RFC 3339 time was expected' }).optional(),
  upstream_errors: z.array(id).max(100).default([]),
})

/** `POST /aerr/error`, `POST /.well-known/aerr/error` */
export const postAerrError = door(async (house, request) => {
  const { bytes, body } = await bodyOf(request, errorBody)
  const caller = await callerOf(house, request, ['error'], bytes)
  mustBeSender(body.source_agent, caller.agent.id, 'source_agent')
  return tellError(house, caller, {
    errorId: body.error_id,
    severity: body.severity,
    checkpointId: bareId(body.checkpoint_id),
    errorType: body.error_type,
    description: body.description,
    upstream: body.upstream_errors.map(bareId),
  })
})

const rollbackBody = z.object({
  rollback_id: id,
  checkpoint_id: id,
  reason: z.string().max(1000).default(''),
  initiator: id.optional(),
  cascade: z.boolean().default(true),
})

/** `POST /aerr/rollback`, `POST /.well-known/aerr/rollback` */
export const postAerrRollback = door(async (house, request) => {
  const { bytes, body } = await bodyOf(request, rollbackBody)
  const caller = await callerOf(house, request, ['rollback_request'], bytes)
  mustBeSender(body.initiator, caller.agent.id, 'initiator')
  const ask = {
    rollbackId: body.rollback_id,
    checkpointId: bareId(body.checkpoint_id),
    checkpointAs: body.checkpoint_id,
    scope: scopeOfCascade(body.cascade),
    reason: body.reason,
  }
  const spoken = ({ status, before, after, cascaded }: RollbackTold) => ({
    rollback_id: body.rollback_id,
    status,
    checkpoint_id: body.checkpoint_id,
    state_hash_before: before && hexHash(before),
    state_hash_after: after && hexHash(after),
    cascaded_rollbacks: cascaded.map((one) => ({ agent_id: aerrAgentId(one.agent), status: one.status })),
  })
  return rollbackAtDoor(house, caller, 'aerr', ask, spoken)
})

/** `GET /aerr/circuits`, `GET /.well-known/aerr/circuits` */
export const getAerrCircuits = door(async (house, request) => {
  const circuits = (await circuitsFor(house, request)).map((seen) => ({
    downstream_agent: aerrAgentId(seen.downstream),
    state: seen.state,
    error_rate: seen.errorRate,
    last_failure: seen.lastFailureAt === undefined ? undefined : printedTime(seen.lastFailureAt),
    cooldown_remaining_s: seen.cooldownRemainingS,
  }))
  return json({ circuits })
})
