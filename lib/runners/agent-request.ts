/*
 * One request to a registered agent, and its answer: sent to its own address and nowhere else, under a token that names
 * the agent, the phase and the hash of the body; counted by its breaker; read by a schema. A refusal, and an answer that
 * nobody can read, end as EffectFailed.
 */
import type { z } from 'zod'
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import type { Downstream } from '@/lib/breaker/terms'
import { failureAnswer } from './agent-answers'
import { parseBounded } from './parse-bounded'
import { firstFault, refusal } from './resolved'
import { EffectFailed, type Effects, type RegisteredAgent } from './runner'
import { type HttpAnswer, judgedTarget, send } from './send'
import { requestTime, withMargin } from './time-left'
import { oneLine, textOf } from './words'

const taskPath = '/.well-known/holdpoint/task'

type Phase = 'describe' | 'checkpoint' | 'execute' | 'probe' | 'state'

export type Registered = RegisteredAgent

/** What a request to an agent needs of its caller. */
export type Asking = Pick<
  Effects,
  'agents' | 'calls' | 'follows' | 'idempotencyKey' | 'now' | 'request' | 'signal' | 'until'
>

export async function registered(id: string, effects: Effects): Promise<Registered> {
  const agent = await effects.agents.find(id)
  if (agent) return agent
  throw refusal('agent_unknown', `The agent ${id} is not registered here; an administrator can add it.`)
}

export function spoken(agent: Registered): string {
  return `The agent ${oneLine(agent.name, 100)}`
}

export async function ask<T>(
  agent: Registered,
  phase: Phase,
  about: JsonObject,
  schema: z.ZodType<T>,
  effects: Asking,
): Promise<T> {
  const body = canonicalJson({ phase, ...about, idempotency_key: effects.idempotencyKey })
  const token = await effects.agents.requestToken({
    aud: agent.id,
    act: `hp:agent_${phase}`,
    par: [...(effects.follows ?? [])],
    // Whoever catches the token cannot send another body with it.
    ext: { 'hp.body_hash': sha256(body), ...deadlineOf(effects) },
  })
  const url = `${agent.baseUrl.replace(/\/+$/, '')}${taskPath}`
  const sent = await effects.calls
    .through(
      downstreamOf(agent),
      () => post(agent, url, body, token, effects),
      (answer) => isItsOwn(agent, answer, token, effects),
      (answer) => isUnwell(answer, () => answered(agent, phase, answer, schema)),
    )
    .catch((error: unknown) => {
      throw phase === 'execute' ? error : askableAgain(error)
    })
  // Also of a call that was no probe: that it answered, and signed, is known under Agents.
  await isItsOwn(agent, sent, token, effects).catch(() => false)
  return answered(agent, phase, sent, schema)
}

/**
 * How long the agent has, a little less than we wait. In the token and not in the body: the body of a request that is sent
 * again under its idempotency key has to be the same.
 */
function deadlineOf(effects: Asking): JsonObject {
  const { until } = requestTime(effects)
  if (until === undefined) return {}
  return { 'hp.deadline_ms': Math.max(1, Math.floor(withMargin(until - effects.now()))) }
}

export function downstreamOf({ id }: Registered): Downstream {
  return id as Downstream
}

/** It says itself that it is unwell, or that it did it in words that nobody can read. A no is an answer. */
function isUnwell({ status }: HttpAnswer, read: () => unknown): boolean {
  if (status < 200 || status >= 300) return status >= 500
  try {
    read()
    return false
  } catch {
    return true
  }
}

/**
 * Is this the agent's own answer to this very request? Its token says so: signed by it, following from the request's,
 * with the hash of the body (cascade section 9.2). An agent that does not sign is believed without, unless it is
 * registered as one that does.
 */
async function isItsOwn(
  agent: Registered,
  { headers, body }: HttpAnswer,
  requestToken: string,
  { agents }: Asking,
): Promise<boolean> {
  const token = headers['execution-context']
  if (token === undefined) return !agent.protocols?.includes('holdpoint')
  if (!agents.signedBy) return true
  const signed = await agents.signedBy(agent.id, token)
  const asked = claimsOf(requestToken)
  return (
    signed !== undefined &&
    asked !== undefined &&
    signed.wid === asked.wid &&
    signed.par.includes(asked.jti) &&
    signed.outHash === sha256(body)
  )
}

/** Of a token that was made here a moment ago. */
function claimsOf(token: string): { jti: string; wid: string } | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

export async function post(
  agent: Registered,
  url: string,
  body: string,
  token: string,
  effects: Asking,
): Promise<HttpAnswer> {
  const own = new URL(agent.baseUrl)
  const port = own.port || (own.protocol === 'https:' ? '443' : '80')
  const privateTargets = [`${own.hostname}:${port}`]
  return send({
    method: 'POST',
    target: judgedTarget(url, privateTargets),
    headers: { 'content-type': 'application/json', 'execution-context': token, 'user-agent': 'Holdpoint' },
    body: Buffer.from(body),
    privateTargets,
    signal: requestTime(effects).signal,
  })
}

/** Only `execute` changes something that a second request could double; all other requests may simply be sent again. */
export function askableAgain(error: unknown): unknown {
  if (!(error instanceof EffectFailed) || !error.outcomeUnknown) return error
  return new EffectFailed(error.code, error.message.replace(/; whether .*/, '; it can be asked again.'), {
    errorType: error.errorType,
    retriable: true,
  })
}

/** An agent's answer by its schema; its own refusal, or an answer nobody can read, as a failure. */
export function answered<T>(
  agent: Registered,
  phase: Phase | 'rollback' | 'prepare',
  answer: HttpAnswer,
  schema: z.ZodType<T>,
): T {
  const isDone = answer.status >= 200 && answer.status < 300
  if (!isDone) throw failureOf(agent, phase, answer)
  try {
    const parsed = schema.safeParse(jsonOf(agent, answer))
    if (parsed.success) return parsed.data
    throw refusal(
      'agent_answer_invalid',
      `${spoken(agent)} gave an answer to "${phase}" that does not fit: ${firstFault(parsed.error)}`,
    )
  } catch (error) {
    // It says it did it, in words nobody can read: done or not, a person has to look.
    if (phase !== 'execute' || !(error instanceof EffectFailed)) throw error
    throw new EffectFailed(error.code, error.message, { errorType: error.errorType, outcomeUnknown: true })
  }
}

function jsonOf(agent: Registered, answer: HttpAnswer) {
  const text = textOf(answer.body)
  if (text === undefined)
    throw refusal('agent_answer_invalid', `${spoken(agent)} gave an answer that is not UTF-8 text.`)
  return parseBounded(text, `${spoken(agent)}: its answer`)
}

function failureOf(
  agent: Registered,
  phase: Phase | 'rollback' | 'prepare',
  answer: HttpAnswer,
): EffectFailed {
  const said = problemOf(agent, answer)
  if (said) {
    return new EffectFailed(said.code, oneLine(`${spoken(agent)} refused "${phase}": ${said.detail}`), {
      errorType: said.error_type,
      severity: said.severity,
      retriable: said.retriable,
      upstream: said.upstream_errors.map((id) => id.replace(/^urn:uuid:/i, '')),
    })
  }
  // A server error without the agent's own words may come from something in between, after the agent had acted.
  const mayHaveActed = phase === 'execute' && answer.status >= 500
  return new EffectFailed(
    'agent_failed',
    `${spoken(agent)} answered "${phase}" with ${answer.status} and no reason that can be read.`,
    { retriable: answer.status >= 500 && !mayHaveActed, outcomeUnknown: mayHaveActed },
  )
}

function problemOf(agent: Registered, answer: HttpAnswer): z.infer<typeof failureAnswer> | undefined {
  try {
    return failureAnswer.safeParse(jsonOf(agent, answer)).data
  } catch {
    return undefined // No JSON: the status is all there is.
  }
}
