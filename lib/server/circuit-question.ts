/* What can be asked of a circuit's downstream without a side effect, so that a person can have the probe go. */
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CircuitRecord } from '@/lib/engine/circuit-ports'
import { agentConfig } from '@/lib/nodes/agent'
import { operationOf } from '@/lib/runners/agent'
import type { RegisteredAgent } from '@/lib/runners/runner'
import type { CircuitQuestion } from '@/lib/view/circuit-wire'
import type { StepOfRun } from '@/lib/worker/circuit-ports'
import { eventOfClaims } from '@/lib/worker/circuit-tokens'
import type { Installation } from './installation'

/** Of the circuit's chain: forcing and lifting may stand after what opened it. */
const changesRead = 50

export interface Question extends CircuitQuestion {
  agent: RegisteredAgent
  /** The step whose call opened the breaker, and its visit now. */
  opener: StepOfRun
}

/** What a probe by a person would ask; undefined where the downstream has no question without a side effect. */
export async function questionOf(house: Installation, record: CircuitRecord): Promise<Question | undefined> {
  const agent = await house.agents.get(record.downstream)
  if (!agent || agent.removedAt !== undefined || !agent.protocols.includes('holdpoint')) return undefined
  for (const { token } of await house.store.circuits.tokens(record.id, { limit: changesRead })) {
    const { run, node } = eventOfClaims(parseClaims(unverifiedPayload(token)))
    if (run === undefined || !node) continue
    const asked = await operationIn(house, run as RunId, node, agent.id)
    return asked && { agent, node, ...asked }
  }
  return undefined
}

/** What a step asks this agent to do; undefined where the run is not here, or the step is none of an agent's. */
async function operationIn(
  { book }: Installation,
  runId: RunId,
  node: string,
  agent: string,
): Promise<Pick<Question, 'operation' | 'opener'> | undefined> {
  try {
    return await book.read(runId, ({ graph, visits }) => {
      const step = graph.nodes.get(node)
      const config = step?.kind === 'agent' ? agentConfig.safeParse(step.config).data : undefined
      if (!step || config?.agent !== agent) return undefined
      const opener = { runId, node, visit: visits.get(node)?.visit ?? 1 }
      return { operation: operationOf(config, step), opener }
    })
  } catch (error) {
    if (isProblem(error)) return undefined
    throw error
  }
}
