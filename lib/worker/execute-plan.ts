import type { RollbackId, RunId } from '@/lib/base/ids'
import type { Actor } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { rollbackDeadline } from '@/lib/rollback/deadline'
import { type Plan, planWithout } from '@/lib/rollback/plan'
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
  {
    withinS,
    ...wish
  }: {
    by: Actor
    reason: string
    rollback: RollbackId
    overwrite?: boolean
    error?: string
    /** Seconds it may take; absent: the default of `rollbackDeadline`. */
    withinS?: number
  },
  along: Pick<Along, 'answer' | 'lease' | 'lost'> = {},
): Promise<void> {
  const { left, ttlsS } = await book.read(runId, (run) => {
    const left = planWithout(plan, doneMeanwhile(run))
    return { left, ttlsS: checkpointsOf(left).map((jti) => run.checkpoints.get(jti)?.ttlS ?? 0) }
  })
  const now = timer.now()
  const stored = jsonValue(left)
  await book.execute(
    runId,
    {
      type: 'roll_back',
      ...wish,
      scope: plan.scope,
      ...(plan.only && { only: plan.only }),
      node: plan.node,
      checkpoints: checkpointsOf(left),
      plan: stored.hash,
      seq: plan.seq,
      deadlineS: Math.max(1, (rollbackDeadline(now, ttlsS, withinS) - now) / 1000),
    },
    { ...along, values: [stored] },
  )
}

function checkpointsOf({ steps }: Plan): string[] {
  return steps.flatMap(({ checkpointId }) => checkpointId ?? [])
}

/** What the rollback under way, which this one takes over, undid or began to undo while the plan was made. */
function doneMeanwhile(run: Run): ReadonlySet<string> {
  const narrower = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  const acts = [...(narrower?.acts ?? [])]
  return new Set(
    acts.flatMap(([jti, { status }]) => (status === undefined || status === 'completed' ? [jti] : [])),
  )
}
