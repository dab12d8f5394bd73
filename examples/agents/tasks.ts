/*
 * Holdpoint's own protocol for agents that its steps call, on top of the kit. A task has five phases, each a request:
 * describe · checkpoint · execute · probe · state. A token is for one phase and one body, and is used once; the same
 * idempotency key acts once.
 */
import { randomUUID } from 'node:crypto'
import { type Answer, must, ok, Refusal, refused, type Values } from './kit/answers'
import { checkpointOf, opened, stateNow, take } from './kit/checkpoints'
import { begin, firstAnswer } from './kit/once'
import type { Agent, Call, Parts, State } from './kit/terms'
import { sha256, uuidIn } from './kit/tokens'

/** An agent whose steps are operations, by name; what a checkpoint is of is the state of one. */
export type TaskAgent = Omit<Agent, 'states'> & { operations: Record<string, Operation> }

export interface Operation {
  consequence: 'read_only' | 'reversible' | 'irreversible'
  /** What it would do; changes nothing. May add `preview` (title, before, after) and `undo_sentence`. */
  describe(input: Values): Promise<{ sentence: string; target: string } & Values>
  /** Does it; `key` is the same for the same effect. Throws Refusal. */
  execute(input: Values, key: string): Promise<{ output: unknown; label?: string }>
  /** The state it is about to change. Equal states are to be equal text in JSON. */
  state?(): Promise<Values>
  /** A state as people read it: whoever may decide on a rollback is shown what it would undo. */
  shown?(state: Values): { title: string; text: string }
  /** Puts that state back. */
  restore?(state: Values): Promise<void>
  /** Has it happened? Undefined when looking does not tell. */
  tookEffect?(input: Values, before: Values | undefined, key: string): Promise<boolean | undefined>
}

type Task = Call & { parts: Parts; of: Operation; name: string; input: Values; id: string; key: string }

/** The agent as the kit takes it, with the endpoint for tasks. */
export function withTasks({ operations, ...agent }: TaskAgent): Agent {
  const states = Object.fromEntries(Object.entries(operations).map(([name, of]) => [name, stateOf(of)]))
  const task = (parts: Parts, call: Call) => phase(parts, call, operations)
  return { ...agent, states, routes: { ...agent.routes, 'POST /.well-known/holdpoint/task': task } }
}

function stateOf(of: Operation): State {
  const now = async () => (await of.state?.()) ?? {}
  return of.consequence === 'reversible' ? { now, restore: async (state) => of.restore?.(state) } : { now }
}

async function phase(parts: Parts, call: Call, operations: TaskAgent['operations']): Promise<Answer> {
  mustBeFor(call)
  const { claims, json } = call
  const [name, id] = [`${json.operation}`, uuidIn(json.checkpoint_id ?? randomUUID())]
  must(id, 400, 'bad_request', '"checkpoint_id" is no UUID.')
  await begin(parts, claims)
  const of = Object.hasOwn(operations, name) ? operations[name] : undefined
  must(of, 422, 'operation_unknown', `${parts.agent.name} has no operation "${name}".`)
  const [input, key] = [(json.input ?? {}) as Values, `${json.idempotency_key ?? claims.jti}`]
  const task = { ...call, parts, of, name, input, id, key }
  switch (json.phase) {
    case 'describe':
      return ok({ consequence: of.consequence, ...(await of.describe(input)) })
    case 'checkpoint':
      return checkpoint(task)
    case 'execute':
      return execute(task)
    case 'probe':
      return ok({ outcome: await probe(task) })
    case 'state':
      return ok({ state_hash: await stateHash(task), ...(await undoPreview(task)) })
    default:
      throw new Refusal(400, 'bad_request', `There is no phase "${json.phase}".`)
  }
}

/** The token is for this phase, this body and this run. */
function mustBeFor({ claims: { exec_act: act, wid, ext }, json, hash }: Call): void {
  const isFor = act === `hp:agent_${json.phase}`
  must(isFor, 403, 'ect_claim_invalid', `A token for "${act}" is not for "${json.phase}".`)
  must(ext?.['hp.body_hash'] === hash, 403, 'ect_claim_invalid', 'The token was made for another body.')
  const isSame = `${json.run ?? wid}`.replace(/run_|-/g, '') === wid.replaceAll('-', '')
  must(isSame, 403, 'rollback_outside_run', 'The token belongs to another run than the body names.')
}

function checkpoint({ parts, claims, json, of, name: operation, input, id }: Task): Promise<Answer> {
  const act = async () => {
    const { target, sentence: description } = await of.describe(input)
    const children = Array.isArray(json.children) ? json.children.map(String) : []
    return ok(await take(parts, claims, id, { operation, children }, { target, description }))
  }
  return firstAnswer(parts, [`checkpoint ${id}`], act, JSON.stringify([claims.wid, operation]))
}

/** `state_hash`: of what it left, so that the caller sees when somebody else has changed it since. */
function execute(task: Task): Promise<Answer> {
  const { parts, json, of, name, input, key } = task
  const act = async () => {
    const done = await of.execute(input, key)
    // What is done is done, whether or not its state can be read now.
    return ok(of.state ? { ...done, state_hash: await stateHash(task).catch(() => undefined) } : done)
  }
  const asked = JSON.stringify([json.node, json.visit, name, input])
  return firstAnswer(parts, [executed(task)], () => act().catch((error) => refused(error, parts)), asked)
}

/** Under which name the answer to `execute` is kept. */
const executed = ({ claims, key }: Task) => `execute ${claims.wid} ${key}`

async function stateHash({ parts, claims, name: operation }: Task): Promise<string> {
  return (await stateNow(parts, { wid: claims.wid, operation, children: [] })).out_hash
}

/** Asked for it: what putting the checkpoint back would make of the state there is now. Nothing where it cannot be shown. */
async function undoPreview({ parts, claims, json, of, name, id }: Task): Promise<Values> {
  const kept = json.undo_preview === true && of.shown ? await checkpointOf(parts, id) : undefined
  if (!kept || !of.shown || kept.wid !== claims.wid || kept.operation !== name) return {}
  const [now, after] = [of.shown((await of.state?.()) ?? {}), of.shown(await opened(parts, kept))]
  return { undo_preview: { title: now.title, before: now.text, after: after.text } }
}

/** Did it happen? By the answer that was kept, or by looking. */
async function probe(task: Task): Promise<'took_effect' | 'not_taken' | 'unknown'> {
  const { parts, claims, of, input, id, key } = task
  const earlier = await parts.store.get<{ answer: Answer }>('answers', sha256(executed(task)))
  if (earlier) return earlier.answer.status < 400 ? 'took_effect' : 'not_taken'
  const kept = await checkpointOf(parts, id)
  const before = kept?.wid === claims.wid ? kept : undefined
  if (of.consequence === 'read_only' || before?.out_hash === (await stateHash(task))) return 'not_taken'
  const happened = await of.tookEffect?.(input, before && (await opened(parts, before)), key)
  return happened === undefined ? 'unknown' : happened ? 'took_effect' : 'not_taken'
}
