import { due } from './due'
import { flaggedAfterEnd } from './flagged'
import type { ApprovalProjection, RunProjection } from './ports'
import { heldBy } from './rollback-question'
import type { Approval, Run } from './run'

/** The run's row in lists: a fold of the ledger, written with it. */
export function projectionOf(run: Run, now: number): RunProjection {
  const count = (status: Parameters<Run['counts']['get']>[0]) => run.counts.get(status) ?? 0
  const ended = run.state.status === 'ended' ? run.state : undefined
  return {
    status: shownStatus(run),
    terminal: ended?.terminal,
    stopped: stoppedBy(run),
    startedAt: run.start?.at ?? now,
    endedAt: ended?.at,
    updatedAt: run.lastAt,
    nodeCount: run.graph.order.length,
    doneCount: count('done'),
    failedCount: count('failed'),
    escalatedCount: count('escalated'),
    openApprovals: run.openApprovals.size,
    dueAt: due(run, now).nextAt,
    ...waiting(run),
  }
}

function stoppedBy(run: Run): RunProjection['stopped'] {
  if (run.state.status !== 'ended') return undefined
  if (run.state.exhausted) return 'exhausted'
  if (run.state.cancelled) return 'cancelled'
  return flaggedAfterEnd(run) && 'flagged'
}

/** The circuits that its steps wait behind. */
function waiting(run: Run): Pick<RunProjection, 'waitsOn'> {
  if (!run.counts.get('waiting')) return {}
  const circuits = new Set<string>()
  for (const node of run.active) {
    const state = run.visits.get(node)?.state
    if (state?.status === 'waiting' && state.for === 'breaker') circuits.add(state.circuit)
  }
  return circuits.size > 0 ? { waitsOn: [...circuits].sort() } : {}
}

/** `waiting`: nothing moves in it, or in its rollback, until somebody outside acts. */
export function shownStatus(run: Run): RunProjection['status'] {
  const { status } = run.state
  if (status === 'new') return 'running'
  if (status === 'rolling_back') return heldBy(run) ? 'waiting' : 'rolling_back'
  if (status !== 'running') return status
  const moving = isMoving(run) || run.ready.size > 0
  return !moving && (run.openApprovals.size > 0 || run.active.size > 0) ? 'waiting' : 'running'
}

/** Something is at work and does not wait for a person in a run below it, or was approved and is about to begin. */
function isMoving(run: Run): boolean {
  for (const node of run.active) {
    const state = run.visits.get(node)?.state
    if (state?.status === 'approved') return true
    if (state?.status === 'running' && state.heldSince === undefined) return true
  }
  return false
}

/** An approval's row in the inbox. */
export function approvalProjectionOf(approval: Approval): ApprovalProjection {
  const { state } = approval
  return {
    id: approval.id,
    node: approval.node,
    visit: approval.visit,
    kind: approval.kind,
    role: approval.role,
    sentence: approval.sentence,
    consequence: approval.consequence,
    action: approval.action,
    askedAt: approval.askedAt,
    deadlineAt: approval.deadlineAt ?? null,
    state: state.status,
    verdict: state.status === 'decided' ? state.verdict : undefined,
    by: state.status === 'decided' ? state.by : undefined,
    decidedAt: state.status === 'open' ? undefined : state.at,
  }
}
