/** Breakers and cascades in the fold: what a run's own calls met, and which of its steps wait behind a circuit. */
import type { CircuitStatus } from '@/lib/breaker/terms'
import type { FactOf } from './facts'
import type { Run, SeenCircuit } from './run'
import { setState, visitOf } from './visit-states'

type CircuitFact = FactOf<
  'circuit_open' | 'circuit_probe' | 'circuit_close' | 'call_rejected' | 'circuit_released'
>

const becomes: Record<'circuit_open' | 'circuit_probe' | 'circuit_close', CircuitStatus> = {
  circuit_open: 'open',
  circuit_probe: 'half_open',
  circuit_close: 'closed',
}

export function evolveCircuit(run: Run, fact: CircuitFact): void {
  switch (fact.type) {
    case 'circuit_open':
    case 'circuit_probe':
    case 'circuit_close': {
      const { circuit, caller, downstream, errorRate, until, cooldownS, reopened, node, jti, at } = fact
      const status = becomes[fact.type]
      see(run, node, { circuit, caller, downstream, status, errorRate, until, cooldownS, reopened, jti, at })
      return
    }
    case 'call_rejected':
      return evolveRejected(run, fact)
    case 'circuit_released': {
      passes(run, fact)
      const visit = visitOf(run, fact.node, fact.visit)
      const state = visit?.state
      if (!visit || state?.status !== 'waiting' || state.for !== 'breaker') return
      visit.lastJti = fact.jti
      setState(run, visit, { ...state, until: fact.at })
      return
    }
  }
}

/** What is remembered is replaced, never written into: copies of the run share it. */
function see(run: Run, node: string, seen: Omit<SeenCircuit, 'nodes'>): void {
  const before = run.circuits.get(seen.circuit)?.nodes ?? []
  const nodes = before.includes(node) ? before : [...before, node]
  run.circuits.set(seen.circuit, { ...seen, nodes })
}

/** Calls may go again, as far as this run knows; if not, the next one says so. */
function passes(run: Run, { circuit, jti, at }: FactOf<'circuit_released'>): void {
  const known = run.circuits.get(circuit)
  if (!known) return
  const { because: _because, ...rest } = known
  run.circuits.set(circuit, { ...rest, status: 'closed', until: at, jti, at })
}

/** The attempt, where one had begun, is over without having done anything: the step stands at the breaker. */
function evolveRejected(run: Run, fact: FactOf<'call_rejected'>): void {
  const { circuit, caller, downstream, errorRate, cooldownS, retryAt, jti, at } = fact
  const known = run.circuits.get(circuit)
  see(run, fact.node, {
    circuit,
    caller,
    downstream,
    because: fact.because,
    status: fact.because === 'probing' ? 'half_open' : 'open',
    errorRate,
    until: retryAt,
    cooldownS,
    reopened: known?.reopened ?? 0,
    jti,
    at,
  })
  const visit = visitOf(run, fact.node, fact.visit)
  if (!visit) return
  visit.lastJti = jti
  visit.startedAt ??= at
  if (visit.state.status === 'running') visit.refused = (visit.refused ?? 0) + 1
  const since = visit.state.status === 'waiting' && visit.state.for === 'breaker' ? visit.state.since : at
  setState(run, visit, { status: 'waiting', for: 'breaker', since, circuit, downstream, until: retryAt })
}
