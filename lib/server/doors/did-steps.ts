/* Whose work a step of a run was: the agent's that its workflow names, that claimed it, or that is at it now. */
import type { Run } from '@/lib/engine/run'

/** Did the agent do any step of the run? */
export function hasPart(run: Run, agent: string): boolean {
  return [...run.graph.nodes.keys()].some((node) => did(run, node, agent))
}

/** Did the agent do the step, or one before it? */
export function isAncestor(run: Run, node: string, agent: string): boolean {
  return reaches(run, node, agent, run.graph.parents)
}

/** Did the agent do the step, or one behind it? */
export function isDescendant(run: Run, node: string, agent: string): boolean {
  return reaches(run, node, agent, run.graph.children)
}

function reaches(
  run: Run,
  from: string,
  agent: string,
  next: ReadonlyMap<string, readonly string[]>,
): boolean {
  const reached = new Set([from])
  // A Set is walked in the order it grows, so it serves as the queue too.
  for (const node of reached) {
    if (did(run, node, agent)) return true
    for (const other of next.get(node) ?? []) reached.add(other)
  }
  return false
}

function did(run: Run, node: string, agent: string): boolean {
  const state = run.visits.get(node)?.state
  return (
    run.graph.nodes.get(node)?.config.agent === agent ||
    run.claimants.get(node)?.has(agent) === true ||
    (state?.status === 'running' && state.agent === agent)
  )
}
