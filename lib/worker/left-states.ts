import type { RunId } from '@/lib/base/ids'
import type { Fact } from '@/lib/engine/facts'
import { holderAt } from '@/lib/engine/own-steps'
import type { LeftState } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import { labelOf } from '@/lib/workflow/graph-index'

/** The states that these tokens say steps left at their targets, done or taken back; undefined where there are none. */
export function leftStates(runId: RunId, run: Run, facts: readonly Fact[]): LeftState[] | undefined {
  const states = facts.flatMap((fact) => leftBy(runId, run, fact) ?? [])
  return states.length > 0 ? states : undefined
}

function leftBy(runId: RunId, run: Run, fact: Fact): LeftState | undefined {
  if (fact.type !== 'task_complete' && fact.type !== 'rollback_act_result') return undefined
  const undid = fact.type === 'rollback_act_result'
  const state = undid ? putBack(run, fact) : leftAsDone(fact)
  const holder = state && holderAt(run, fact.node)
  if (!state || holder === undefined) return undefined
  const { node, visit, at } = fact
  return { holder, state, runId, node, visit, label: labelOf(run.graph, node), at, undid }
}

/** What a step left as it was is nobody's change. */
function leftAsDone({ stateFound, stateLeft }: Extract<Fact, { type: 'task_complete' }>) {
  return stateLeft === stateFound ? undefined : stateLeft
}

/** What the step had found, where its first checkpoint was put back: it stands for the state before anything was tried. */
function putBack(run: Run, fact: Extract<Fact, { type: 'rollback_act_result' }>) {
  const visit = anyVisitOf(run, fact.node, fact.visit)
  const isWhole = fact.status === 'completed' && fact.checkpointId === visit?.firstCheckpoint
  return isWhole ? visit?.changed?.found : undefined
}
