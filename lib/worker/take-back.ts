import type { ApprovalId } from '@/lib/base/ids'
import { prefixed } from '@/lib/base/ids'
import { checkExecutable } from '@/lib/rollback/plan'
import { labelOf } from '@/lib/workflow/graph-index'
import { executePlan } from './execute-plan'
import type { Hold } from './hold'
import { makePlan } from './plan'
import type { WorkerPorts } from './ports'

/**
 * Takes the whole run back because nobody answered and its author wrote `rollback` for that (NOTES 3.11). A person
 * chooses afterwards, as after any rollback. Throws Problem `rollback_plan_changed` when the run moved on meanwhile.
 */
export async function takeBack(ports: WorkerPorts, hold: Hold, approval: ApprovalId): Promise<void> {
  const { book, mint } = ports
  const { runId } = hold.lease
  const asked = await book.read(runId, (run) => {
    const question = run.approvals.get(approval)
    return question && { ...question, label: labelOf(run.graph, question.node) }
  })
  if (!asked) return
  const { node, label, role } = asked
  const plan = await makePlan(ports, runId, { node, scope: 'full_workflow', mayCoordinate: true })
  checkExecutable(plan, plan.digest)
  const reason = `Nobody holding ${role} answered about "${label}" in time`
  await executePlan(
    ports,
    runId,
    plan,
    { rollback: prefixed('rb', mint()), reason, by: 'silence' },
    hold.along,
  )
}
