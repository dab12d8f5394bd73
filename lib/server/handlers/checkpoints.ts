import { route } from '../current'
import { checkpointAnswer } from '../doors/checkpoint-door'
import { json } from '../http/route'
import { putBackPlanned } from '../put-back'
import { runIdFrom } from '../run-id'

/** `GET /api/v1/runs/{run}/checkpoints/{checkpoint}`: its token and what it is worth now, never what it holds. */
export const getCheckpoint = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) => {
    const runId = runIdFrom(params.run)
    return json(await checkpointAnswer(installation, runId, params.checkpoint ?? ''))
  },
)

/** `GET /api/v1/runs/{run}/checkpoints/{checkpoint}/put-back`: for those who may roll back over what others changed since. */
export const getPutBack = route(
  { auth: 'either', scope: 'rollbacks:execute', role: 'operator' },
  async ({ installation, params, principal }) => {
    const runId = runIdFrom(params.run)
    return json(await putBackPlanned(installation, runId, principal, params.checkpoint ?? ''))
  },
)
