/*
 * `POST /.well-known/atd/rollback`: an agent asks for a rollback (ATD section 6, NOTES 3.8). The request is a signed
 * token; its parents name the checkpoint. The same request gets the first answer again, looked up before the replay
 * check; who is not part of the run gets 403.
 */

import { refuseReplay, type VerifiedAgent, verifyAgentRequest } from '@/lib/auth/agents'
import { hashJson } from '@/lib/base/hash'
import { prefixed, type RollbackId, type RunId, runIdOf } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { meaningOf, readClaim } from '@/lib/ect/vocabulary'
import type { Rollback, Run } from '@/lib/engine/run'
import { checkExecutable } from '@/lib/rollback/plan'
import { scopeOfCascade } from '@/lib/rollback/scope'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import { readJson } from '@/lib/worker/run-book'
import type { Installation } from './installation'

/** What the agent is told: the draft's result, and where to look for the rest. */
export interface AgentRollbackAnswer {
  rollback_id: string
  checkpoint_id: string
  status: string
}

/**
 * Verifies the request, authorizes it against the run, and asks for the rollback. Throws Problem `ect_…` when the token
 * does not verify, `rollback_outside_run` (403) when its agent has no ancestor of the checkpoint in the run, and the
 * refusals of `checkExecutable`.
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
  const scope = `agent:${principal.id} rollback`
  const requestHash = hashJson([claims.par, claims.ext ?? {}])
  const known = await installation.answers.answer(scope, claims.jti)
  if (known) {
    if (known.requestHash === requestHash)
      return { ...(JSON.parse(known.body) as AgentRollbackAnswer), wid: claims.wid }
    throw new Problem('ect_replayed', `The token ${claims.jti} was used for another rollback`)
  }
  const place = await placeOf(installation, verified)
  await refuseReplay(installation.store.ledger, verified)
  const cascade = readClaim(claims.ext, 'cascade')
  const plan = await makePlan(installation.ports, place.runId, {
    node: place.node,
    scope: scopeOfCascade(cascade !== false),
    mayCoordinate: false,
  })
  checkExecutable(plan, plan.digest)
  const reason = readClaim(claims.ext, 'reason')
  const rollback = prefixed('rb', installation.ports.mint())
  const answer: AgentRollbackAnswer = {
    rollback_id: rollback,
    checkpoint_id: place.checkpoint,
    status: 'executing',
  }
  const asked = { rollback, reason: typeof reason === 'string' ? reason : '', by: `agent:${principal.id}` }
  const first = { scope, key: claims.jti, requestHash, status: 202, body: JSON.stringify(answer) }
  await executePlan(installation.ports, place.runId, plan, asked, { answer: () => first })
  return { ...answer, wid: claims.wid }
}

/** How long an agent is kept waiting for the result; afterwards it asks again and gets the same rollback. */
const longestWaitMs = 55_000

/** The answer once the rollback is over, with its result token; as it stands, when that takes longer than a request may. */
export async function finishedAnswer(
  installation: Installation,
  wid: string,
  answer: AgentRollbackAnswer,
): Promise<AgentRollbackAnswer & { ect?: string; cascaded?: Json }> {
  const runId = runIdOf(wid)
  const rollback = await untilOver(installation, runId, answer.rollback_id)
  if (rollback.status === undefined || rollback.resultJti === undefined) return answer
  const { ledger } = installation.store
  const row = await ledger.row(runId, rollback.resultJti)
  const cascaded = readClaim(row && parseClaims(unverifiedPayload(row.token)).ext, 'cascaded')
  return {
    ...answer,
    status: rollback.status,
    ect: row?.token,
    cascaded: typeof cascaded === 'string' ? await readJson(ledger, cascaded) : undefined,
  }
}

async function untilOver(installation: Installation, runId: RunId, id: string): Promise<Partial<Rollback>> {
  const look = () =>
    installation.book.read(runId, (run) => {
      const rollback = run.rollbacks.get(id as RollbackId)
      return { status: rollback?.status, resultJti: rollback?.resultJti }
    })
  const { timer } = installation.ports
  let changed: () => void = () => undefined
  const off = installation.store.onAppend((event) => event.runId === runId && changed())
  const until = timer.now() + longestWaitMs
  try {
    for (;;) {
      const wake = new AbortController()
      changed = () => wake.abort()
      const found = await look()
      if (found.status !== undefined || timer.now() >= until) return found
      await timer.waitUntil(until, wake.signal)
    }
  } finally {
    off()
  }
}

async function placeOf(installation: Installation, { claims, principal }: VerifiedAgent) {
  const runId = runIdOf(claims.wid) as RunId
  const outside = new Problem(
    'rollback_outside_run',
    `${principal.id} has no part in the run ${runId} before that checkpoint; only agents of the same run may ask`,
  )
  const header = await installation.store.ledger.header(runId)
  const [checkpoint] = claims.par
  if (!header || checkpoint === undefined) throw outside
  return installation.book.read(runId, (run) => {
    const ref = run.checkpoints.get(checkpoint)
    if (!ref || !isAncestor(run, ref.node, principal.id)) throw outside
    return { runId, node: ref.node, checkpoint }
  })
}

/** Did the agent do the checkpointed step, or one before it? */
function isAncestor(run: Run, node: string, agent: string): boolean {
  const reached = new Set([node])
  const queue = [node]
  for (let at = 0; at < queue.length; at++) {
    const id = queue[at] as string
    const state = run.visits.get(id)?.state
    const claimed = state?.status === 'running' ? state.agent : undefined
    if (
      run.graph.nodes.get(id)?.config.agent === agent ||
      run.claimants.get(id)?.has(agent) ||
      claimed === agent
    )
      return true
    for (const parent of run.graph.parents.get(id) ?? []) {
      if (reached.has(parent)) continue
      reached.add(parent)
      queue.push(parent)
    }
  }
  return false
}
