import type { RollbackId, RunId } from '@/lib/base/ids'
import type { Actor } from '@/lib/engine/facts'
import { DEFAULT_ROLLBACK_S, rollbackDeadline } from '@/lib/rollback/deadline'
import type { Plan } from '@/lib/rollback/plan'
import type { WorkerPorts } from './ports'
import type { Along } from './run-book'
import { jsonValue } from './values'

/**
 * Makes a checked plan the run's rollback, in whoever's name: a person's, an agent's, silence's, or the engine's for
 * the runs below a step. The plan is stored with the request, and the deadline follows from its checkpoints (NOTES 3.6).
 * Throws Problem `rollback_plan_changed`, `rollback_busy` or `run_moved_on` when the run is not as it was planned on.
 */
export async function executePlan(
  { book, timer }: Pick<WorkerPorts, 'book' | 'timer'>,
  runId: RunId,
  plan: Plan,
  wish: { by: Actor; reason: string; rollback: RollbackId; overwrite?: boolean },
  along: Pick<Along, 'answer' | 'lease' | 'lost'> = {},
): Promise<void> {
  const checkpoints = plan.steps.flatMap((step) => step.checkpointId ?? [])
  const ttlsS = await book.read(runId, (run) => checkpoints.map((jti) => run.checkpoints.get(jti)?.ttlS ?? 0))
  const now = timer.now()
  const stored = jsonValue(plan)
  await book.execute(
    runId,
    {
      type: 'roll_back',
      ...wish,
      scope: plan.scope,
      ...(plan.only && { only: plan.only }),
      node: plan.node,
      checkpoints,
      plan: stored.hash,
      seq: plan.seq,
      deadlineS: Math.max(1, (rollbackDeadline(now, ttlsS, DEFAULT_ROLLBACK_S) - now) / 1000),
    },
    { ...along, values: [stored] },
  )
}
