/*
 * Breakers, cascades and signals, as a run records them. The circuit itself is shared by all runs and keeps a chain of
 * tokens of its own (lib/worker/circuits); what stands here is what it meant for this run.
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import type { At, Command } from './commands'
import { askPerson, currentVisit, dueVisit, latestOf, nodeOf, runningVisit } from './decide-steps'
import { type Draft, parentsOfStep } from './draft'
import type { ErrorType } from './facts'
import { movedOn } from './refusal'
import { nextAttempt } from './retry'
import type { Run, Visit } from './run'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

/**
 * A breaker refused the step's call. It waits and asks again; or fails; or, where it is not critical, is done without
 * (cascade section 4.4), as its author says.
 */
export function decideRejected(run: Run, wish: Wish<'rejected'>, draft: Draft): void {
  const { node, refusal } = wish
  const begun = wish.attempt !== undefined
  const visit = begun
    ? runningVisit(run, node, wish.visit, wish.attempt ?? 0)
    : dueVisit(run, node, wish.visit)
  const attempt = wish.attempt ?? nextAttempt(visit)
  const { circuit, caller, downstream, because, errorRate, windowS, cooldownS, retryAt, change } = refusal
  const rejected = draft.add(
    {
      type: 'call_rejected',
      node,
      visit: visit.visit,
      attempt,
      circuit,
      caller,
      downstream,
      because,
      errorRate,
      windowS,
      cooldownS,
      retryAt,
      change,
    },
    begun ? [latestOf(visit)] : parentsOfStep(run, visit),
  )
  const whenOpen = nodeOf(run, node).whenOpen ?? 'wait'
  if (whenOpen === 'wait' && run.state.status !== 'cancelling') return
  const error = {
    node,
    visit: visit.visit,
    attempt,
    code: 'circuit_open',
    description: `Calls to ${clip(downstream, 300)} are held off by a breaker`,
    upstream: [change],
  }
  const severity = whenOpen === 'degrade' ? 'warning' : 'error'
  const jti = draft.add({ type: 'error', severity, errorType: 'upstream_cascade', ...error }, [rejected])
  if (whenOpen !== 'degrade') return
  const output = draft.keep({ degraded: true, reason: error.description })
  // In a walk the label picks the edge; elsewhere it says for everybody to see that it was done without.
  const label = run.walk ? undefined : 'degraded'
  draft.add({ type: 'task_complete', node, visit: visit.visit, attempt, output, label }, [jti])
}

/** A call of the step opened, probed or closed a circuit. */
export function decideCircuitChanged(run: Run, wish: Wish<'circuit_changed'>, draft: Draft): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  const { to, ...change } = wish.change
  const type = to === 'open' ? 'circuit_open' : to === 'half_open' ? 'circuit_probe' : 'circuit_close'
  const { node, attempt } = wish
  draft.add({ type, node, visit: visit.visit, attempt, ...change }, lastOf(run, visit))
}

/** Steps that wait behind the circuit ask again at once. */
export function decideRelease(run: Run, wish: Wish<'release'>, draft: Draft): void {
  const { circuit, downstream, by } = wish
  for (const node of run.active) {
    const visit = run.visits.get(node) as Visit
    const { state } = visit
    if (state.status !== 'waiting' || state.for !== 'breaker' || state.circuit !== circuit) continue
    draft.add(
      { type: 'circuit_released', node, visit: visit.visit, circuit, downstream, by },
      lastOf(run, visit),
    )
  }
  if (draft.decision.facts.length > 0) return
  throw new Problem('run_moved_on', `Nothing in this run waits behind ${clip(downstream, 200)} any more`)
}

export function decideWarn(run: Run, wish: Wish<'warn'>, draft: Draft): void {
  const { node, attempt, errorType, code, description } = wish
  const visit = currentVisit(run, node, wish.visit)
  addWarning(run, visit, { attempt, errorType, code, description }, draft)
}

function addWarning(
  run: Run,
  visit: Visit,
  said: { attempt: number; errorType: ErrorType; code: string; description: string },
  draft: Draft,
): string {
  return draft.add(
    {
      type: 'error',
      node: visit.node,
      visit: visit.visit,
      severity: 'warning',
      upstream: [],
      ...said,
      code: clip(said.code, 60),
      description: clip(said.description, 1000),
    },
    lastOf(run, visit),
  )
}

/** A question the engine itself has. Of one kind about one visit there is at most one open. */
export function decideAskAbout(run: Run, wish: Wish<'ask_about'>, draft: Draft, at: At): void {
  // An agent may tell of an error when all is over, and somebody has to hear of it.
  const isHeard = wish.kind === 'agent_error' || wish.afterEnd
  if (run.state.status === 'ended' && !isHeard) throw movedOn(run, 'asked about')
  const visit = currentVisit(run, wish.node, wish.visit)
  const asked = [...run.openApprovals].map((id) => run.approvals.get(id))
  if (asked.some((open) => open?.node === wish.node && open.kind === wish.kind)) {
    throw new Problem('run_moved_on', `People are asked about ${wish.node} already`)
  }
  const node = nodeOf(run, wish.node)
  askPerson(
    {
      visit,
      node: { ...node, approval: { role: wish.role, reason: wish.reason, onSilence: 'hold' } },
      kind: wish.kind,
      action: {
        hash: draft.keep({ sentence: wish.sentence }),
        consequence: 'read_only',
        target: '',
        sentence: '',
        reads: [],
      },
      sentence: wish.sentence,
      reason: wish.reason,
      par: wish.par.length > 0 ? wish.par : lastOf(run, visit),
    },
    draft,
    at,
  )
}

export function decideCascade(run: Run, wish: Wish<'cascade'>, draft: Draft): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  const { type: _type, par, ...seen } = wish
  const said = run.cascades.findLast(({ pattern, node }) => pattern === wish.pattern && node === wish.node)
  if (said && said.affectedAgents >= wish.affectedAgents) {
    throw new Problem('run_moved_on', `The ledger says already that ${wish.node} is where this comes from`)
  }
  draft.add(
    { type: 'cascade_detected', ...seen, visit: visit.visit, description: clip(wish.description, 800) },
    par.length > 0 ? par : lastOf(run, visit),
  )
}

/** What a finished step gave is wrong, a person says: it counts as failed from here on, also when the run has ended. */
export function decideFlag(run: Run, wish: Wish<'flag'>, draft: Draft): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  if (visit.state.status !== 'done' || visit.doneJti === undefined) {
    throw new Problem(
      'run_moved_on',
      `${wish.node} is ${visit.state.status}; only what a finished step gave can be called wrong`,
    )
  }
  if (run.state.status === 'rolling_back') throw movedOn(run, 'judged')
  draft.add(
    {
      type: 'error',
      node: visit.node,
      visit: visit.visit,
      attempt: Math.max(1, visit.attempt),
      severity: 'error',
      errorType: 'constraint_violation',
      code: 'semantic_failure',
      description: clip(`${wish.by} finds that this is wrong: ${wish.reason}`, 1000),
      ...(visit.checkpoint !== undefined && { checkpointId: visit.checkpoint }),
      upstream: [],
    },
    [visit.doneJti],
  )
}

/** An agent told of an error (AERR section 5). It names a checkpoint of this run, or is refused. */
export function decideSignal(run: Run, wish: Wish<'signal'>, draft: Draft): void {
  if (run.signals.has(wish.errorId)) throw new Problem('run_moved_on', 'This error was told of already')
  const checkpoint = run.checkpoints.get(wish.checkpointId)
  if (!checkpoint) {
    throw new Problem(
      'rollback_outside_run',
      `The signal names the checkpoint ${wish.checkpointId.slice(0, 60)}, which is none of this run`,
    )
  }
  const { type: _type, ...signal } = wish
  draft.add(
    {
      type: 'signal_received',
      ...signal,
      node: checkpoint.node,
      visit: checkpoint.visit,
      description: clip(wish.description, 800),
      upstream: wish.upstream.slice(0, 20).map((id) => id.slice(0, 100)),
    },
    [checkpoint.jti],
  )
}

/** The sealed states were destroyed; said once for each (cascade section 9.3). */
export function decidePurged(run: Run, wish: Wish<'purged'>, draft: Draft): void {
  for (const checkpointId of wish.checkpoints) {
    const checkpoint = run.checkpoints.get(checkpointId)
    if (!checkpoint || checkpoint.purged) continue
    const { node, visit } = checkpoint
    draft.add({ type: 'checkpoint_purged', node, visit, checkpointId }, [checkpointId])
  }
  if (draft.decision.facts.length === 0) {
    throw new Problem('run_moved_on', 'The ledger says already that these checkpoints are gone')
  }
}

/** What a word about a visit follows: its latest token, or what it would begin from. */
function lastOf(run: Run, visit: Visit): string[] {
  if (visit.state.status === 'running') return [latestOf(visit)]
  const latest = visit.doneJti ?? visit.lastJti ?? visit.checkpoint ?? visit.taskJti
  return latest === undefined ? parentsOfStep(run, visit) : [latest]
}
