/*
 * The fold: what a run is, after one more fact. One fold is shared by server, tests and browser.
 *
 * Deterministic and without clock, chance or I/O. It changes the run it is given in place and returns it (see run.ts
 * for why), and it believes its facts: what may follow what is decided in decide.ts, before a fact is signed.
 */
import type { Priority } from '@/lib/workflow/graph'
import { type GraphIndex, withDescendants } from '@/lib/workflow/graph-index'
import type { Actor, Fact, FactOf } from './facts'
import type { Approval, Rollback, Run, RunStatus, Visit, VisitError, VisitState } from './run'

/** A run before its first token: every node pending in visit 1. */
export function newRun(graph: GraphIndex): Run {
  const visits = new Map<string, Visit>()
  const missing = new Map<string, number>()
  const ready = new Set<string>()
  for (const id of graph.order) {
    const parents = graph.parents.get(id)?.length ?? 0
    visits.set(id, { node: id, visit: 1, attempt: 0, state: { status: 'pending' }, reads: [] })
    missing.set(id, parents)
    if (parents === 0) ready.add(id)
  }
  return {
    graph,
    seq: 0,
    lastAt: 0,
    state: { status: 'new' },
    visits,
    past: new Map(),
    ready,
    active: new Set(),
    missing,
    counts: new Map([['pending', visits.size]]),
    approvals: new Map(),
    openApprovals: new Set(),
    checkpoints: new Map(),
    claimants: new Map(),
    rollbacks: new Map(),
  }
}

/** Folds one fact into the run and returns the same run. */
export function evolve(run: Run, fact: Fact): Run {
  run.seq += 1
  run.lastAt = fact.at
  run.lastJti = fact.jti
  switch (fact.type) {
    case 'workflow_start':
      run.start = fact
      run.state = { status: 'running' }
      break
    case 'workflow_complete':
      run.state = {
        status: 'ended',
        terminal: fact.terminalStatus,
        at: fact.at,
        elapsedS: fact.elapsedS,
        reason: fact.reason,
        cancelled: cancellationOf(run.state),
      }
      // Whoever is still waited for is not waited for any more; what people only take note of stays open.
      standDown(run, [...run.active], fact.at)
      run.takeBack = undefined
      break
    case 'join':
      break
    case 'task_offered':
    case 'task_start':
    case 'task_heartbeat':
    case 'claim_lapsed':
    case 'checkpoint':
    case 'task_complete':
    case 'error':
      evolveStep(run, fact)
      break
    case 'approval_asked':
    case 'approval_decided':
    case 'approval_commented':
      evolveApproval(run, fact)
      break
    case 'run_paused':
      run.state = { status: 'paused', by: fact.by, reason: fact.reason, since: fact.at }
      break
    case 'run_resumed':
      run.state = { status: 'running' }
      break
    case 'cancel_asked':
      run.state = { status: 'cancelling', by: fact.by, reason: fact.reason }
      standDown(run, [...run.active], fact.at)
      break
    case 'rollback_request':
    case 'rollback_act':
    case 'rollback_act_result':
    case 'rollback_result':
    case 'rollback_choice':
      evolveRollback(run, fact)
      break
    default:
      fact satisfies never
  }
  return run
}

/**
 * Whose wish an end is. The ledger says it already, in the token that asked for it. When the engine itself stops a run
 * that is out of its time, nobody wished for that: it failed.
 */
function cancellationOf(state: RunStatus): { by: Actor; reason: string } | undefined {
  if (state.status !== 'cancelling' || state.by === 'engine') return undefined
  return { by: state.by, reason: state.reason }
}

type StepFact = FactOf<
  'task_offered' | 'task_start' | 'task_heartbeat' | 'claim_lapsed' | 'checkpoint' | 'task_complete' | 'error'
>

function evolveStep(run: Run, fact: StepFact): void {
  const visit = visitOf(run, fact.node, fact.visit)
  if (!visit) return
  switch (fact.type) {
    case 'task_offered':
      visit.offer = fact
      visit.lastJti = fact.jti
      visit.action = fact.action
      visit.reads = fact.reads
      visit.consequence = fact.consequence
      return setState(run, visit, { status: 'waiting', for: 'agent', since: fact.at })
    case 'task_start':
      return evolveStart(run, visit, fact)
    case 'task_heartbeat':
      if (visit.state.status === 'running') visit.state.claimUntil = claimedUntil(fact, visit.state.timeoutAt)
      return
    case 'claim_lapsed':
      visit.lastJti = fact.jti
      return setState(run, visit, { status: 'waiting', for: 'agent', since: fact.at })
    case 'checkpoint': {
      const { jti, node, at, snapshot, reversible, rollbackUri, target, description, ttlS, undo } = fact
      run.checkpoints.set(jti, {
        jti,
        node,
        visit: fact.visit,
        at,
        snapshot,
        reversible,
        rollbackUri,
        target,
        description,
        ttlS,
        undo,
      })
      visit.checkpoint = fact.jti
      visit.firstCheckpoint ??= fact.jti
      return
    }
    case 'task_complete': {
      visit.doneJti = fact.jti
      const tookMs = fact.at - (visit.startedAt ?? fact.at)
      setState(run, visit, { status: 'done', output: fact.output, label: fact.label, since: fact.at, tookMs })
      return release(run, visit.node)
    }
    case 'error':
      return evolveError(run, visit, fact)
  }
}

function evolveStart(run: Run, visit: Visit, fact: FactOf<'task_start'>): void {
  visit.attempt = fact.attempt
  visit.action = fact.action
  visit.reads = fact.reads
  visit.consequence = fact.consequence
  visit.taskJti = fact.jti
  visit.checkpoint = undefined
  visit.startedAt ??= fact.at
  if (fact.agent !== undefined) {
    run.claimants.set(visit.node, (run.claimants.get(visit.node) ?? new Set()).add(fact.agent))
  }
  setState(run, visit, {
    status: 'running',
    attempt: fact.attempt,
    since: fact.at,
    agent: fact.agent,
    claimUntil: claimedUntil(fact, fact.timeoutAt),
    timeoutAt: fact.timeoutAt,
  })
}

/** Heartbeats hold a claim, but never past the step's own time. */
function claimedUntil(fact: { at: number; claimS?: number }, timeoutAt = Number.POSITIVE_INFINITY) {
  return fact.claimS === undefined ? undefined : Math.min(fact.at + fact.claimS * 1000, timeoutAt)
}

/** NOTES 3.3: `info` and `warning` fail nothing. A warning with `retryAt` says that the attempt is over and another is due. */
function evolveError(run: Run, visit: Visit, fact: FactOf<'error'>): void {
  const error: VisitError = {
    jti: fact.jti,
    severity: fact.severity,
    errorType: fact.errorType,
    code: fact.code,
    description: fact.description,
  }
  if (fact.severity === 'info' || fact.severity === 'warning') {
    if (fact.retryAt === undefined) return
    visit.lastJti = fact.jti
    visit.attempt = fact.attempt
    setState(run, visit, { status: 'waiting', for: 'retry', until: fact.retryAt, error })
    return
  }
  visit.lastJti = fact.jti
  setState(run, visit, {
    status: 'failed',
    error,
    since: fact.at,
    tookMs: fact.at - (visit.startedAt ?? fact.at),
  })
}

function evolveApproval(
  run: Run,
  fact: FactOf<'approval_asked' | 'approval_decided' | 'approval_commented'>,
): void {
  if (fact.type === 'approval_asked') return evolveAsked(run, fact)
  const approval = run.approvals.get(fact.approval)
  if (!approval) return
  if (fact.type === 'approval_commented') {
    approval.comments.push({ by: fact.by, at: fact.at, comment: fact.comment })
    return
  }
  approval.state = {
    status: 'decided',
    verdict: fact.verdict,
    by: fact.by,
    at: fact.at,
    comment: fact.comment,
    edited: fact.edited,
    jti: fact.jti,
  }
  run.openApprovals.delete(approval.id)
  const visit = visitOf(run, approval.node, approval.visit)
  if (!visit) return
  visit.lastJti = fact.jti
  const unanswered = fact.by === 'silence' && fact.verdict === 'refuse'
  if (unanswered && approval.onSilence === 'rollback') run.takeBack = approval.id
  if (approval.kind === 'approval' && fact.verdict === 'approve') {
    const action = fact.edited ?? fact.action
    visit.approved = action
    setState(run, visit, { status: 'approved', approval: approval.id, action, by: fact.by })
  }
}

function evolveAsked(run: Run, fact: FactOf<'approval_asked'>): void {
  // A question handed on to another role replaces the one it came from.
  voidApprovals(run, (asked) => asked.node === fact.node && asked.kind === fact.kind, fact.at)
  const approval: Approval = {
    id: fact.approval,
    kind: fact.kind,
    node: fact.node,
    visit: fact.visit,
    role: fact.role,
    reason: fact.reason,
    sentence: fact.sentence,
    action: fact.action,
    preview: fact.preview,
    reads: fact.reads,
    consequence: fact.consequence,
    target: fact.target,
    askedAt: fact.at,
    askedJti: fact.jti,
    deadlineAt: fact.deadlineAt,
    onSilence: fact.onSilence,
    comments: [],
    state: { status: 'open' },
  }
  run.approvals.set(approval.id, approval)
  run.openApprovals.add(approval.id)
  const visit = visitOf(run, fact.node, fact.visit)
  if (!visit) return
  if (fact.kind === 'approval' || fact.kind === 'outcome_unknown') {
    visit.action = fact.action
    visit.reads = fact.reads
    visit.consequence = fact.consequence
    visit.lastJti = fact.jti
    setState(run, visit, { status: 'waiting', for: 'person', approval: approval.id, since: fact.at })
  } else if (fact.kind !== 'rollback_failed') {
    const error = visit.state.status === 'failed' ? visit.state.error : undefined
    setState(run, visit, { status: 'escalated', error, approval: approval.id, since: fact.at })
  }
}

function evolveRollback(
  run: Run,
  fact: FactOf<
    'rollback_request' | 'rollback_act' | 'rollback_act_result' | 'rollback_result' | 'rollback_choice'
  >,
): void {
  if (fact.type === 'rollback_request') return evolveRequest(run, fact)
  const rollback = run.rollbacks.get(fact.rollback)
  if (!rollback) return
  switch (fact.type) {
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
      run.state = { status: 'rolled_back', rollback: rollback.id }
      if (fact.status === 'completed') resetCovered(run, rollback, fact.at)
      return
    case 'rollback_choice':
      rollback.choice = fact.choice
      voidApprovals(run, (approval) => approval.kind === 'rollback_failed', fact.at)
      if (fact.choice === 'go_on') goOn(run, rollback, fact.at)
      return
  }
}

function evolveRequest(run: Run, fact: FactOf<'rollback_request'>): void {
  run.rollbacks.set(fact.rollback, {
    id: fact.rollback,
    scope: fact.scope,
    node: fact.node,
    by: fact.by,
    reason: fact.reason,
    plan: fact.plan,
    requestJti: fact.jti,
    askedAt: fact.at,
    deadlineAt: fact.deadlineAt,
    acts: new Map(),
  })
  run.state = { status: 'rolling_back', rollback: fact.rollback }
  run.takeBack = undefined
  const inScope = nodesInScope(run, fact)
  const reached = new Set(inScope)
  // What waits behind it waits on something that will no longer be so: it is asked or tried anew, if the run goes on.
  const behind = withDescendants(run.graph, fact.node).filter(
    (node) => !reached.has(node) && !isUnknown(run, (run.visits.get(node) as Visit).state),
  )
  standDown(run, [...inScope, ...behind], fact.at)
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
  })
  if (checkpoint) {
    const begun = act !== undefined || checkpoint.undone?.begun === true
    checkpoint.undone = { rollback: rollback.id, status: fact.status, begun }
  }
  const visit = visitOf(run, fact.node, fact.visit)
  if (visit && fact.status === 'completed') {
    setState(run, visit, { status: 'rolled_back', rollback: rollback.id, since: fact.at })
  }
}

/**
 * What a completed rollback covers and had nothing to undo is taken back with the rest: a step that only reads, or one
 * that failed before it could have an effect. No act of its own says so, because there was nothing to act on.
 */
function resetCovered(run: Run, rollback: Rollback, at: number): void {
  for (const node of nodesInScope(run, rollback)) {
    const visit = run.visits.get(node) as Visit
    const over = visit.state.status === 'done' || visit.state.status === 'failed'
    if (!over || visit.firstCheckpoint !== undefined) continue
    setState(run, visit, { status: 'rolled_back', rollback: rollback.id, since: at })
  }
}

/** The nodes a rollback reaches, in topological order. */
export function nodesInScope(run: Run, rollback: Pick<Rollback, 'scope' | 'node'>): string[] {
  switch (rollback.scope) {
    case 'single':
      return run.visits.has(rollback.node) ? [rollback.node] : []
    case 'sub_dag':
      return withDescendants(run.graph, rollback.node)
    case 'full_workflow':
      return [...run.graph.order]
    default:
      return rollback.scope satisfies never
  }
}

/*
 * Going on from the checkpoint: what was in scope is visited anew. So is what stands behind it and is not done: it
 * failed, or waits, on something that is no longer so. What is at work there, or may have taken effect, is left to end.
 * And so is what earlier rollbacks took back, or stopped between two attempts, and nobody went on from.
 */
function goOn(run: Run, rollback: Rollback, at: number): void {
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
    run.past.set(node, [...(run.past.get(node) ?? []), old])
    countState(run, old.state.status, -1)
    countState(run, 'pending', 1)
    run.active.delete(node)
    run.visits.set(node, { node, visit: old.visit + 1, attempt: 0, state: { status: 'pending' }, reads: [] })
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

/**
 * Closes the questions of these nodes and puts those that had not begun back to pending. What runs goes on. A step
 * whose outcome is unknown never becomes pending again by itself: it stays with people.
 */
function standDown(run: Run, nodes: string[], at: number): void {
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
function isUnknown(run: Run, state: VisitState): boolean {
  if (state.status !== 'waiting' || state.for !== 'person') return false
  return run.approvals.get(state.approval)?.kind === 'outcome_unknown'
}

function voidApprovals(run: Run, which: (approval: Approval) => boolean, at: number): void {
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (!approval || !which(approval)) continue
    approval.state = { status: 'void', at }
    run.openApprovals.delete(id)
  }
}

/** The node's children have one parent less to wait for. */
function release(run: Run, node: string): void {
  for (const child of run.graph.children.get(node) ?? []) {
    const missing = (run.missing.get(child) ?? 0) - 1
    run.missing.set(child, missing)
    if (missing === 0 && run.visits.get(child)?.state.status === 'pending') run.ready.add(child)
  }
}

function setState(run: Run, visit: Visit, state: VisitState): void {
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
  if (wasDone) withhold(run, visit.node)
}

/** The reverse of `release`: a done node is no longer done. */
function withhold(run: Run, node: string): void {
  for (const child of run.graph.children.get(node) ?? []) {
    run.missing.set(child, (run.missing.get(child) ?? 0) + 1)
    run.ready.delete(child)
  }
}

function countState(run: Run, status: VisitState['status'], by: number): void {
  run.counts.set(status, (run.counts.get(status) ?? 0) + by)
}

/** The node's current visit, if it is that one. */
function visitOf(run: Run, node: string, visit: number): Visit | undefined {
  const current = run.visits.get(node)
  return current?.visit === visit ? current : undefined
}

/** ATD section 8.2: who goes first when not all can. */
export const priorityRank: Record<Priority, number> = { critical: 0, high: 1, normal: 2, low: 3 }
