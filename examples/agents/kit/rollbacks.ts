/*
 * Taking back, in the three protocols. One phase (ATD, AERR): verified, restored, answered. Two phases (cascade): `prepare`
 * verifies and locks the checkpoint for that rollback, `execute` restores. The same rollback gets the same answer, also
 * after a restart. What cannot be undone, or is in another state than the request expects, is left alone: `escalated`.
 */
import { type Answer, must, ok, type Values } from './answers'
import { type Checkpoint, checkpointOf, opened, restore, stateNow } from './checkpoints'
import { firstAnswer } from './once'
import type { Call, Parts } from './terms'
import { spelled, uuidIn } from './tokens'

type Lock = { rollback_id: string; scope: string; until: number }
const breadth = ['single', 'sub_dag', 'full_workflow']
const lockMs = 60_000
const foreign = { description: 'It is in no state that the request expects; nothing was put back.' }

export async function prepare(parts: Parts, call: Call): Promise<Answer> {
  const { rollback_id, id, no } = await asked(parts, call)
  const { scope, checkpoint_id } = call.json
  if (no) return ok({ rollback_id, checkpoint_id, status: 'cannot_prepare', ...no })
  await parts.store.put('locks', id, { rollback_id, scope, until: parts.now() + lockMs })
  return ok({ rollback_id, checkpoint_id, status: 'prepared' })
}

export async function rollback(parts: Parts, call: Call): Promise<Answer> {
  const { rollback_id, id, kept, no } = await asked(parts, call)
  const names = [call.claims.jti, rollback_id].map((of) => `rollback ${call.claims.wid} ${of} ${id}`)
  return firstAnswer(parts, names, async () => {
    must(kept, 404, 'checkpoint_missing', `${parts.agent.name} has no checkpoint ${id}.`)
    must(no?.reason !== 'expired', 409, 'checkpoint_expired', `The time of the checkpoint ${id} has passed.`)
    const by = no?.conflicting_rollback_id
    must(!by, 409, 'rollback_conflict', `${by} holds this checkpoint.`, { conflicting_rollback_id: by })
    const said = await restored(parts, call, kept)
    await parts.store.put('locks', id, { until: 0 })
    return ok({ rollback_id, checkpoint_id: call.json.checkpoint_id, ...said })
  })
}

/** Only the run that made the checkpoint, with a token that asks for this one, gets it back. */
async function asked(parts: Parts, { claims, json }: Call) {
  const [rollback_id, id] = [`${json.rollback_id}`, uuidIn(json.checkpoint_id)]
  const isWhole = /^[\w:.-]{1,200}$/.test(rollback_id)
  must(isWhole && id, 400, 'bad_request', 'A rollback_id and the UUID of a checkpoint_id were expected.')
  const { exec_act: act, wid, iss, par } = claims
  const isFor = ['atd:rollback_request', 'rollback_start'].includes(act)
  must(isFor, 403, 'ect_claim_invalid', `A token for "${act}" does not ask for a rollback.`)
  const kept = await checkpointOf(parts, id)
  const mustBeOurs = (holds: boolean, detail: string) => must(holds, 403, 'rollback_outside_run', detail)
  mustBeOurs(!kept || (kept.wid === wid && kept.iss === iss), 'The checkpoint belongs to another run than the token.')
  mustBeOurs(!kept || par.includes(id), 'The token does not name this checkpoint among its parents.')
  return { rollback_id, id, kept, no: await whyNot(parts, json, kept) }
}

/** Why it cannot be taken back. Of two rollbacks the broader comes first, then the earlier. */
async function whyNot(parts: Parts, { rollback_id, scope }: Values, kept?: Checkpoint) {
  if (!kept) return { reason: 'unknown_checkpoint' }
  if (kept.until <= parts.now()) return { reason: 'expired' }
  if (!kept.reversible) return { reason: 'irreversible' }
  const lock = await parts.store.get<Lock>('locks', kept.id)
  const isHeld = lock && lock.until > parts.now() && lock.rollback_id !== rollback_id
  const isNarrower = breadth.indexOf(`${scope}`) <= breadth.indexOf(lock?.scope ?? '')
  if (isHeld && isNarrower) return { reason: 'conflict', conflicting_rollback_id: lock.rollback_id }
  return (await opened(parts, kept).then(Boolean, () => false)) ? undefined : { reason: 'hash_mismatch' }
}

async function restored(parts: Parts, { claims }: Call, kept: Checkpoint) {
  const { reversible, out_hash, id: checkpoint_id } = kept
  const [now, expected] = [(await stateNow(parts, kept)).out_hash, claims.ext?.['hp.expected_states']]
  const may = reversible && (!Array.isArray(expected) || [...expected, out_hash].includes(now))
  const [state_hash_before, state_hash_after] = may ? await restore(parts, kept) : [now, now]
  const status = !may ? 'escalated' : state_hash_after === out_hash ? 'completed' : 'failed'
  const hashes = { state_hash_before, state_hash_after }
  const words = claims.exec_act === 'rollback_start' ? 'cascade' : 'atd'
  const act = words === 'cascade' ? 'rollback_complete' : 'atd:rollback_result'
  const ext = { ...spelled(words, { status, checkpoint_id, cascaded: [] }), ...spelled('cascade', hashes) }
  const result_ect = await parts.answering(claims, act, state_hash_after, { ext })
  const failed_agents = status === 'failed' ? [parts.agent.id] : []
  return { status, ...hashes, cascaded: [], failed_agents, result_ect, ...(reversible && !may && foreign) }
}

/** An answer as AERR section 7 prints it. */
export function inAerr({ status, body }: Answer): Answer {
  const { cascaded: cascaded_rollbacks, failed_agents, ...rest } = body as Values
  const hex = (hash: unknown) => `sha256:${Buffer.from(`${hash}`, 'base64url').toString('hex')}`
  const [state_hash_before, state_hash_after] = [hex(rest.state_hash_before), hex(rest.state_hash_after)]
  return { status, body: { ...rest, state_hash_before, state_hash_after, cascaded_rollbacks } }
}
