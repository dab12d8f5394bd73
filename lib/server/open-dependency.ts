/*
 * Work is refused at the door (cascade section 4.5.2) where it would fail there anyway: its first step calls an agent whose
 * breaker lets no call by, and its author wants it to fail then. A step that waits, or can be done without, is taken in, and
 * one further on is, too: its breaker may have closed by the time it comes.
 */
import { partyName } from '@/lib/base/party-name'
import { Problem } from '@/lib/base/problem'
import type { Downstream } from '@/lib/breaker/terms'
import { policyOf } from '@/lib/worker/circuit-entry'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'

/** Throws Problem `dependency_open` with the agent and how long to wait. Nothing is sent, counted or changed. */
export async function refuseOpenDependency(house: Installation, graph: WorkflowGraph): Promise<void> {
  for (const node of firstToFail(graph)) {
    const agent = node.config.agent as Downstream
    const caller = `workflow:${graph.name}` as const
    const refused = await house.circuits.refusedUntil(caller, agent, policyOf(node.circuit))
    if (!refused) continue
    const retryAfterS = Math.max(1, Math.ceil((refused.until - house.ports.timer.now()) / 1000))
    const when = refused.isHeld
      ? 'until somebody answers the question about it; start the run then'
      : `for ${retryAfterS} s more; start the run then`
    throw new Problem(
      'dependency_open',
      `No run was started: "${nodeLabel(node)}" comes first and calls ${partyName(agent)}, whose breaker lets no call by ${when}.`,
      {
        ...{ error_type: 'circuit_open', downstream_agent: agent, retry_after_s: retryAfterS, retryAfterS },
        waits_for_person: refused.isHeld,
      },
    )
  }
}

/** In a walk an edge for errors may lead on; elsewhere a step that fails ends what it is in. */
function firstToFail({ order, nodes, edges }: WorkflowGraph): GraphNode[] {
  if (order !== 'topological') return []
  const reached = new Set(edges.map(({ to }) => to))
  return nodes.filter(
    ({ id, kind, whenOpen, approval }) =>
      kind === 'agent' && whenOpen === 'fail' && approval === undefined && !reached.has(id),
  )
}
