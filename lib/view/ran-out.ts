/*
 * How a loop of an agent ends that never came to a result: its model was to be asked once more, and there was nothing
 * left to ask with. The visit in which that is found out is no step of the loop.
 */
import type { Run } from '@/lib/engine/run'

/** The label of a thought that had no steps or tokens left. */
export const ranOutLabel = 'exhausted'

/** "out of steps after 4", "out of tokens after 2 steps"; undefined for a run that is no such loop, or did not end so. */
export function ranOut({ walk, graph }: Run): string | undefined {
  const last = walk?.path.at(-1)?.visit
  const node = last && graph.nodes.get(last.node)
  if (!walk || node?.kind !== 'agent_think') return undefined
  if (last?.state.status !== 'done' || last.state.label !== ranOutLabel) return undefined
  const steps = walk.path.filter(({ visit }) => visit.node === node.id).length - 1
  if (steps >= Number(node.config.max_steps)) return `out of steps after ${steps}`
  return `out of tokens after ${steps} ${steps === 1 ? 'step' : 'steps'}`
}
