import { finishedAnswer, rollbackForAgent } from '../agent-rollback'
import { installation } from '../current'
import { problemResponse } from '../http/problem-response'
import { json } from '../http/route'
import { withApiHeaders } from '../http/security-headers'
import { openedReadOnly } from '../opened'

/** `POST /.well-known/atd/rollback`: authenticated by the token in `Execution-Context`, not by cookie or API token. */
export async function postAgentRollback(request: Request): Promise<Response> {
  const house = await installation()
  try {
    if (house.opened) throw openedReadOnly(house.opened)
    const { wid, ...answer } = await rollbackForAgent(house, request)
    return withApiHeaders(json(await finishedAnswer(house, wid, answer)))
  } catch (error) {
    return problemResponse(error, 'POST /.well-known/atd/rollback', house.log)
  }
}
