/* What the published protocols ask an agent: ATD, cascade, and AERR under both of its paths. */
import { type Answer, must, ok } from './answers'
import { checkpointOf, opened } from './checkpoints'
import { firstAnswer } from './once'
import { inAerr, prepare, rollback } from './rollbacks'
import type { Call, Parts, Route } from './terms'
import { uuidIn } from './tokens'

const circuits: Route = async ({ calls }) => ok({ circuits: calls.circuits() })
/** Under ATD the token is the whole request; a body may name the rollback besides. */
const atdRollback: Route = (parts, { claims, json, hash }) =>
  rollback(parts, { claims, hash, json: { rollback_id: claims.jti, checkpoint_id: claims.par[0], ...json } })
const aerrRollback: Route = async (parts, call) => inAerr(await rollback(parts, call))

export const endpoints: Record<string, Route> = {
  'POST /.well-known/atd/rollback': atdRollback,
  'POST /.well-known/cascade/rollback/prepare': prepare,
  'POST /.well-known/cascade/rollback': rollback,
  'GET /.well-known/cascade/checkpoints/:checkpoint_id': checkpointShown,
  'GET /.well-known/cascade/circuits': circuits,
  'POST /.well-known/aerr/rollback': aerrRollback,
  'POST /.well-known/aerr/error': errorTold,
  'GET /.well-known/aerr/circuits': circuits,
  'POST /aerr/rollback': aerrRollback,
  'POST /aerr/error': errorTold,
  'GET /aerr/circuits': circuits,
}

/** An error signal (AERR section 5), taken once, and only of a run this agent worked for. */
async function errorTold(parts: Parts, { claims: { wid, exec_act: act }, json }: Call): Promise<Answer> {
  must(act === 'atd:error', 403, 'ect_claim_invalid', `A token for "${act}" tells of no error.`)
  const [error, kept] = [uuidIn(json.error_id), await checkpointOf(parts, json.checkpoint_id)]
  must(error, 400, 'bad_request', '"error_id" is no UUID.')
  const isOurs = (await parts.store.get('runs', wid)) && (kept?.wid ?? wid) === wid
  must(isOurs, 403, 'signal_outside_chain', `${parts.agent.name} has no part in that run.`)
  return firstAnswer(parts, [`error ${wid} ${error}`], async () => {
    await parts.agent.onError?.(json)
    return ok({ error_id: json.error_id, status: 'accepted' }, 202)
  })
}

async function checkpointShown(parts: Parts, { claims, json }: Call): Promise<Answer> {
  const kept = await checkpointOf(parts, json.checkpoint_id)
  must(kept?.wid === claims.wid, 404, 'checkpoint_missing', 'There is no such checkpoint of that run.')
  const holds = await opened(parts, kept).then(Boolean, () => false)
  const verification = { signature_valid: holds, out_hash_matches: holds, expired: kept.until <= parts.now() }
  return ok({ checkpoint_id: kept.id, ect: kept.ect, verification })
}
