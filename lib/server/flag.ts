/** "This looks wrong": a person calls what a finished step gave wrong, a semantic failure (cascade section 3.2). */
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { Actor } from '@/lib/engine/facts'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { dependentsOf } from '@/lib/view/dependents'
import type { FlagView } from '@/lib/view/flag-wire'
import type { Installation } from './installation'

export interface FlagWish {
  node: string
  /** Absent: the visit the step is at. */
  visit?: number
  /** Kept in the ledger; may not be blank. */
  reason: string
  by: Actor
  answer?: (view: FlagView) => IdempotentAnswer
}

/**
 * Records the finding as an error token of the step, also when the run has ended, and says what was made from its output.
 * Takes nothing back. Throws Problem `not_found` for a step the run does not have, `bad_request` without a reason,
 * `run_moved_on` when the step is not finished or the run is being rolled back.
 */
export async function flagStep(
  installation: Pick<Installation, 'book'>,
  runId: RunId,
  wish: FlagWish,
): Promise<FlagView> {
  const { node, by, answer } = wish
  const reason = wish.reason.trim()
  if (reason === '') {
    throw new Problem('bad_request', 'No reason was given; say what is wrong with what the step gave')
  }
  const found = await installation.book.read(runId, (run) => ({
    visit: run.visits.get(node)?.visit,
    dependents: dependentsOf(run, node),
  }))
  if (found.visit === undefined) {
    throw new Problem('not_found', `The workflow of this run has no step "${node.slice(0, 60)}"`)
  }
  const view: Omit<FlagView, 'token'> = {
    run: runId,
    node,
    visit: wish.visit ?? found.visit,
    dependents: found.dependents,
  }
  const { visit } = view
  const tokenOf = (facts: readonly { jti: string }[]) => facts[0]?.jti ?? ''
  const { facts } = await installation.book.execute(
    runId,
    { type: 'flag', node, visit, by, reason },
    answer ? { answer: (decision) => answer({ ...view, token: tokenOf(decision.facts) }) } : {},
  )
  return { ...view, token: tokenOf(facts) }
}
