/*
 * A step done by a registered agent, called over HTTP. The agent says what it would do, keeps its own checkpoint, does
 * it, and takes it back:
 *
 *   describe ─▶ (a person may decide) ─▶ checkpoint ─▶ execute          POST BASE/.well-known/holdpoint/task
 *                                                        ╰─▶ probe, state
 *   rollback, later                                                     POST BASE/.well-known/atd/rollback
 *   and of an agent that speaks two phases
 *     prepare ─▶ (all have voted) ─▶ execute                            POST BASE/.well-known/cascade/rollback[/prepare]
 *
 * What an agent that signs its answers says to a rollback is believed when its own key signed it for this very request.
 *
 * Each request carries a signed token (`Execution-Context`) that names the agent, the phase and the hash of the body.
 * An administrator registered the agent's address, so a private one is fine, and only that one: the rollback goes to
 * the same origin or nowhere. Agents promise that the same idempotency key acts once.
 *
 * The checkpoint sealed here holds the agent's checkpoint id and the hash of the agent's own state. State hashes are
 * given in the same form, with the agent's present hash in that place, so that equal hashes mean equal states. An agent
 * that says in its answer to `execute` what state it left makes it known when somebody else changes that afterwards.
 */
import { z } from 'zod'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, hashJson, sha256 } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import type { Downstream } from '@/lib/breaker/terms'
import { type AgentConfig, agentConfig, spiffeId } from '@/lib/nodes/agent'
import { narrowed } from '@/lib/nodes/node-kind'
import type { GraphNode } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import {
  checkpointAnswer,
  describeAnswer,
  executeAnswer,
  failureAnswer,
  prepareAnswer,
  probeAnswer,
  rollbackAnswer,
  stateAnswer,
} from './agent-answers'
import { notDone } from './dry-run'
import { parseBounded } from './parse-bounded'
import { actionOf, configOf, definedOnly, firstFault, given, refusal } from './resolved'
import {
  type Action,
  EffectFailed,
  type Effects,
  type Evidence,
  type RegisteredAgent,
  type Runner,
  type SignedAnswer,
  type Snapshot,
  type Undone,
  type UndoRequest,
} from './runner'
import { type HttpAnswer, judgedTarget, send } from './send'
import { requestTime, withMargin } from './time-left'
import { oneLine, textOf } from './words'

const taskPath = '/.well-known/holdpoint/task'
const rollbackPath = '/.well-known/atd/rollback'

type Phase = 'describe' | 'checkpoint' | 'execute' | 'probe' | 'state'

const agentDo = z.strictObject({ agent: spiffeId, operation: z.string().min(1).max(200), input: z.json() })

type AgentDo = z.infer<typeof agentDo>

const sealedCheckpoint = z.strictObject({
  agent: spiffeId,
  checkpoint_id: z.string(),
  out_hash: z.string(),
  rollback_uri: z.string(),
})

type Registered = RegisteredAgent

/** What a request to an agent needs of its caller. */
type Asking = Pick<
  Effects,
  'agents' | 'calls' | 'follows' | 'idempotencyKey' | 'now' | 'request' | 'signal' | 'until'
>

export const agentRunner: Runner = {
  async resolve(step) {
    const config = configOf(agentConfig, step.node)
    const named = config.input !== undefined || config.input_from !== undefined
    return {
      agent: config.agent,
      operation: operationOf(config, step.node),
      input: named
        ? await given(step, 'input', config.input, config.input_from)
        : await step.values.ofParents(),
    }
  },

  async describe(action, step, effects) {
    const wanted = actionOf(agentDo, action, step.node.id)
    const agent = await registered(wanted.agent, effects)
    const about: JsonObject = { run: step.runId, node: step.node.id, visit: step.visit, ...wanted }
    const said = effects.dryRun
      ? unasked(wanted, agent)
      : await ask(agent, 'describe', about, describeAnswer, effects)
    const consequence = narrowed(said.consequence, step.node)
    return {
      action: {
        kind: 'agent',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence,
        target: said.target || agent.name,
        sentence: said.sentence,
        ...(consequence === 'reversible'
          ? {
              undo: 'remote' as const,
              undoSentence: said.undo_sentence || `Ask ${oneLine(agent.name, 100)} to put its state back`,
            }
          : {}),
      },
      ...(said.preview ? { preview: { show: 'diff' as const, ...said.preview } } : {}),
    }
  },

  async snapshot(action, effects, checkpointId) {
    const { agent, about } = await aboutAction(action, effects)
    const said = await ask(
      agent,
      'checkpoint',
      { ...about, checkpoint_id: checkpointId },
      checkpointAnswer,
      effects,
    )
    if (action.consequence === 'reversible' && !said.reversible) {
      throw refusal(
        'agent_withdrew',
        `${spoken(agent)} now says that this cannot be undone; mark the step irreversible or ask the agent's owner.`,
      )
    }
    rollbackUrl(agent, said.rollback_uri)
    const state = {
      agent: agent.id,
      checkpoint_id: said.checkpoint_id,
      out_hash: said.out_hash,
      rollback_uri: said.rollback_uri,
    }
    return { state, hash: hashJson(state), undo: 'remote', rollbackUri: said.rollback_uri, ttlS: said.ttl }
  },

  async perform(action, effects, snapshot) {
    const { agent, about, wanted } = await aboutAction(action, effects)
    if (effects.dryRun) return notDone({ agent: wanted.agent, operation: wanted.operation })
    const checkpoint: JsonObject = snapshot ? { checkpoint_id: sealed(snapshot).checkpoint_id } : {}
    const said = await ask(agent, 'execute', { ...about, ...checkpoint }, executeAnswer, effects)
    const { output, label, state_hash: left } = said
    const changed = left && snapshot && { found: sealed(snapshot).out_hash, left }
    return { output, ...(label !== undefined && { label }), ...(changed && { changed }) }
  },

  async probe(action, snapshot, effects) {
    try {
      const { agent, about } = await aboutAction(action, effects)
      const request = { ...about, checkpoint_id: sealed(snapshot).checkpoint_id }
      return (await ask(agent, 'probe', request, probeAnswer, effects)).outcome
    } catch (error) {
      if (error instanceof EffectFailed) return 'unknown' // Who cannot answer has not told.
      throw error
    }
  },

  async stateHash(action, snapshot, effects) {
    const { agent, about } = await aboutAction(action, effects)
    const checkpoint = sealed(snapshot)
    const request = { ...about, checkpoint_id: checkpoint.checkpoint_id }
    const said = await ask(agent, 'state', request, stateAnswer, effects)
    return { hash: hashJson({ ...checkpoint, out_hash: said.state_hash }), raw: said.state_hash }
  },

  async prepare(_action, snapshot, effects, rollback) {
    const checkpoint = sealed(snapshot)
    const agent = await registered(checkpoint.agent, effects)
    if (!speaksTwoPhases(agent)) return undefined
    const about = { rollback_id: rollbackUrn(rollback.id), checkpoint_id: checkpoint.checkpoint_id }
    const body = canonicalJson({ ...about, scope: rollback.scope })
    const answer = await askRollback(agent, cascadePath(agent, '/prepare'), body, effects, rollback)
    const said = answered(agent, 'prepare', answer, prepareAnswer)
    mustBeAbout(agent, said, about)
    if (!(await evidenceOf(agent, answer, undefined, effects, rollback))) throw unsigned(agent, 'prepare')
    const { status: vote, reason, conflicting_rollback_id: conflict, description } = said
    const prepared = vote === 'prepared'
    return {
      vote,
      ...(!prepared && reason && { reason }),
      ...(!prepared && conflict && { conflict }),
      description:
        description || `${spoken(agent)} says that it ${prepared ? 'can' : 'cannot'} take this back`,
    }
  },

  // Of its state there is a hash here and no more: it may show it itself.
  async undoPreview(action, snapshot, effects) {
    const { agent, about } = await aboutAction(action, effects)
    const { checkpoint_id } = sealed(snapshot)
    const request = { ...about, checkpoint_id, undo_preview: true }
    const { undo_preview: shown } = await ask(agent, 'state', request, stateAnswer, effects)
    const preview = shown && { title: shown.title, now: shown.before, after: shown.after }
    return { of: 'agent', agent: agent.id, ...(preview && { preview }) }
  },

  // The agent is the one that holds the checkpoint: for a claimed task, whoever claimed it.
  async undo(_action, snapshot, effects, rollback) {
    const checkpoint = sealed(snapshot)
    const agent = await registered(checkpoint.agent, effects)
    const isCascade = speaksTwoPhases(agent)
    const { checkpoint_id } = checkpoint
    const body = isCascade
      ? { rollback_id: rollbackUrn(rollback.id), checkpoint_id, phase: 'execute' }
      : { rollback_id: rollback.id, checkpoint_id, reason: rollback.reason, cascade: false, scope: 'single' }
    const url = isCascade ? cascadePath(agent, '') : rollbackUrl(agent, checkpoint.rollback_uri)
    const answer = await askRollback(agent, url, canonicalJson(body), effects, rollback)
    const said = answered(agent, 'rollback', answer, rollbackAnswer)
    if (isCascade) mustBeAbout(agent, said, { rollback_id: rollbackUrn(rollback.id), checkpoint_id })
    const evidence = await evidenceOf(agent, answer, said, effects, rollback)
    const claimsToBeSigned = isCascade || said.result_ect !== undefined
    if (claimsToBeSigned && !evidence && effects.agents.signedBy) throw unsigned(agent, 'rollback')
    const inForm = (hash: Hash | undefined) => hash && hashJson({ ...checkpoint, out_hash: hash })
    const words = said.description || `${spoken(agent)} answered the rollback: ${said.status}`
    const undone: Undone = {
      status: said.status,
      stateHashBefore: inForm(said.state_hash_before),
      stateHashAfter: inForm(said.state_hash_after),
      description: isOverwritten(said, checkpoint, rollback) ? `${words}${overwritten}` : words,
      ...(evidence && { evidence }),
    }
    return undone
  },
}

/** What the agent of a step is asked to do, in its own words. */
export function operationOf({ operation }: AgentConfig, node: GraphNode): string {
  return operation ?? oneLine(nodeLabel(node), 200)
}

/**
 * Asks an agent the one question that changes nothing and needs no checkpoint: what state an operation's target is in.
 * Who asks has no run; it is the call itself that matters. Throws EffectFailed.
 */
export async function askState(
  agent: RegisteredAgent,
  about: { node: string; operation: string },
  asking: Asking,
): Promise<void> {
  await ask(agent, 'state', { ...about, visit: 1, agent: agent.id, input: {} }, stateAnswer, asking)
}

const overwritten =
  '; just before, it was not as this run left it: somebody else changed it after the vote, and that was undone, too'

/** The agent put its state back although somebody else had changed it. It cannot be helped any more; it is told. */
function isOverwritten(
  { status, state_hash_before: before }: z.infer<typeof rollbackAnswer>,
  { out_hash }: z.infer<typeof sealedCheckpoint>,
  { expectedStates }: UndoRequest,
): boolean {
  if (status !== 'completed' || !before || !expectedStates) return false
  return before !== out_hash && !expectedStates.includes(before)
}

function speaksTwoPhases({ protocols = [] }: Registered): boolean {
  return protocols.includes('cascade')
}

function cascadePath(agent: Registered, under: '' | '/prepare'): string {
  return `${agent.baseUrl.replace(/\/+$/, '')}/.well-known/cascade/rollback${under}`
}

/** A rollback's id as the protocol writes it (NOTES 4). */
function rollbackUrn(id: string): string {
  return `urn:uuid:${id.replace(/^rb_/, '')}`
}

/** The same request gets the first answer again, so it may always be sent again. */
async function askRollback(
  agent: Registered,
  url: string,
  body: string,
  effects: Effects,
  rollback: UndoRequest,
): Promise<HttpAnswer> {
  return effects.calls
    .counted(
      downstreamOf(agent),
      () => post(agent, url, body, rollback.requestToken, effects),
      (answer) => answer.status >= 500,
    )
    .catch((error: unknown) => {
      throw askableAgain(error)
    })
}

function mustBeAbout(
  agent: Registered,
  said: { rollback_id?: string; checkpoint_id?: string },
  asked: { rollback_id: string; checkpoint_id: string },
): void {
  const isAbout = said.rollback_id === asked.rollback_id && said.checkpoint_id === asked.checkpoint_id
  if (isAbout) return
  throw new EffectFailed(
    'agent_answer_invalid',
    `${spoken(agent)} answered about another rollback or checkpoint than it was asked about.`,
    { retriable: true },
  )
}

/** An answer that anybody could have given. It is asked for again: the agent's own may still come. */
function unsigned(agent: Registered, phase: 'prepare' | 'rollback'): EffectFailed {
  return new EffectFailed(
    'agent_answer_unsigned',
    `The answer to "${phase}" is not signed by ${spoken(agent).replace(/^The/, 'the')} for this request; look at its keys under Agents.`,
    { retriable: true },
  )
}

/**
 * The token in which the agent signed its answer: its result token, or the one that vouches for the answer's octets. Only
 * one that its own key signed, and that names this run and this request, is any.
 */
async function evidenceOf(
  agent: Registered,
  answer: HttpAnswer,
  said: z.infer<typeof rollbackAnswer> | undefined,
  effects: Effects,
  { requestJti, wid }: UndoRequest,
): Promise<Evidence | undefined> {
  const found = async (token: string | undefined, isRight: (signed: SignedAnswer) => boolean) => {
    if (token === undefined || token === '' || token.length > 16_384) return undefined
    const signed = await effects.agents.signedBy?.(agent.id, token)
    const isOurs = signed && signed.wid === wid && signed.par.includes(requestJti)
    return isOurs && isRight(signed) ? { agent: agent.id, request: requestJti, token } : undefined
  }
  const result = said && (await found(said.result_ect, ({ status }) => status === said.status))
  if (result) return result
  const bodyHash = sha256(answer.body)
  const whole = await found(answer.headers['execution-context'], ({ outHash }) => outHash === bodyHash)
  return whole && { ...whole, body: answer.body.toString('utf8') }
}

async function registered(id: string, effects: Effects): Promise<Registered> {
  const agent = await effects.agents.find(id)
  if (agent) return agent
  throw refusal('agent_unknown', `The agent ${id} is not registered here; an administrator can add it.`)
}

function spoken(agent: Registered): string {
  return `The agent ${oneLine(agent.name, 100)}`
}

/** The agent an action is for, and what every request about it says. */
async function aboutAction(action: Action, effects: Effects) {
  const wanted = actionOf(agentDo, action.do, action.node)
  const agent = await registered(wanted.agent, effects)
  return {
    agent,
    wanted,
    about: definedOnly({ run: effects.runId, node: action.node, visit: action.visit, ...wanted }),
  }
}

function unasked(wanted: AgentDo, agent: Registered): z.infer<typeof describeAnswer> {
  return {
    sentence: oneLine(`Ask ${agent.name} to do "${wanted.operation}"`),
    target: oneLine(agent.name, 200),
    consequence: 'reversible',
  }
}

function sealed(snapshot: Snapshot): z.infer<typeof sealedCheckpoint> {
  const parsed = sealedCheckpoint.safeParse(snapshot.state)
  if (parsed.success) return parsed.data
  throw refusal(
    'checkpoint_tampered',
    'The checkpoint does not name an agent’s own checkpoint; it cannot be used.',
  )
}

/** The agent's rollback address. Refused unless it is the well-known path under the registered address. */
function rollbackUrl(agent: Registered, uri: string): string {
  const expected = `${agent.baseUrl.replace(/\/+$/, '')}${rollbackPath}`
  if (URL.canParse(uri) && new URL(uri).href === new URL(expected).href) return expected
  throw refusal(
    'url_refused',
    `${spoken(agent)} names a rollback address other than its registered one; expected ${oneLine(expected, 200)}.`,
  )
}

async function ask<T>(
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

function downstreamOf({ id }: Registered): Downstream {
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

async function post(
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
function askableAgain(error: unknown): unknown {
  if (!(error instanceof EffectFailed) || !error.outcomeUnknown) return error
  return new EffectFailed(error.code, error.message.replace(/; whether .*/, '; it can be asked again.'), {
    errorType: error.errorType,
    retriable: true,
  })
}

/** An agent's answer by its schema; its own refusal, or an answer nobody can read, as a failure. */
function answered<T>(
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
