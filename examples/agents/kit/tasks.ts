/*
 * The five phases of a task: describe · checkpoint · execute · probe · state. A token is for one phase and one body, and is
 * used once; the same idempotency key acts once.
 */
import { randomUUID } from 'node:crypto'
import { type Call, firstAnswer, type Parts, refused } from './serve'
import { type Answer, must, type Operation, ok, type Values } from './terms'
import { sha256, spelled, uuidIn } from './tokens'

const [dayS, usedKeptMs, runsKeptMs] = [86_400, 960_000, 8 * 86_400_000]
type Task = Call & { parts: Parts; of: Operation } & { name: string; input: Values; id: string; key: string }

export async function task(parts: Parts, call: Call): Promise<Answer> {
  const { claims, json, hash } = call
  const { exec_act: act, wid, jti, ext } = claims
  const [phase, name, id] = [json.phase, `${json.operation}`, uuidIn(json.checkpoint_id ?? randomUUID())]
  must(act === `hp:agent_${phase}`, 403, 'ect_claim_invalid', `A token for "${act}" is not for "${phase}".`)
  must(ext?.['hp.body_hash'] === hash, 403, 'ect_claim_invalid', 'The token was made for another body.')
  const isSame = `${json.run ?? wid}`.replace(/run_|-/g, '') === wid.replaceAll('-', '')
  must(isSame, 403, 'rollback_outside_run', 'The token belongs to another run than the body names.')
  must(id, 400, 'bad_request', '"checkpoint_id" is no UUID.')
  must(!(await parts.shelf.get('seen', jti)), 403, 'ect_replayed', `The token ${jti} was used before.`)
  await parts.shelf.put('seen', jti, { until: parts.now() + usedKeptMs })
  await parts.shelf.put('runs', wid, { until: parts.now() + runsKeptMs })
  const of = Object.hasOwn(parts.agent.operations, name) ? parts.agent.operations[name] : undefined
  must(of, 422, 'operation_unknown', `${parts.agent.name} has no operation "${name}".`)
  const [input, key] = [(json.input ?? {}) as Values, `${json.idempotency_key ?? jti}`]
  const whole = { ...call, parts, of, name, input, id, key }
  if (phase === 'describe') return ok({ consequence: of.consequence, ...(await of.describe(input)) })
  const state_hash = async () => (await parts.checkpoints.now({ operation: name })).out_hash
  if (phase === 'state') return ok({ state_hash: await state_hash() })
  if (phase === 'probe') return ok({ outcome: await probe(whole) })
  const asked = JSON.stringify(phase === 'checkpoint' ? [wid, name] : [json.node, json.visit, name, input])
  if (phase === 'checkpoint') return firstAnswer(parts, [`checkpoint ${id}`], asked, () => checkpoint(whole))
  must(phase === 'execute', 400, 'bad_request', `There is no phase "${phase}".`)
  const done = async () => ok({ ...(await of.execute(input, key)), state_hash: await state_hash().catch(() => null) })
  return firstAnswer(parts, [`execute ${wid} ${key}`], asked, () => done().catch((error) => refused(parts, error)))
}

async function checkpoint({ parts, claims, json, of, name: operation, input, id }: Task): Promise<Answer> {
  const { wid, iss, par } = claims
  const { target, sentence: description } = await of.describe(input)
  const children = Array.isArray(json.children) ? json.children.map(String) : []
  const { state, out_hash } = await parts.checkpoints.now({ wid, operation, children })
  const [reversible, rollback_uri] = [of.consequence === 'reversible', `${parts.baseUrl}/.well-known/atd/rollback`]
  const shown = { reversible, rollback_uri, target, description, ttl: dayS }
  const more = { jti: id, par: [...par, ...children], ext: spelled('atd', shown) }
  const ect = await parts.answering(claims, 'atd:checkpoint', out_hash, more)
  const about = { id, wid, iss, operation, children, reversible, out_hash, ect }
  await parts.checkpoints.keep({ ...about, until: parts.now() + dayS * 1000 }, state)
  return ok({ checkpoint_id: id, out_hash, ...shown })
}

/** Did it happen? By the answer that was kept, or by looking. */
async function probe({ parts, claims: { wid }, of, name, input, id, key }: Task): Promise<string> {
  const earlier = await parts.shelf.get<{ answer: Answer }>('answers', sha256(`execute ${wid} ${key}`))
  if (earlier) return earlier.answer.status < 400 ? 'took_effect' : 'not_taken'
  const kept = await parts.checkpoints.get(id)
  const before = kept?.wid === wid ? kept : undefined
  const isUntouched = before?.out_hash === (await parts.checkpoints.now({ operation: name })).out_hash
  if (of.consequence === 'read_only' || isUntouched) return 'not_taken'
  const happened = await of.tookEffect?.(input, before && (await parts.checkpoints.open(before)), key)
  return happened === undefined ? 'unknown' : happened ? 'took_effect' : 'not_taken'
}
