/*
 * An agent tells of an error (AERR section 5). Believed of it is that it happened, never what to do: it must name a
 * checkpoint of its own chain, and what follows is for the workflow to say (lib/worker/on-error.ts).
 */
import { hashJson } from '@/lib/base/hash'
import { isProblem, Problem } from '@/lib/base/problem'
import type { ErrorType, Severity } from '@/lib/engine/facts'
import type { Installation } from '../installation'
import { mustTellOf } from './agrees'
import { answered } from './answered'
import { type Caller, takeToken } from './caller'
import { placeInChain } from './part-in-run'

export interface ErrorTold {
  /** As the agent wrote it. */
  errorId: string
  severity: Severity
  /** As the ledger knows it. */
  checkpointId: string
  errorType: ErrorType
  description: string
  upstream: string[]
}

/**
 * Records the error in the checkpoint's run, once. Throws Problem `rollback_outside_run` for a checkpoint outside the
 * agent's chain, `error_id_reused` when that id was given to another error, `ect_replayed`.
 */
export async function tellError(house: Installation, caller: Caller, told: ErrorTold): Promise<Response> {
  const scope = `agent:${caller.agent.id} error`
  const requestHash = hashJson(told)
  const body = JSON.stringify({ error_id: told.errorId, status: 'accepted' })
  const known = await house.answers.answer(scope, told.errorId)
  if (known) return repeated(known.requestHash === requestHash, told, known.body)
  const { runId } = await placeInChain(house, caller, told.checkpointId)
  mustTellOf(caller, told)
  await takeToken(house, caller)
  const answer = { scope, key: told.errorId, requestHash, status: 202, body }
  try {
    await house.book.execute(
      runId,
      { type: 'signal', agent: caller.agent.id, ...told },
      { answer: () => answer },
    )
  } catch (error) {
    // Answers are forgotten after a week, and another request may have been quicker; the ledger knows.
    const before = await house.book.read(runId, (run) => run.signals.get(told.errorId))
    if (!before || !(isProblem(error, 'run_moved_on') || isProblem(error, 'idempotency_key_reused')))
      throw error
    const isSame = before.agent === caller.agent.id && before.checkpointId === told.checkpointId
    return repeated(isSame, told, body)
  }
  return answered(body, 202)
}

function repeated(isSame: boolean, { errorId }: ErrorTold, body: string): Response {
  if (isSame) return answered(body, 202)
  throw new Problem(
    'error_id_reused',
    `The error id ${errorId.slice(0, 80)} was given to another error; a new error needs a new id.`,
  )
}
