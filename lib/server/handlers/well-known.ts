import { finishedAnswer, rollbackForAgent } from '../doors/atd-rollback'
import { door } from '../doors/door'
import { json } from '../http/route'

/** `POST /.well-known/atd/rollback`: authenticated by the token in `Execution-Context`, not by cookie or API token. */
export const postAgentRollback = door(async (house, request) => {
  const { wid, ...answer } = await rollbackForAgent(house, request)
  return json(await finishedAnswer(house, wid, answer))
})
