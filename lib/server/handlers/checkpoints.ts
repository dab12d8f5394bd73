import { route } from '../current'
import { checkpointAnswer } from '../doors/checkpoint-door'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'

/** `GET /api/v1/runs/{run}/checkpoints/{checkpoint}`: its token and what it is worth now, never what it holds. */
export const getCheckpoint = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) => {
    const runId = runIdFrom(params.run)
    return json(await checkpointAnswer(installation, runId, params.checkpoint ?? ''))
  },
)
