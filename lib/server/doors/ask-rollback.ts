import type { RollbackId, RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { checkExecutable } from '@/lib/rollback/plan'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan, type PlanWish } from '@/lib/worker/plan'
import type { Installation } from '../installation'

/** A run that never stands still for as long as a plan takes is refused with what it is refused with then. */
const tries = 8

/**
 * Plans a rollback and asks for it in an agent's name, with its answer's key in the same commit. A person sees a plan
 * and gets that plan or nothing; an agent asks for a checkpoint, so a run that moved on in between is planned again.
 */
export async function askRollback(
  house: Installation,
  runId: RunId,
  wish: PlanWish,
  asked: { rollback: RollbackId; reason: string; by: string },
  first: IdempotentAnswer,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const plan = await makePlan(house.ports, runId, wish)
    checkExecutable(plan, plan.digest)
    try {
      return await executePlan(house.ports, runId, plan, asked, { answer: () => first })
    } catch (error) {
      if (!isProblem(error, 'rollback_plan_changed') || attempt === tries) throw error
    }
  }
}
