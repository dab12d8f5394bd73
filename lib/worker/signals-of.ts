/*
 * Whom an error is told to, and in which words (AERR section 5). Worked out where it is committed: it is written with it.
 * A breaker that opens is told of as well (AERR section 6), as a warning: nothing of the step has failed for good yet.
 */
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
    const news = newsOf(fact)
    if (!news) continue
    const chain = chainOf(run, news.node)
    const told = chain.size === 0 ? [] : await hearErrors([...chain.keys()])
    for (const agent of told.slice(0, maxTold)) {
      signals.push(signalOf(news, agent, chain.get(agent), ports.signer.iss))
    }
  }
  return signals.length > 0 ? signals : undefined
}

type News = Pick<
  FactOf<'error'>,
  'jti' | 'at' | 'node' | 'severity' | 'errorType' | 'description' | 'upstream' | 'checkpointId'
>

/** What there is to tell; undefined, as of nearly every fact, where there is nothing. */
function newsOf(fact: Fact): News | undefined {
  if (fact.type === 'error') {
    return fact.severity === 'error' || fact.severity === 'critical' ? fact : undefined
  }
  if (fact.type !== 'circuit_open') return undefined
  const { jti, at, node, downstream, errorRate, windowS } = fact
  const failed = `${Math.round(errorRate * 100)} % of the calls within ${windowS} s failed`
  return {
    ...{ jti, at, node, severity: 'warning', errorType: 'upstream_cascade', upstream: [] },
    description: `The breaker to ${downstream} is open: ${failed}; calls wait for it or are refused.`,
  }
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
function signalOf(news: News, agent: string, ownCheckpoint: string | undefined, iss: string): NewSignal {
  const checkpoint = news.checkpointId ?? ownCheckpoint
  const body = {
    error_id: urnOf(news.jti),
    source_agent: aerrAgentId(iss),
    severity: news.severity,
    ...(checkpoint !== undefined && { checkpoint_id: urnOf(checkpoint) }),
    error_type: news.errorType,
    description: news.description,
    timestamp: new Date(news.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    upstream_errors: news.upstream.map((id) => (uuid.test(id) ? urnOf(id) : id)),
  }
  return {
    id: `${news.jti} ${agent}`,
    errorJti: news.jti,
    agent,
    body: JSON.stringify(body),
    createdAt: news.at,
  }
}
