import type { RunId } from '@/lib/base/ids'
import type { Caller } from '@/lib/breaker/terms'
import type { RunHeader } from '@/lib/engine/ports'
import type { Calls } from '@/lib/runners/runner'
import { policyOf } from '@/lib/worker/circuit-entry'
import type { CallingStep } from '@/lib/worker/circuit-ports'
import type { ReachingStep } from '@/lib/worker/ports'
import type { Installation } from './installation'

/** Runs above one another; lib/worker/child-runs.ts refuses more. */
const maxDepth = 64

/**
 * Calls of one step, each through the breaker between the workflow and what it calls. A run that a step of another began
 * is of that one's failure domain: the caller is the workflow of the topmost run.
 */
export function callsOf(house: Installation, step: ReachingStep): Calls {
  const { node, visit, header, lost } = step
  const { graph, nodes } = step.run.graph
  const policy = policyOf(nodes.get(node)?.circuit)
  const who: CallingStep = {
    runId: header.runId,
    node,
    visit,
    vocabulary: graph.vocabulary,
    lost,
    changed: step.noteCircuit,
  }
  let caller: Caller | undefined
  const calling = async () => {
    caller ??= `workflow:${await topWorkflow(house, header)}`
    return caller
  }
  return {
    async through(downstream, call, verified, failed) {
      const judge = { verified, failed }
      return house.circuits.through(caller ?? (await calling()), downstream, policy, who, call, judge)
    },
    async counted(downstream, call, failed) {
      return house.circuits.counted(caller ?? (await calling()), downstream, policy, who, call, { failed })
    },
  }
}

async function topWorkflow({ store }: Installation, header: RunHeader): Promise<string> {
  let top = header
  for (let depth = 0; top.parent && depth < maxDepth; depth++) {
    const above: RunId = top.parent.runId
    const found = await store.ledger.header(above)
    if (!found) break
    top = found
  }
  return top.workflowName
}
