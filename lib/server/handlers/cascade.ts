/** The endpoints of the cascade draft, as NOTES section 4 prints them. */
import { z } from 'zod'
import { bareId } from '@/lib/ect/aerr-words'
import { scopeOfCascade } from '@/lib/rollback/scope'
import { callerOf, takeToken } from '../doors/caller'
import { checkpointAnswer } from '../doors/checkpoint-door'
import { circuitsFor, printedTime } from '../doors/circuits-door'
import { bodyOf, door } from '../doors/door'
import { placeAsAncestor } from '../doors/part-in-run'
import { prepareAtDoor } from '../doors/prepare-door'
import { type RollbackTold, rollbackAtDoor } from '../doors/rollback-door'
import { json } from '../http/route'

const id = z
  .string()
  .regex(/^[A-Za-z0-9:._-]{1,128}$/, 'An id of 1 to 128 letters, digits and :._- was expected')
const scope = z.enum(['single', 'sub_dag', 'full_workflow'])

const prepareBody = z.object({
  rollback_id: id,
  checkpoint_id: id,
  scope: scope.optional(),
  cascade: z.boolean().optional(),
})

/** `POST /.well-known/cascade/rollback/prepare` */
export const postPrepare = door(async (house, request) => {
  const { bytes, body } = await bodyOf(request, prepareBody)
  const caller = await callerOf(house, request, ['rollback_request', 'agent_prepare'], bytes)
  return prepareAtDoor(house, caller, {
    rollbackId: body.rollback_id,
    checkpointId: bareId(body.checkpoint_id),
    checkpointAs: body.checkpoint_id,
    scope: body.scope ?? scopeOfCascade(body.cascade ?? true),
  })
})

const rollbackBody = z.object({
  rollback_id: id,
  checkpoint_id: id,
  phase: z.literal(
    'execute',
    'The phase "execute" was expected; ask to prepare at /.well-known/cascade/rollback/prepare',
  ),
  scope: scope.optional(),
  cascade: z.boolean().optional(),
  reason: z.string().max(1000).default(''),
})

/** `POST /.well-known/cascade/rollback` */
export const postCascadeRollback = door(async (house, request) => {
  const { bytes, body } = await bodyOf(request, rollbackBody)
  const caller = await callerOf(house, request, ['rollback_request'], bytes)
  const ask = {
    rollbackId: body.rollback_id,
    checkpointId: bareId(body.checkpoint_id),
    checkpointAs: body.checkpoint_id,
    scope: body.scope ?? (body.cascade === undefined ? undefined : scopeOfCascade(body.cascade)),
    reason: body.reason,
  }
  const spoken = ({ status, before, after, cascaded, failedAgents }: RollbackTold) => ({
    rollback_id: body.rollback_id,
    status,
    checkpoint_id: body.checkpoint_id,
    state_hash_before: before,
    state_hash_after: after,
    cascaded,
    failed_agents: failedAgents,
  })
  return rollbackAtDoor(house, caller, 'cascade', ask, spoken)
})

/** `GET /.well-known/cascade/checkpoints/{id}` */
export const getCascadeCheckpoint = door(async (house, request, params) => {
  const caller = await callerOf(house, request, [])
  const place = await placeAsAncestor(house, caller, bareId(String(params.id ?? '')))
  await takeToken(house, caller)
  return json(await checkpointAnswer(house, place.runId, place.checkpoint.jti))
})

/** `GET /.well-known/cascade/circuits` */
export const getCascadeCircuits = door(async (house, request) => {
  const circuits = (await circuitsFor(house, request)).map((seen) => ({
    downstream_agent: seen.downstream,
    state: seen.state,
    error_rate: seen.errorRate,
    window_s: seen.windowS,
    last_failure: seen.lastFailureAt === undefined ? undefined : printedTime(seen.lastFailureAt),
    cooldown_remaining_s: seen.cooldownRemainingS,
    forced: seen.forced,
  }))
  return json({ circuits })
})
