import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { SignalRecord } from '@/lib/engine/signal-ports'
import type { SignalHeard, SignalList, SignalRow } from '@/lib/view/signal-wire'
import { route } from '../current'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { runIdFrom } from '../run-id'

/** `GET /api/v1/runs/{run}/signals` */
export const getSignals = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) => json(await signalsOfRun(installation, runIdFrom(params.run))),
)

async function signalsOfRun({ store, book }: Installation, runId: RunId): Promise<SignalList> {
  if (!(await store.ledger.header(runId))) throw new Problem('not_found', `No run is known as "${runId}"`)
  const out = (await store.signals.ofRun(runId)).map(rowOf)
  const heard = await book.read(runId, (run): SignalHeard[] =>
    [...run.signals.values()].map((signal) => ({
      token: signal.jti,
      error: signal.errorId,
      agent: signal.agent,
      at: signal.at,
      severity: signal.severity,
      errorType: signal.errorType,
      checkpoint: signal.checkpointId,
      node: signal.node,
      description: signal.description,
    })),
  )
  return { out, in: heard }
}

function rowOf({ errorJti, agent, state, createdAt, attempts, nextAt, answer }: SignalRecord): SignalRow {
  return {
    error: errorJti,
    agent,
    state,
    at: createdAt,
    attempts,
    ...(nextAt !== null && { nextAt }),
    answer,
  }
}
