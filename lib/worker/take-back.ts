import type { ApprovalId } from '@/lib/base/ids'
import { prefixed } from '@/lib/base/ids'
import { DEFAULT_ROLLBACK_S, rollbackDeadline } from '@/lib/rollback/deadline'
import { checkExecutable } from '@/lib/rollback/plan'
import type { Hold } from './hold'
import { makePlan } from './plan'
import type { WorkerPorts } from './ports'
import { jsonValue } from './values'

/**
 * Takes the whole run back because nobody answered and its author wrote `rollback` for that (NOTES 3.11). A person
 * chooses afterwards, as after any rollback. Throws Problem `rollback_plan_changed` when the run moved on meanwhile.
 */
export async function takeBack(ports: WorkerPorts, hold: Hold, approval: ApprovalId): Promise<void> {
  const { book, timer, mint } = ports
  const { runId } = hold.lease
  const asked = await book.read(runId, (run) => run.approvals.get(approval))
  if (!asked) return
  const { node, role } = asked
  const plan = await makePlan(ports, runId, { node, scope: 'full_workflow', mayCoordinate: true })
  checkExecutable(plan, plan.digest)
  const checkpoints = plan.steps.flatMap((step) => step.checkpointId ?? [])
  const ttlsS = await book.read(runId, (run) => checkpoints.map((jti) => run.checkpoints.get(jti)?.ttlS ?? 0))
  const now = timer.now()
  const stored = jsonValue(plan)
  await book.execute(
    runId,
    {
      type: 'roll_back',
      rollback: prefixed('rb', mint()),
      scope: plan.scope,
      node,
      checkpoints,
      plan: stored.hash,
      seq: plan.seq,
      reason: `Nobody holding ${role} answered about ${node} in time`,
      by: 'silence',
      deadlineS: Math.max(1, (rollbackDeadline(now, ttlsS, DEFAULT_ROLLBACK_S) - now) / 1000),
    },
    { values: [stored], ...hold.along },
  )
}
