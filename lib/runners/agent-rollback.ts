/*
 * Taking back what an agent did: in one phase (ATD), or in two where the agent speaks them (cascade). What an agent that
 * signs its answers says is believed when its own key signed it for this very request.
 */
import type { z } from 'zod'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, hashJson, sha256 } from '@/lib/base/hash'
import { prepareAnswer, rollbackAnswer } from './agent-answers'
import { rollbackUrl, sealed, type sealedCheckpoint } from './agent-checkpoint'
import {
  answered,
  askableAgain,
  downstreamOf,
  post,
  type Registered,
  registered,
  spoken,
} from './agent-request'
import {
  EffectFailed,
  type Effects,
  type Evidence,
  type Prepared,
  type SignedAnswer,
  type Snapshot,
  type Undone,
  type UndoRequest,
} from './runner'
import type { HttpAnswer } from './send'

/** Asks an agent of two phases whether it can take a step back; undefined of one that has one phase. Throws EffectFailed. */
export async function prepareRollback(
  snapshot: Snapshot,
  effects: Effects,
  rollback: UndoRequest,
): Promise<Prepared | undefined> {
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
    description: description || `${spoken(agent)} says that it ${prepared ? 'can' : 'cannot'} take this back`,
  }
}

/**
 * Has the agent that holds the checkpoint take the step back: for a claimed task, whoever claimed it. Throws EffectFailed, also
 * where an answer that must be signed is not.
 */
export async function rollBackAtAgent(
  snapshot: Snapshot,
  effects: Effects,
  rollback: UndoRequest,
): Promise<Undone> {
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
