import { prefixed, type RollbackId, uuidOfText } from '@/lib/base/ids'
import { bareId } from '@/lib/ect/aerr-words'

const bareUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ownId = /^rb_[0-9a-f]{32}$/

/**
 * The run's own id of a rollback that an agent asks for under `given`: the same UUID in another coat, so that it is
 * found again. An id that is no UUID gets one that is made from it and its agent.
 */
export function rollbackIdOf(given: string, agent: string): RollbackId {
  if (ownId.test(given)) return given as RollbackId
  const bare = bareId(given)
  return prefixed('rb', bareUuid.test(bare) ? bare : uuidOfText(`${agent} ${given}`))
}

/** `urn:uuid:…` of a rollback of this installation, as other agents are told of it. */
export function rollbackUrn(id: string): string {
  const hex = /^rb_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id)
  return hex ? `urn:uuid:${hex.slice(1).join('-')}` : id
}
