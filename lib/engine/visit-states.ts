/*
 * The states of visits, and what follows from a change of them: who is ready, who is at work, how many there are of
 * each. Every change of a visit's state goes through `setState`, so that the sets and counts are never behind.
 */
import type { Approval, Run, Visit, VisitState } from './run'

/**
 * Closes the questions of these nodes and puts those that had not begun back to pending. What runs goes on. A step
 * whose outcome is unknown never becomes pending again by itself: it stays with people.
 */
export function standDown(run: Run, nodes: string[], at: number): void {
  const inScope = new Set(nodes)
  const unknown = new Set(nodes.filter((node) => isUnknown(run, (run.visits.get(node) as Visit).state)))
  voidApprovals(run, (approval) => inScope.has(approval.node), at)
  for (const node of nodes) {
    const visit = run.visits.get(node)
    if (visit?.state.status !== 'waiting' && visit?.state.status !== 'approved') continue
    if (!unknown.has(node)) visit.approved = undefined
    setState(run, visit, unknown.has(node) ? { status: 'escalated', since: at } : { status: 'pending' })
  }
}

/** True while a person is asked whether an effect happened. */
export function isUnknown(run: Run, state: VisitState): boolean {
  if (state.status !== 'waiting' || state.for !== 'person') return false
  return run.approvals.get(state.approval)?.kind === 'outcome_unknown'
}

export function voidApprovals(run: Run, which: (approval: Approval) => boolean, at: number): void {
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (!approval || !which(approval)) continue
    approval.state = { status: 'void', at }
    run.openApprovals.delete(id)
  }
}

/** The node's children have one parent less to wait for. */
export function release(run: Run, node: string): void {
  for (const child of run.graph.children.get(node) ?? []) {
    const missing = (run.missing.get(child) ?? 0) - 1
    run.missing.set(child, missing)
    if (missing === 0 && run.visits.get(child)?.state.status === 'pending') run.ready.add(child)
  }
}

export function setState(run: Run, visit: Visit, state: VisitState): void {
  countState(run, visit.state.status, -1)
  countState(run, state.status, 1)
  const wasDone = visit.state.status === 'done'
  visit.state = state
  const current = run.visits.get(visit.node) === visit
  if (!current) return
  const isActive = state.status === 'running' || state.status === 'waiting' || state.status === 'approved'
  if (isActive) run.active.add(visit.node)
  else run.active.delete(visit.node)
  if (state.status === 'pending' && run.missing.get(visit.node) === 0) run.ready.add(visit.node)
  else run.ready.delete(visit.node)
  if (wasDone && !run.walk) withhold(run, visit.node)
}

/** The reverse of `release`: a done node is no longer done. */
function withhold(run: Run, node: string): void {
  for (const child of run.graph.children.get(node) ?? []) {
    run.missing.set(child, (run.missing.get(child) ?? 0) + 1)
    run.ready.delete(child)
  }
}

export function countState(run: Run, status: VisitState['status'], by: number): void {
  run.counts.set(status, (run.counts.get(status) ?? 0) + by)
}

/** The node's current visit, if it is that one. */
export function visitOf(run: Run, node: string, visit: number): Visit | undefined {
  const current = run.visits.get(node)
  return current?.visit === visit ? current : undefined
}

/** That visit of the node, current or past. */
export function anyVisitOf(run: Run, node: string, visit: number): Visit | undefined {
  return visitOf(run, node, visit) ?? run.past.get(node)?.find((past) => past.visit === visit)
}

/** Puts a new, pending visit in the place of the node's current one, which becomes a past one. */
export function visitAnew(run: Run, node: string): Visit {
  const old = run.visits.get(node) as Visit
  const visit: Visit = { node, visit: old.visit + 1, attempt: 0, state: { status: 'pending' }, reads: [] }
  const past = run.past.get(node)
  if (past) past.push(old)
  else run.past.set(node, [old])
  countState(run, old.state.status, -1)
  countState(run, 'pending', 1)
  run.active.delete(node)
  run.visits.set(node, visit)
  return visit
}
