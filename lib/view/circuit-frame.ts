/*
 * Breakers on a run's graph: which steps they guard at a moment, by what the run's own tokens say. A breaker that lets
 * calls pass is not drawn, nor one before a step that has nothing left to call.
 */
import type { Run, SeenCircuit, VisitState } from '@/lib/engine/run'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { ShownBreaker } from './circuit-words'

/** A breaker as it stands before a step. */
export interface BreakerFrame {
  circuit: string
  downstream: string
  shown: ShownBreaker
  /** When the next call may go, ms since the epoch; absent when the run is over, while a probe is out, and while held. */
  until?: number
  /** Its probes are held until a person answers: no time that passes lets a call go. */
  held?: true
}

/** The circuit that guards each step, where one is not closed. */
export function guardsOf(run: Run): ReadonlyMap<string, SeenCircuit> {
  const guards = new Map<string, SeenCircuit>()
  for (const seen of run.circuits.values()) {
    if (seen.status === 'closed') continue
    const called = agentSteps(run.graph).get(seen.downstream) ?? []
    for (const node of [...called, ...seen.nodes]) {
      const other = guards.get(node)
      if (!other || other.at <= seen.at) guards.set(node, seen)
    }
  }
  return guards
}

/** The breaker before a step; undefined where the step has nothing left to call. */
export function breakerFrame(
  run: Run,
  seen: SeenCircuit | undefined,
  status: VisitState['status'],
): BreakerFrame | undefined {
  if (!seen || status === 'done' || status === 'rolled_back') return undefined
  const over = run.state.status === 'ended'
  if (over && status === 'pending') return undefined
  const { circuit, downstream, until } = seen
  const shown: ShownBreaker = seen.because === 'forced' ? 'forced_open' : seen.status
  const held = !over && seen.because === 'held'
  const timed = !over && !held && shown !== 'half_open'
  return { circuit, downstream, shown, ...(timed && { until }), ...(held && { held }) }
}

const stepsByAgent = new WeakMap<GraphIndex, ReadonlyMap<string, string[]>>()

/** Steps that an agent does, by its SPIFFE id. */
function agentSteps(index: GraphIndex): ReadonlyMap<string, string[]> {
  const known = stepsByAgent.get(index)
  if (known) return known
  const steps = new Map<string, string[]>()
  for (const { id, kind, config } of index.graph.nodes) {
    if (kind !== 'agent' || typeof config.agent !== 'string') continue
    const of = steps.get(config.agent)
    if (of) of.push(id)
    else steps.set(config.agent, [id])
  }
  stepsByAgent.set(index, steps)
  return steps
}
