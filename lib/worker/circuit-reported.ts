import type { RunId } from '@/lib/base/ids'
import type { ReportedCircuit } from '@/lib/engine/circuit-ports'
import { reportedCircuitName } from '@/lib/engine/evolve-reported'
import type { Fact } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { circuitId } from './circuit-entry'

/** Breakers of agents that these tokens tell of, as the fold has them now; undefined where there are none. */
export function reportedCircuits(
  runId: RunId,
  run: Run,
  facts: readonly Fact[],
  heardAt: number,
): ReportedCircuit[] | undefined {
  const told = new Map<string, ReportedCircuit>()
  for (const fact of facts) {
    if (fact.type !== 'reported' || fact.downstream === undefined) continue
    const seen = run.circuits.get(reportedCircuitName(fact.agent, fact.downstream))
    if (seen?.jti !== fact.jti || seen.status === 'half_open') continue
    const { caller, downstream, status, errorRate, cooldownS, until, at, jti } = seen
    const id = circuitId(caller, downstream)
    told.set(id, { id, caller, downstream, status, errorRate, cooldownS, until, at, heardAt, runId, jti })
  }
  return told.size > 0 ? [...told.values()] : undefined
}
