/*
 * Taking back, in the three protocols. One phase (ATD, AERR): verified, restored, answered. Two phases (cascade): `prepare`
 * verifies and locks the checkpoint for that rollback, `execute` restores. The same rollback gets the same answer, also
 * after a restart. What cannot be undone is left alone: `escalated`, and a person is to know.
 */
import type { Checkpoint } from './checkpoints'
import { type Call, firstAnswer, type Parts } from './serve'
import { type Answer, must, ok, type Values } from './terms'
import { type Claims, spelled, uuidIn } from './tokens'

type Lock = { rollback_id: string; scope: string; until: number }
const breadth = ['single', 'sub_dag', 'full_workflow']
const lockMs = 60_000

export async function prepare(parts: Parts, call: Call): Promise<Answer> {
  const { rollback_id, id, reason, by } = await asked(parts, call)
  const { scope, checkpoint_id } = call.json
  const no = { status: 'cannot_prepare', reason, conflicting_rollback_id: by }
  if (!reason) await parts.shelf.put('locks', id, { rollback_id, scope, until: parts.now() + lockMs })
  return ok({ rollback_id, checkpoint_id, ...(reason ? no : { status: 'prepared' }) })
}

export async function rollback(parts: Parts, call: Call): Promise<Answer> {
  const { rollback_id, id, kept, reason, by } = await asked(parts, call)
  const names = [call.claims.jti, rollback_id].map((of) => `rollback ${call.claims.wid} ${of} ${id}`)
  return firstAnswer(parts, names, '', async () => {
    must(kept, 404, 'checkpoint_missing', `${parts.agent.name} has no checkpoint ${id}.`)
    must(reason !== 'expired', 409, 'checkpoint_expired', `The time of the checkpoint ${id} has passed.`)
    must(!by, 409, 'rollback_conflict', `${by} holds this checkpoint.`, { conflicting_rollback_id: by })
    const said = await restored(parts, call.claims, kept)
    await parts.shelf.drop('locks', id)
    return ok({ rollback_id, ...said, checkpoint_id: call.json.checkpoint_id })
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
  const kept = await parts.checkpoints.get(id)
  const isOurs = !kept || (kept.wid === wid && kept.iss === iss)
  must(isOurs, 403, 'rollback_outside_run', 'The checkpoint belongs to another run than the token.')
  const isNamed = !kept || par.includes(id)
  must(isNamed, 403, 'rollback_outside_run', 'The token does not name this checkpoint among its parents.')
  const [reason, by] = await whyNot(parts, json, kept)
  return { rollback_id, id, kept, reason, by }
}

/** Why it cannot be taken back, and which rollback holds it. The broader scope comes first, then the earlier. */
async function whyNot(parts: Parts, json: Values, kept?: Checkpoint): Promise<[string?, string?]> {
  if (!kept || kept.until <= parts.now()) return [kept ? 'expired' : 'unknown_checkpoint']
  if (!kept.reversible) return ['irreversible']
  const lock = await parts.shelf.get<Lock>('locks', kept.id)
  const isHeld = lock && lock.until > parts.now() && lock.rollback_id !== json.rollback_id
  const isNarrower = breadth.indexOf(`${json.scope}`) <= breadth.indexOf(lock?.scope ?? '')
  if (isHeld && isNarrower) return ['conflict', lock.rollback_id]
  return (await parts.checkpoints.open(kept).catch(() => undefined)) ? [] : ['hash_mismatch']
}

async function restored({ agent, checkpoints, answering }: Parts, claims: Claims, kept: Checkpoint) {
  const now = (await checkpoints.now(kept)).out_hash
  const { before, after } = kept.reversible ? await checkpoints.restore(kept) : { before: now, after: now }
  const status = !kept.reversible ? 'escalated' : after === kept.out_hash ? 'completed' : 'failed'
  const result = { status, checkpoint_id: kept.id, cascaded: [] }
  const hashes = { state_hash_before: before, state_hash_after: after }
  const isCascade = claims.exec_act === 'rollback_start'
  const act = isCascade ? 'rollback_complete' : 'atd:rollback_result'
  const ext = { ...spelled(isCascade ? 'cascade' : 'atd', result), ...spelled('cascade', hashes) }
  const result_ect = await answering(claims, act, after, { ext })
  return { ...result, ...hashes, failed_agents: status === 'failed' ? [agent.id] : [], result_ect }
}

/** An answer as AERR section 7 prints it. */
export function inAerr({ status, body }: Answer): Answer {
  const { cascaded: cascaded_rollbacks, failed_agents, ...rest } = body as Values
  const hex = (hash: unknown) => `sha256:${Buffer.from(`${hash}`, 'base64url').toString('hex')}`
  const hashes = { state_hash_before: hex(rest.state_hash_before), state_hash_after: hex(rest.state_hash_after) }
  return { status, body: { ...rest, ...hashes, cascaded_rollbacks } }
}
