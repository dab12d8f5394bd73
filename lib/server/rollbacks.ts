/*
 * Rollbacks as people and agents ask for them: a plan first, then its digest named. The plan is made again at the
 * moment of asking; when the world moved, nothing is done and the answer carries the new plan.
 */
import { actorOf, holds, type Principal } from '@/lib/auth/principal'
import { prefixed, type RollbackId, type RunId } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import { takenOver } from '@/lib/engine/decide-rollback'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { checkExecutable, type Plan } from '@/lib/rollback/plan'
import type { RollbackOnly, RollbackScope } from '@/lib/rollback/terms'
import { rollbackViewOf } from '@/lib/view/rollback-view'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import type { Installation } from './installation'

/** A plan that a token overtakes while it is made is made again so often. */
const planTries = 5

export interface RollbackWish {
  node: string
  scope: RollbackScope
  only?: RollbackOnly
  /** Digest of the plan that was shown. */
  digest: string
  reason: string
  /** Targets that somebody else changed since are put back, too. */
  overwrite?: boolean
  /** Seconds it may take, unless a checkpoint runs out before (NOTES 3.6). */
  withinS?: number
  answer?: (id: RollbackId) => IdempotentAnswer
}

/** A step of the run, or one of its checkpoints: a group stands for all it groups. */
export type PlanRequest = ({ node: string } | { checkpoint: string }) & {
  scope?: RollbackScope
  only?: RollbackOnly
}

/** The plan for this person, changing nothing. Throws Problem `not_found`. */
export async function planFor(
  installation: Installation,
  runId: RunId,
  principal: Principal,
  wish: PlanRequest,
): Promise<Plan> {
  return makePlan(installation.ports, runId, { ...wish, mayCoordinate: holds(principal, 'coordinator') })
}

/**
 * Asks for the rollback that was previewed. Durable when it resolves; a worker executes it. Throws Problem
 * `rollback_plan_changed` with the new plan in its data, and the refusals of `checkExecutable`.
 */
export async function requestRollback(
  installation: Installation,
  runId: RunId,
  principal: Principal,
  wish: RollbackWish,
): Promise<RollbackId> {
  const { ports } = installation
  const { scope, only, node, answer, reason, overwrite, withinS } = wish
  const rollback = prefixed('rb', ports.mint())
  // Whoever loses is told of the winner before of anything that the winner changed.
  await ports.book.read(runId, (run) => {
    takenOver(run, { rollback, scope, only, node }, ports.timer.now())
  })
  const asked = { rollback, reason, by: actorOf(principal), overwrite, withinS }
  for (let attempt = 1; ; attempt++) {
    const plan = await planFor(installation, runId, principal, wish)
    if (plan.digest !== wish.digest) {
      throw new Problem(
        'rollback_plan_changed',
        `The run moved on since the plan was shown, so nothing was done. The plan is now: ${plan.sentence}`,
        { plan: planViewOf(plan) },
      )
    }
    checkExecutable(plan, wish.digest)
    try {
      await executePlan(ports, runId, plan, asked, { answer: answer && (() => answer(rollback)) })
      return rollback
    } catch (error) {
      // A token came while it was planned: where the plan is still the one that was shown, that is what was agreed to.
      if (!isProblem(error, 'rollback_plan_changed') || attempt === planTries) throw error
    }
  }
}

/** The plan as it travels. */
export function planViewOf(plan: Plan): RollbackPlanView {
  const { forbidden, steps, ...rest } = plan
  return {
    ...rest,
    steps: steps.map(({ undo: _undo, ...step }) => step),
    forbidden: forbidden && { sentence: forbidden.sentence, node: forbidden.node, output: forbidden.output },
  }
}

/** A rollback of the run, as far as it is. Throws Problem `not_found`. */
export async function rollbackOf(
  installation: Installation,
  runId: RunId,
  id: string,
): Promise<RollbackView> {
  return installation.book.read(runId, (run) => {
    const rollback = run.rollbacks.get(id as RollbackId)
    if (!rollback) throw new Problem('not_found', `This run has no rollback "${id.slice(0, 60)}"`)
    return rollbackViewOf(run, runId, rollback)
  })
}
