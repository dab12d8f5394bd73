import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { type Claims, isUuid } from '@/lib/ect/claims'
import type { AgentDoor } from './agent-door'
import type { FileState, StoredAnswer } from './agent-folder'
import { type AgentParts, type Body, failureBody } from './agent-server'
import { type Answer, type Operation, OperationFailed, type World } from './lab-agent'

/** A checkpoint serves a day. */
const checkpointTtlS = 86_400

const taskRequest = z.object({
  phase: z.enum(['describe', 'checkpoint', 'execute', 'probe', 'state']),
  run: z.string().max(100).optional(),
  node: z.string().max(200),
  visit: z.int().min(1),
  operation: z.string().max(200),
  input: z.json().optional(),
  idempotency_key: z.string().min(1).max(500).optional(),
  checkpoint_id: z.string().refine(isUuid, 'a UUID in lower case was expected').optional(),
})

type TaskRequest = z.infer<typeof taskRequest>

/** The five phases of a task. */
export class AgentTasks {
  readonly #parts: AgentParts
  readonly #door: AgentDoor
  readonly #baseUrl: () => string

  constructor(parts: AgentParts, door: AgentDoor, baseUrl: () => string) {
    this.#parts = parts
    this.#door = door
    this.#baseUrl = baseUrl
  }

  async answer(token: string | undefined, body: Body, world: World): Promise<Answer> {
    const claims = await this.#door.verified(token)
    const task = parseTask(body.json)
    checkBound(claims, task, body)
    if (task.run !== undefined && task.run !== claims.wid && task.run !== runIdOf(claims.wid))
      throw new Problem('rollback_outside_run', 'The token belongs to another run than the body names.')
    await this.#door.refuseReplay(claims)
    const operation = this.#operation(task.operation)
    const input = isJsonObject(task.input) ? task.input : {}
    switch (task.phase) {
      case 'describe':
        return ok(await this.#describe(operation, input))
      case 'checkpoint':
        return ok(await this.#checkpoint(operation, task, claims, input))
      case 'execute':
        return this.#execute(operation, task, claims, input, world)
      case 'probe':
        return ok({ outcome: await this.#probe(operation, task, claims, input) })
      case 'state':
        return ok({ state_hash: hashJson(await this.#parts.folder.stateOf(operation.file)) })
      default:
        return task.phase satisfies never
    }
  }

  #operation(name: string): Operation {
    const { agent } = this.#parts
    const operation = Object.hasOwn(agent.operations, name) ? agent.operations[name] : undefined
    if (operation) return operation
    throw new OperationFailed(
      422,
      'operation_unknown',
      `${agent.name} has no operation ${JSON.stringify(name)}; it has ${Object.keys(agent.operations).join(', ')}.`,
      'constraint_violation',
    )
  }

  async #describe(operation: Operation, input: JsonObject): Promise<Json> {
    const before = operation.file ? await this.#parts.folder.text(operation.file) : ''
    return { consequence: operation.consequence, ...operation.describe(input, before) } as JsonObject
  }

  /** Sealed and synced before it is answered for. Asked again under the same id, it answers the same. */
  async #checkpoint(
    operation: Operation,
    task: TaskRequest,
    claims: Claims,
    input: JsonObject,
  ): Promise<Json> {
    const { folder, agent } = this.#parts
    const id = task.checkpoint_id ?? randomUUID()
    const earlier = await folder.checkpoint(id)
    if (earlier && (earlier.wid !== claims.wid || earlier.operation !== task.operation))
      throw new Problem(
        'rollback_outside_run',
        `The checkpoint ${id} of ${agent.name} belongs to another step.`,
      )
    const kept =
      earlier ??
      (await folder.keepCheckpoint(
        {
          checkpoint_id: id,
          wid: claims.wid,
          iss: claims.iss,
          run: runIdOf(claims.wid),
          node: task.node,
          visit: task.visit,
          operation: task.operation,
          reversible: operation.consequence === 'reversible',
          ...(await this.#words(operation, input)),
          expires_at: this.#parts.now() + checkpointTtlS * 1000,
        },
        await folder.stateOf(operation.file),
      ))
    return {
      checkpoint_id: id,
      out_hash: kept.out_hash,
      ttl: checkpointTtlS,
      rollback_uri: `${this.#baseUrl()}/.well-known/atd/rollback`,
      reversible: kept.reversible,
      target: kept.target,
      description: kept.description,
    }
  }

  async #words(operation: Operation, input: JsonObject) {
    const before = operation.file ? await this.#parts.folder.text(operation.file) : ''
    const { target, sentence } = operation.describe(input, before)
    return { target, description: sentence }
  }

  async #execute(
    operation: Operation,
    task: TaskRequest,
    claims: Claims,
    input: JsonObject,
    world: World,
  ): Promise<Answer> {
    const { folder, agent, log } = this.#parts
    const key = answerKey(task, claims)
    const request = requestHash(task, input)
    const earlier = key ? await folder.answer(key) : undefined
    if (earlier) return repeated(earlier, request)
    const answer = await this.#perform(operation, input, task.idempotency_key ?? claims.jti, world)
    // A failure that may pass is not remembered: the next attempt under the same key is to be a real one.
    const settled = answer.status < 400 || (isJsonObject(answer.body) && answer.body.retriable === false)
    if (key && settled) await folder.keepAnswer(key, { request, status: answer.status, body: answer.body })
    log(
      `${agent.name} ${answer.status < 400 ? 'did' : 'could not do'} ${task.operation} for ${runIdOf(claims.wid)}, step ${JSON.stringify(task.node)}`,
    )
    return answer
  }

  async #perform(operation: Operation, input: JsonObject, key: string, world: World): Promise<Answer> {
    const before = operation.file ? await world.text(operation.file) : ''
    try {
      const done = await operation.execute(input, before, world, key)
      if (done.write !== undefined && operation.file && done.write !== before)
        await this.#parts.folder.write(operation.file, done.write)
      return ok(
        done.label === undefined ? { output: done.output } : { output: done.output, label: done.label },
      )
    } catch (error) {
      if (error instanceof OperationFailed) return { status: error.status, body: failureBody(error) }
      throw error
    }
  }

  /** Did it happen? By the answer that was kept, or by looking at the file. */
  async #probe(operation: Operation, task: TaskRequest, claims: Claims, input: JsonObject): Promise<string> {
    const { folder } = this.#parts
    const key = answerKey(task, claims)
    const earlier = key ? await folder.answer(key) : undefined
    if (earlier) return earlier.status < 400 ? 'took_effect' : 'not_taken'
    const now = operation.file ? await folder.text(operation.file) : ''
    if (operation.consequence === 'read_only') return 'not_taken'
    const kept = task.checkpoint_id ? await folder.checkpoint(task.checkpoint_id) : undefined
    const before = kept?.wid === claims.wid ? kept : undefined
    const isUntouched = before?.out_hash === hashJson(await folder.stateOf(operation.file))
    if (isUntouched) return 'not_taken'
    const textBefore = before && textOf(folder.openCheckpoint(before))
    const happened = operation.tookEffect?.(input, textBefore, now, task.idempotency_key ?? '')
    return happened === undefined ? 'unknown' : happened ? 'took_effect' : 'not_taken'
  }
}

/** The text a checkpoint's state holds; empty when there was no file. */
function textOf(state: FileState): string {
  return typeof state.bytes === 'string' ? Buffer.from(state.bytes, 'base64').toString('utf8') : ''
}

/** The token must be for this phase and this body (lib/runners/agent.ts says so in it). */
function checkBound(claims: Claims, task: TaskRequest, body: Body): void {
  if (claims.exec_act !== `hp:agent_${task.phase}`)
    throw new Problem(
      'ect_claim_invalid',
      `A token for "${claims.exec_act}" is not for the phase "${task.phase}".`,
    )
  if (claims.ext?.['hp.body_hash'] !== body.hash)
    throw new Problem(
      'ect_claim_invalid',
      'The token was made for another body than the one that came with it.',
    )
}

function parseTask(body: unknown): TaskRequest {
  const parsed = taskRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Problem(
    'bad_request',
    `The task request is not as it should be: ${issue?.path.map(String).join('.') || 'the body'}: ${issue?.message ?? 'unreadable'}.`,
  )
}

/** Keys are the caller's; two runs that use the same one do not meet. */
function answerKey(task: TaskRequest, claims: Claims): string | undefined {
  return task.idempotency_key === undefined ? undefined : `execute ${claims.wid} ${task.idempotency_key}`
}

function requestHash(task: TaskRequest, input: JsonObject) {
  return hashJson([task.node, task.visit, task.operation, input])
}

function repeated(earlier: StoredAnswer, request: string): Answer {
  if (earlier.request === request) return { status: earlier.status, body: earlier.body }
  throw new Problem(
    'idempotency_key_reused',
    'This idempotency key was used for another request; use a new one.',
  )
}

function ok(body: Json): Answer {
  return { status: 200, body }
}
