/** Rollbacks in the fold: what each of their tokens makes of the run. What is allowed is decided in decide-rollback.ts. */
import { setsBack } from '@/lib/rollback/outcome'
import { dependentsOf } from '@/lib/rollback/scope'
import { withDescendants } from '@/lib/workflow/graph-index'
import type { FactOf } from './facts'
import { errorsFollowed } from './follow-error'
import type { Approval, Rollback, Run, RunStatus, Visit } from './run'
import { readsOf, undoableCheckpoints } from './undoable'
import { anyVisitOf, isUnknown, setState, standDown, visitAnew, voidApprovals } from './visit-states'
import { resumesAt, retreat, walkedFrom } from './walk'

export function evolveRollback(
  run: Run,
  fact: FactOf<
    | 'rollback_request'
    | 'rollback_vote'
    | 'rollback_decided'
    | 'rollback_act'
    | 'rollback_act_result'
    | 'rollback_result'
    | 'rollback_choice'
  >,
): void {
  if (fact.type === 'rollback_request') return evolveRequest(run, fact)
  const rollback = run.rollbacks.get(fact.rollback)
  if (!rollback) return
  switch (fact.type) {
    case 'rollback_vote': {
      const { type: _type, par: _par, rollback: _rollback, ...vote } = fact
      rollback.votes.set(fact.checkpointId, vote)
      return
    }
    case 'rollback_decided': {
      const { decision, without, withoutCount, by, reason, jti, at } = fact
      rollback.decided = { decision, without, withoutCount, by, reason, jti, at }
      voidApprovals(run, isRollbackQuestion, at)
      return
    }
    case 'rollback_act':
      rollback.acts.set(fact.checkpointId, {
        node: fact.node,
        undo: fact.undo,
        jti: fact.jti,
        description: '',
      })
      return
    case 'rollback_act_result':
      return evolveActResult(run, rollback, fact)
    case 'rollback_result':
      rollback.status = fact.status
      rollback.resultJti = fact.jti
      run.state = calledOff(rollback) ?? { status: 'rolled_back', rollback: rollback.id }
      if (setsBack(fact.status, rollback.decided?.decision)) resetCovered(run, rollback, fact.at)
      return
    case 'rollback_choice':
      rollback.choice = fact.choice
      voidApprovals(run, (approval) => approval.kind === 'rollback_failed', fact.at)
      if (fact.choice === 'go_on') goOn(run, rollback, fact.at)
      return
  }
}

/** What a run was before a rollback that a person called off before anything was taken back: it is that again. */
function calledOff({ decided, acts, before }: Rollback): RunStatus | undefined {
  const isUntouched = [...acts.values()].every(({ status }) => status !== 'completed' && status !== 'partial')
  const isByPerson = decided?.decision === 'abort' && decided.by !== 'engine'
  return isByPerson && isUntouched ? before : undefined
}

/**
 * What a rollback that is called off puts a run back to: its end. One that was under way let go of what waited, so there it
 * is a person's choice how it goes on.
 */
function stateBefore(run: Run, supersedes: Rollback | undefined): RunStatus | undefined {
  if (supersedes) return supersedes.before
  return run.state.status === 'ended' ? run.state : undefined
}

function evolveRequest(run: Run, fact: FactOf<'rollback_request'>): void {
  const narrower = fact.supersedes && run.rollbacks.get(fact.supersedes)
  const before = stateBefore(run, narrower || undefined)
  run.rollbacks.set(fact.rollback, {
    id: fact.rollback,
    ...(before && { before }),
    scope: fact.scope,
    ...(fact.only && { only: fact.only }),
    ...(fact.overwrite && { overwrite: true as const }),
    node: fact.node,
    by: fact.by,
    reason: fact.reason,
    plan: fact.plan,
    requestJti: fact.jti,
    askedAt: fact.at,
    deadlineAt: fact.deadlineAt,
    acts: new Map(),
    votes: new Map(),
    ...(fact.supersedes && { supersedes: fact.supersedes }),
  })
  if (narrower) {
    narrower.supersededBy = fact.rollback
    voidApprovals(run, isRollbackQuestion, fact.at)
  }
  run.state = { status: 'rolling_back', rollback: fact.rollback }
  run.takeBack = undefined
  const inScope = nodesInScope(run, fact)
  const reached = new Set(inScope)
  // What waits behind it waits on something that will no longer be so: it is asked or tried anew, if the run goes on.
  const following = run.walk ? [] : withDescendants(run.graph, fact.node)
  const behind = following.filter(
    (node) => !reached.has(node) && !isUnknown(run, (run.visits.get(node) as Visit).state),
  )
  standDown(run, [...inScope, ...behind], fact.at)
  errorsFollowed(run, reached)
}

function evolveActResult(run: Run, rollback: Rollback, fact: FactOf<'rollback_act_result'>): void {
  const act = rollback.acts.get(fact.checkpointId)
  const checkpoint = run.checkpoints.get(fact.checkpointId)
  const undo = act?.undo ?? checkpoint?.undo ?? 'restore'
  rollback.acts.set(fact.checkpointId, {
    node: fact.node,
    undo,
    jti: act?.jti ?? fact.jti,
    resultJti: fact.jti,
    status: fact.status,
    description: fact.description,
    stateHashBefore: fact.stateHashBefore,
    stateHashAfter: fact.stateHashAfter,
    evidence: fact.evidence,
  })
  if (checkpoint) {
    const begun = act !== undefined || checkpoint.undone?.begun === true
    checkpoint.undone = { rollback: rollback.id, status: fact.status, begun }
  }
  const visit = anyVisitOf(run, fact.node, fact.visit)
  // Of a group each checkpoint is taken back by itself; the step is, once all of them are.
  if (visit && fact.status === 'completed' && undoableCheckpoints(run, visit).length === 0) {
    takenBack(run, visit, rollback, fact.at)
  }
}

function isRollbackQuestion({ kind }: Approval): boolean {
  return kind === 'rollback_unprepared' || kind === 'rollback_critical'
}

/**
 * What a rollback that was carried out covers and had nothing to undo is taken back with the rest: a step that only
 * reads, or one that failed before it could have an effect. No act of its own says so, because there was nothing to act
 * on; and that something else cannot be undone changes nothing about it.
 */
function resetCovered(run: Run, rollback: Rollback, at: number): void {
  for (const visit of visitsInScope(run, rollback)) {
    const { status } = visit.state
    const isReset = status === 'failed' || (status === 'done' && !hadEffect(run, visit))
    if (isReset && visit.firstCheckpoint === undefined) takenBack(run, visit, rollback, at)
  }
}

/** What is done and changed something stays done, unless it is undone itself. */
function hadEffect({ start }: Run, { consequence = 'read_only' }: Visit): boolean {
  return !start?.dryRun && consequence !== 'read_only'
}

/** Past visits of a loop are in no set and no count; they only say what became of them. */
function takenBack(run: Run, visit: Visit, rollback: Rollback, at: number): void {
  const state = { status: 'rolled_back', rollback: rollback.id, since: at } as const
  if (run.visits.get(visit.node) === visit) setState(run, visit, state)
  else visit.state = state
}

/** The nodes a rollback reaches: in topological order, or as the walk came to them. */
export function nodesInScope(run: Run, rollback: Reach): string[] {
  return [...new Set(visitsInScope(run, rollback).map((visit) => visit.node))]
}

/** The visits a rollback reaches: none that was carried over from another run, which did it and alone can take it back. */
export function visitsInScope(run: Run, rollback: Reach): Visit[] {
  const reached = scopeOf(run, rollback)
  const made = rollback.only === 'dependents' ? dependents(run, rollback.node, reached) : reached
  return made.filter((visit) => visit.carriedFrom === undefined)
}

/** What says which visits a rollback reaches. */
export type Reach = Pick<Rollback, 'scope' | 'node' | 'only'>

/** Of the visits of a sub-DAG, in their order, the first one and those made from what it gave. */
function dependents(run: Run, node: string, following: readonly Visit[]): Visit[] {
  if (!run.walk) {
    const read = (visit: Visit) => ({ node: visit.node, reads: readsOf(run, visit) })
    const made = dependentsOf(node, following.map(read))
    return following.filter((visit) => made.has(visit.node))
  }
  // A walk may come to a node again: what a visit read is what was there then.
  const made = new Set<Visit>(following.slice(0, 1))
  const latest = new Map<string, Visit>()
  for (const { visit } of run.walk.path) {
    const used = visit.reads.includes('*') ? [...latest.values()] : visit.reads.map((id) => latest.get(id))
    if (used.some((of) => of !== undefined && made.has(of))) made.add(visit)
    latest.set(visit.node, visit)
  }
  return following.filter((visit) => made.has(visit))
}

/** The visits of a scope. A loop may have come to a node more than once. */
function scopeOf(run: Run, { scope, node }: Pick<Rollback, 'scope' | 'node'>): Visit[] {
  const { walk } = run
  const current = (nodes: readonly string[]) =>
    nodes.map((id) => run.visits.get(id)).filter((visit) => visit !== undefined)
  switch (scope) {
    case 'single':
      return walk ? walkedFrom(walk, node).slice(0, 1) : current([node])
    case 'sub_dag':
      return walk ? walkedFrom(walk, node) : current(withDescendants(run.graph, node))
    case 'full_workflow':
      return walk ? walk.path.map((step) => step.visit) : current(run.graph.order)
    default:
      return scope satisfies never
  }
}

/*
 * Going on from the checkpoint: what was in scope is visited anew. So is what stands behind it and is not done: it
 * failed, or waits, on something that is no longer so. What is at work there, or may have taken effect, is left to end.
 * And so is what earlier rollbacks took back, or stopped between two attempts, and nobody went on from.
 */
function goOn(run: Run, rollback: Rollback, at: number): void {
  if (run.walk) {
    const from = resumesAt(run.walk, rollback)
    const left = from === -1 ? [] : run.walk.path.slice(from).map((step) => step.visit.node)
    standDown(run, [...new Set(left)], at)
    voidApprovals(run, () => true, at)
    retreat(run, run.walk, from)
    run.state = { status: 'running' }
    return
  }
  const again = new Set(nodesInScope(run, rollback))
  for (const node of withDescendants(run.graph, rollback.node)) {
    const { state } = run.visits.get(node) as Visit
    if (state.status !== 'done' && state.status !== 'running' && !isUnknown(run, state)) again.add(node)
  }
  for (const { node, state, attempt } of run.visits.values()) {
    if (state.status === 'rolled_back' || (state.status === 'pending' && attempt > 0)) again.add(node)
  }
  voidApprovals(run, (approval) => again.has(approval.node), at)
  for (const node of again) {
    const old = run.visits.get(node) as Visit
    if (old.state.status === 'pending' && old.attempt === 0) continue
    visitAnew(run, node)
  }
  countMissing(run)
  run.state = { status: 'running' }
}

/** Counts anew, for pending nodes, how many parents are not done. */
function countMissing(run: Run): void {
  run.ready.clear()
  for (const id of run.graph.order) {
    const parents = run.graph.parents.get(id) ?? []
    const missing = parents.filter((parent) => run.visits.get(parent)?.state.status !== 'done').length
    run.missing.set(id, missing)
    if (missing === 0 && run.visits.get(id)?.state.status === 'pending') run.ready.add(id)
  }
}
