/*
 * The five phases of a task: describe · checkpoint · execute · probe · state. A token is for one phase and one body, and is
 * used once; the same idempotency key acts once.
 */
import { randomUUID } from 'node:crypto'
import type { Call, Parts } from './serve'
import { type Answer, must, type Operation, Refusal, type Values } from './terms'
import { sha256, uuid } from './tokens'

const dayS = 86_400

export async function task(parts: Parts, { claims, json, hash }: Call): Promise<Answer> {
  const isFor = claims.exec_act === `hp:agent_${json.phase}`
  must(
    isFor,
    403,
    'ect_claim_invalid',
    `A token for "${claims.exec_act}" is not for the phase "${json.phase}".`,
  )
  const isBound = claims.ext?.['hp.body_hash'] === hash
  must(
    isBound,
    403,
    'ect_claim_invalid',
    'The token was made for another body than the one that came with it.',
  )
  const isSame =
    json.run === undefined || String(json.run).replace('run_', '') === claims.wid.replaceAll('-', '')
  must(isSame, 403, 'rollback_outside_run', 'The token belongs to another run than the body names.')
  must(uuid.test(String(json.checkpoint_id ?? claims.jti)), 400, 'bad_request', '"checkpoint_id" is no UUID.')
  await parts.spend(claims)
  const { agent, checkpoints } = parts
  const operation =
    Object.hasOwn(agent.operations, `${json.operation}`) && agent.operations[`${json.operation}`]
  const known = Object.keys(agent.operations).join(', ')
  must(
    operation,
    422,
    'operation_unknown',
    `${agent.name} has no operation "${json.operation}"; it has ${known}.`,
  )
  const of = { parts, claims, json, operation, input: (json.input ?? {}) as Values }
  switch (json.phase) {
    case 'describe':
      return ok({ consequence: operation.consequence, ...(await operation.describe(of.input)) })
    case 'state':
      return ok({ state_hash: await checkpoints.hashNow(String(json.operation)) })
    case 'checkpoint':
      return ok(await checkpoint(of))
    case 'execute':
      return execute(of)
    case 'probe':
      return ok({ outcome: await probe(of) })
  }
  throw new Refusal(400, 'bad_request', `There is no phase "${json.phase}".`)
}

type Task = Pick<Call, 'claims' | 'json'> & { parts: Parts; operation: Operation; input: Values }

/** Asked again under the same id, it answers the same. */
async function checkpoint({ parts, claims, json, operation, input }: Task): Promise<Values> {
  const { wid, iss, par } = claims
  const id = String(json.checkpoint_id ?? randomUUID())
  const earlier = await parts.checkpoints.get(id)
  const isOurs = !earlier || (earlier.wid === wid && earlier.operation === json.operation)
  must(isOurs, 403, 'rollback_outside_run', `The checkpoint ${id} belongs to another step.`)
  if (earlier) return earlier.said
  const { target, sentence: description } = await operation.describe(input)
  const children = Array.isArray(json.children) ? json.children.map(String) : []
  const out_hash = await parts.checkpoints.hashNow(String(json.operation), children)
  const reversible = operation.consequence === 'reversible'
  const rollback_uri = `${parts.baseUrl}/.well-known/atd/rollback`
  const shown = { reversible, rollback_uri, target, description, ttl: dayS }
  const ext = Object.fromEntries(Object.entries(shown).map(([claim, value]) => [`atd.${claim}`, value]))
  const claimed = {
    aud: iss,
    wid,
    jti: id,
    exec_act: 'atd:checkpoint',
    par: [...par, ...children],
    out_hash,
    ext,
  }
  const about = { id, wid, iss, operation: String(json.operation), children, reversible, out_hash }
  const said = { checkpoint_id: id, out_hash, ...shown }
  const until = parts.now() + dayS * 1000
  await parts.checkpoints.keep({ ...about, said, ect: await parts.tokens.sign(claimed), until })
  return said
}

/** A failure that may pass is not remembered: the next attempt is to be a real one. */
async function execute({ parts, claims, json, operation, input }: Task): Promise<Answer> {
  const name = answerName(claims.wid, json)
  const request = sha256(JSON.stringify([json.node, json.visit, json.operation, sorted(input)]))
  const earlier = name && (await parts.answer(name))
  must(
    !earlier || earlier.request === request,
    409,
    'idempotency_key_reused',
    'This key was used for another request.',
  )
  if (earlier) return earlier.answer
  const answer = await operation.execute(input, String(json.idempotency_key ?? claims.jti)).then(ok, refused)
  const isSettled = answer.status < 400 || (answer.body as Values).retriable === false
  if (name && isSettled) await parts.keepAnswer(name, answer, request)
  parts.log(
    `${parts.agent.name} ${answer.status < 400 ? 'did' : 'could not do'} ${json.operation} for ${json.run}`,
  )
  return answer
}

/** Did it happen? By the answer that was kept, or by looking. */
async function probe({ parts, claims, json, operation, input }: Task): Promise<string> {
  const name = answerName(claims.wid, json)
  const earlier = name && (await parts.answer(name))
  if (earlier) return earlier.answer.status < 400 ? 'took_effect' : 'not_taken'
  if (operation.consequence === 'read_only') return 'not_taken'
  const kept = await parts.checkpoints.get(String(json.checkpoint_id))
  const before = kept?.wid === claims.wid ? kept : undefined
  if (before?.out_hash === (await parts.checkpoints.hashNow(String(json.operation)))) return 'not_taken'
  const state = before && parts.checkpoints.open(before)
  const happened = await operation.tookEffect?.(input, state, String(json.idempotency_key ?? ''))
  return happened === undefined ? 'unknown' : happened ? 'took_effect' : 'not_taken'
}

/** Keys are the caller's; two runs that use the same one do not meet. */
function answerName(wid: string, { idempotency_key: key }: Values): string | undefined {
  return key === undefined ? undefined : sha256(`execute ${wid} ${key}`)
}

/** Members in the order of their names, so that equal inputs have one text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

export function refused(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer
  throw error
}
