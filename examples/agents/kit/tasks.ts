/*
 * The five phases of a task: describe · checkpoint · execute · probe · state. A token is for one phase and one body, and is
 * used once; the same idempotency key acts once.
 */
import { randomUUID } from 'node:crypto'
import { type Call, firstAnswer, type Parts, spend } from './serve'
import { type Answer, must, type Operation, Refusal, type Values } from './terms'
import { uuid } from './tokens'

const dayS = 86_400
const ok = (body: unknown): Answer => ({ status: 200, body })
export const refused = (error: unknown): Answer => {
  if (error instanceof Refusal) return error.answer
  throw error
}

export async function task(parts: Parts, call: Call): Promise<Answer> {
  const { claims, json } = call
  const { phase, operation: name, checkpoint_id: id = randomUUID(), idempotency_key: key } = json
  const act = claims.exec_act
  must(act === `hp:agent_${phase}`, 403, 'ect_claim_invalid', `A token for "${act}" is not for "${phase}".`)
  const isBound = claims.ext?.['hp.body_hash'] === call.hash
  must(
    isBound,
    403,
    'ect_claim_invalid',
    'The token was made for another body than the one that came with it.',
  )
  const isSame =
    `${json.run ?? claims.wid}`.replace('run_', '').replaceAll('-', '') === claims.wid.replaceAll('-', '')
  must(isSame, 403, 'rollback_outside_run', 'The token belongs to another run than the body names.')
  must(uuid.test(`${id}`), 400, 'bad_request', '"checkpoint_id" is no UUID.')
  await spend(parts, claims)
  const operation = Object.hasOwn(parts.agent.operations, `${name}`) && parts.agent.operations[`${name}`]
  must(operation, 422, 'operation_unknown', `${parts.agent.name} has no operation "${name}".`)
  const input = (json.input ?? {}) as Values
  const names = key === undefined ? [] : [`execute ${claims.wid} ${key}`]
  const perform = () => operation.execute(input, `${key ?? claims.jti}`).then(ok, refused)
  if (phase === 'describe')
    return ok({ consequence: operation.consequence, ...(await operation.describe(input)) })
  if (phase === 'state') return ok({ state_hash: await parts.checkpoints.hashNow(`${name}`) })
  if (phase === 'checkpoint') return ok(await checkpoint(parts, call, operation, input, `${id}`))
  if (phase === 'execute')
    return firstAnswer(parts, names, JSON.stringify([json.node, json.visit, name, input]), perform)
  must(phase === 'probe', 400, 'bad_request', `There is no phase "${phase}".`)
  return ok({ outcome: await probe(parts, call, operation, input, names[0]) })
}

/** Asked again under the same id, it answers the same. */
async function checkpoint(parts: Parts, { claims, json }: Call, of: Operation, input: Values, id: string) {
  const { wid, iss, par } = claims
  const operation = `${json.operation}`
  const earlier = await parts.checkpoints.get(id)
  const isOurs = !earlier || (earlier.wid === wid && earlier.operation === operation)
  must(isOurs, 403, 'rollback_outside_run', `The checkpoint ${id} belongs to another step.`)
  if (earlier) return earlier.said
  const { target, sentence: description } = await of.describe(input)
  const children = Array.isArray(json.children) ? json.children.map(String) : []
  const out_hash = await parts.checkpoints.hashNow(operation, children)
  const reversible = of.consequence === 'reversible'
  const rollback_uri = `${parts.baseUrl}/.well-known/atd/rollback`
  const shown = { reversible, rollback_uri, target, description, ttl: dayS }
  const ext = Object.fromEntries(Object.entries(shown).map(([claim, value]) => [`atd.${claim}`, value]))
  const said = { checkpoint_id: id, out_hash, ...shown }
  const signed = {
    aud: iss,
    wid,
    jti: id,
    exec_act: 'atd:checkpoint',
    par: [...par, ...children],
    out_hash,
    ext,
  }
  const about = {
    id,
    wid,
    iss,
    operation,
    children,
    reversible,
    out_hash,
    said,
    until: parts.now() + dayS * 1000,
  }
  await parts.checkpoints.keep({ ...about, ect: await parts.tokens.sign(signed) })
  return said
}

/** Did it happen? By the answer that was kept, or by looking. */
async function probe(parts: Parts, { claims, json }: Call, of: Operation, input: Values, name = '') {
  const earlier = await parts.answerTo(name)
  if (earlier) return earlier.answer.status < 400 ? 'took_effect' : 'not_taken'
  if (of.consequence === 'read_only') return 'not_taken'
  const kept = await parts.checkpoints.get(`${json.checkpoint_id}`)
  const before = kept?.wid === claims.wid ? kept : undefined
  if (before?.out_hash === (await parts.checkpoints.hashNow(`${json.operation}`))) return 'not_taken'
  const state = before && (await parts.checkpoints.open(before))
  const happened = await of.tookEffect?.(input, state, `${json.idempotency_key ?? ''}`)
  return happened === undefined ? 'unknown' : happened ? 'took_effect' : 'not_taken'
}
