/** Whom an error is told to, and in which words (AERR section 5). Worked out where it is committed: it is written with it. */
import { aerrAgentId, urnOf } from '@/lib/ect/aerr-words'
import type { Fact, FactOf } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import type { NewSignal } from '@/lib/engine/signal-ports'

interface SignalPorts {
  signer: { iss: string }
  hearErrors?(agents: string[]): Promise<string[]>
}

/** Agents told of one error at most: as many as a token may have parents. */
const maxTold = 100
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The signals of a commit's errors; undefined, as for nearly every commit, where there are none. */
export async function signalsOf(
  run: Run,
  facts: readonly Fact[],
  ports: SignalPorts,
): Promise<NewSignal[] | undefined> {
  const { hearErrors } = ports
  if (!hearErrors) return undefined
  const signals: NewSignal[] = []
  for (const fact of facts) {
    if (fact.type !== 'error' || (fact.severity !== 'error' && fact.severity !== 'critical')) continue
    const chain = chainOf(run, fact.node)
    const told = chain.size === 0 ? [] : await hearErrors([...chain.keys()])
    for (const agent of told.slice(0, maxTold)) {
      signals.push(signalOf(fact, agent, chain.get(agent), ports.signer.iss))
    }
  }
  return signals.length > 0 ? signals : undefined
}

/** Agents that did what the step follows from, each with its latest checkpoint there. */
function chainOf(run: Run, node: string): Map<string, string | undefined> {
  const chain = new Map<string, string | undefined>()
  const reached = new Set(run.graph.parents.get(node) ?? [])
  // A Set is walked in the order it grows, so it serves as the queue too: the nearest come first.
  for (const at of reached) {
    for (const agent of run.claimants.get(at) ?? []) {
      chain.set(agent, chain.get(agent) ?? run.visits.get(at)?.checkpoint)
    }
    for (const parent of run.graph.parents.get(at) ?? []) reached.add(parent)
  }
  return chain
}

/** A step that failed before it took a checkpoint is told of with the agent's own: that is what it may have to take back. */
function signalOf(
  fact: FactOf<'error'>,
  agent: string,
  ownCheckpoint: string | undefined,
  iss: string,
): NewSignal {
  const checkpoint = fact.checkpointId ?? ownCheckpoint
  const body = {
    error_id: urnOf(fact.jti),
    source_agent: aerrAgentId(iss),
    severity: fact.severity,
    ...(checkpoint !== undefined && { checkpoint_id: urnOf(checkpoint) }),
    error_type: fact.errorType,
    description: fact.description,
    timestamp: new Date(fact.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    upstream_errors: fact.upstream.map((id) => (uuid.test(id) ? urnOf(id) : id)),
  }
  return {
    id: `${fact.jti} ${agent}`,
    errorJti: fact.jti,
    agent,
    body: JSON.stringify(body),
    createdAt: fact.at,
  }
}
