/*
 * `POST /.well-known/atd/rollback`: an agent asks for a rollback (ATD section 7, NOTES 3.8). The request is a signed
 * token; its parents name the checkpoint. The same request gets the first answer again, looked up before the replay
 * check; who is not part of the run gets 403.
 */
import { verifyAgentRequest } from '@/lib/auth/agents'
import { hashJson } from '@/lib/base/hash'
import { prefixed, type RollbackId, runIdOf } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { meaningOf, readClaim } from '@/lib/ect/vocabulary'
import { scopeOfCascade } from '@/lib/rollback/scope'
import { readJson } from '@/lib/worker/run-book'
import type { Installation } from '../installation'
import { askRollback } from './ask-rollback'
import { awaitRollback } from './await-rollback'
import { type Caller, takeToken } from './caller'
import { type CheckpointPlace, placeAsAncestor, runOf } from './part-in-run'

/** What the agent is told: the draft's result, and where to look for the rest. */
export interface AgentRollbackAnswer {
  rollback_id: string
  checkpoint_id: string
  status: string
}

/**
 * Verifies the request, authorizes it against the run, and asks for the rollback. Throws Problem `ect_…` when the token
 * does not verify, `rollback_outside_run` (403) when its agent has no ancestor of the checkpoint in the run,
 * `too_many_requests`, and the refusals of `checkExecutable`.
 */
export async function rollbackForAgent(
  installation: Installation,
  request: Request,
): Promise<AgentRollbackAnswer & { wid: string }> {
  const verified = await verifyAgentRequest(installation.auth, request, [
    installation.id,
    `${installation.publicOrigin}/.well-known/atd/rollback`,
  ])
  const { claims, principal } = verified
  if (meaningOf(claims.exec_act) !== 'rollback_request') {
    throw new Problem(
      'bad_request',
      `The token says "${claims.exec_act.slice(0, 60)}"; expected a rollback request`,
    )
  }
  await installation.agentRates.spend(principal.id, installation.ports.timer.now())
  const scope = `agent:${principal.id} rollback`
  const requestHash = hashJson([claims.par, claims.ext ?? {}])
  const known = await installation.answers.answer(scope, claims.jti)
  if (known) {
    if (known.requestHash === requestHash)
      return { ...(JSON.parse(known.body) as AgentRollbackAnswer), wid: claims.wid }
    throw new Problem('ect_replayed', `The token ${claims.jti} was used for another rollback`)
  }
  const agent = await installation.agents.get(principal.id)
  if (!agent) throw new Problem('ect_key_unknown', `${principal.id} is registered no more`)
  const caller = { agent, principal, signed: verified, asks: true }
  const { runId, checkpoint } = await namedByParents(installation, caller, claims.par)
  await takeToken(installation, caller)
  const cascade = readClaim(claims.ext, 'cascade')
  const reason = readClaim(claims.ext, 'reason')
  const rollback = prefixed('rb', installation.ports.mint())
  const answer: AgentRollbackAnswer = {
    rollback_id: rollback,
    checkpoint_id: checkpoint.jti,
    status: 'executing',
  }
  const asked = { rollback, reason: typeof reason === 'string' ? reason : '', by: `agent:${principal.id}` }
  const first = { scope, key: claims.jti, requestHash, status: 202, body: JSON.stringify(answer) }
  const wish = { checkpoint: checkpoint.jti, scope: scopeOfCascade(cascade !== false), mayCoordinate: false }
  await askRollback(installation, runId, wish, asked, first)
  return { ...answer, wid: claims.wid }
}

/** The one checkpoint among the parents: what else it follows from, such as an error, may stand beside it. */
async function namedByParents(
  installation: Installation,
  caller: Caller,
  par: readonly string[],
): Promise<CheckpointPlace> {
  const first = par[0]
  if (first === undefined) {
    throw new Problem(
      'ect_claim_invalid',
      'The token has no parents; a rollback request names in "par" the checkpoint to go back to.',
    )
  }
  const runId = await runOf(installation, caller, first)
  const named =
    runId && (await installation.book.read(runId, (run) => par.filter((id) => run.checkpoints.has(id))))
  const place = await placeAsAncestor(installation, caller, named?.[0] ?? first)
  if (named && named.length > 1) {
    throw new Problem(
      'ect_claim_invalid',
      `The token names ${named.length} checkpoints among its parents; a rollback request takes back one, so sign one for each.`,
    )
  }
  return place
}

/** The answer once the rollback is over, with its result token; as it stands, when that takes longer than a request may. */
export async function finishedAnswer(
  installation: Installation,
  wid: string,
  answer: AgentRollbackAnswer,
): Promise<AgentRollbackAnswer & { ect?: string; cascaded?: Json }> {
  const runId = runIdOf(wid)
  const found = await awaitRollback(installation, runId, answer.rollback_id as RollbackId)
  const { status, resultJti } = found.stands === 'under_way' ? {} : found.rollback
  if (status === undefined || resultJti === undefined) return answer
  const { ledger } = installation.store
  const row = await ledger.row(runId, resultJti)
  const cascaded = readClaim(row && parseClaims(unverifiedPayload(row.token)).ext, 'cascaded')
  return {
    ...answer,
    status,
    ect: row?.token,
    cascaded: typeof cascaded === 'string' ? await readJson(ledger, cascaded) : undefined,
  }
}
