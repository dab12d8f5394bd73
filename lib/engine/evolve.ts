/*
 * The fold: what a run is, after one more fact. One fold is shared by server, tests and browser.
 *
 * Deterministic and without clock, chance or I/O. It changes the run it is given in place and returns it (see run.ts
 * for why), and it believes its facts: what may follow what is decided in decide.ts, before a fact is signed.
 */
import type { ApprovalKind } from '@/lib/hitl/terms'
import type { Priority } from '@/lib/workflow/graph'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { growingIndex, grows } from '@/lib/workflow/growing-index'
import { writeArtifact } from './artifacts'
import { evolveCircuit } from './evolve-circuits'
import { closeReported, evolveReported } from './evolve-reported'
import { evolveRollback } from './evolve-rollback'
import type { Actor, ExhaustedLimit, Fact, FactOf } from './facts'
import { errorsFollowed, noteError } from './follow-error'
import { boundOf, countHeld } from './limits'
import { rollbackAnswered } from './rollback-question'
import type { Approval, Run, RunStatus, Visit, VisitError } from './run'
import { release, setState, standDown, visitOf, voidApprovals } from './visit-states'
import { enter, follow, newWalk } from './walk'

/** A run before its first token: every node pending in visit 1. Of a reported run's graph, none. */
export function newRun(graph: GraphIndex): Run {
  const visits = new Map<string, Visit>()
  const missing = new Map<string, number>()
  const ready = new Set<string>()
  const stepwise = graph.graph.order === 'stepwise'
  // What is reported comes with its tokens, into a graph of this run alone.
  const index = graph.graph.reported && !grows(graph) ? growingIndex(graph.graph) : graph
  for (const id of grows(index) ? [] : index.order) {
    // In a stepwise run the walk alone says who is next: every other node has one thing missing, the walk.
    const parents = stepwise ? 1 : (graph.parents.get(id)?.length ?? 0)
    visits.set(id, { node: id, visit: 1, attempt: 0, state: { status: 'pending' }, reads: [] })
    missing.set(id, parents)
    if (parents === 0) ready.add(id)
  }
  return {
    graph: index,
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
    circuits: new Map(),
    cascades: [],
    signals: new Map(),
    toFollow: new Map(),
    modelTokens: 0,
    writtenBytes: 0,
    toolCalls: 0,
    artifactWrites: [],
    artifacts: new Map(),
    heldMs: 0,
    ...(stepwise && { walk: newWalk() }),
  }
}

/** Folds one fact into the run and returns the same run. */
export function evolve(run: Run, fact: Fact): Run {
  run.seq += 1
  if (fact.type === 'reported') {
    // Neither its clock nor its place in the DAG is ours to go by.
    evolveReported(run, fact)
    return run
  }
  run.lastAt = fact.at
  run.lastJti = fact.jti
  fold(run, fact)
  countHeld(run, fact.at)
  return run
}

function fold(run: Run, fact: Fact): void {
  switch (fact.type) {
    case 'workflow_start':
      run.start = fact
      run.state = { status: 'running' }
      if (run.walk) enter(run, run.walk, fact.entry ?? run.graph.order[0] ?? '', fact.jti)
      break
    case 'workflow_complete':
      run.state = {
        status: 'ended',
        jti: fact.jti,
        terminal: fact.terminalStatus,
        at: fact.at,
        elapsedS: fact.elapsedS,
        reason: fact.reason,
        cancelled: cancellationOf(run.state),
        ...(isOutOfTime(run.state) && { outOfTime: true }),
        ...(fact.exhausted && { exhausted: fact.exhausted }),
      }
      // Whoever is still waited for is not waited for any more; what people only take note of stays open.
      closeReported(run, fact)
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
    case 'step_carried':
    case 'step_held':
    case 'step_released':
    case 'event_given':
    case 'error':
      evolveStep(run, fact)
      break
    case 'artifact_set':
      writeArtifact(run, fact)
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
      run.state = { status: 'cancelling', by: fact.by, reason: fact.reason, exhausted: fact.exhausted }
      standDown(run, [...run.active], fact.at)
      break
    case 'circuit_open':
    case 'circuit_probe':
    case 'circuit_close':
    case 'call_rejected':
    case 'circuit_released':
      evolveCircuit(run, fact)
      break
    case 'cascade_detected':
      run.cascades.push(fact)
      break
    case 'signal_received':
      run.signals.set(fact.errorId, fact)
      noteError(run, fact)
      break
    case 'checkpoint_purged': {
      const checkpoint = run.checkpoints.get(fact.checkpointId)
      if (checkpoint) run.checkpoints.set(checkpoint.jti, { ...checkpoint, purged: true })
      break
    }
    case 'reported':
      break
    case 'rollback_request':
    case 'rollback_vote':
    case 'rollback_decided':
    case 'rollback_act':
    case 'rollback_act_result':
    case 'rollback_result':
    case 'rollback_choice':
      evolveRollback(run, fact)
      break
    default:
      fact satisfies never
  }
}

/**
 * Whose wish an end is. The ledger says it already, in the token that asked for it. When the engine itself stops a run
 * that is out of its time, nobody wished for that: it failed.
 */
function cancellationOf(state: RunStatus): { by: Actor; reason: string } | undefined {
  if (state.status !== 'cancelling' || state.by === 'engine') return undefined
  return { by: state.by, reason: state.reason }
}

function isOutOfTime(state: RunStatus): boolean {
  return state.status === 'cancelling' && state.by === 'engine' && state.exhausted === undefined
}

type StepFact = FactOf<
  | 'task_offered'
  | 'task_start'
  | 'task_heartbeat'
  | 'claim_lapsed'
  | 'checkpoint'
  | 'task_complete'
  | 'step_carried'
  | 'step_held'
  | 'step_released'
  | 'event_given'
  | 'error'
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
        ...(fact.group && { children: fact.par.filter((id) => run.checkpoints.has(id)) }),
      })
      // A group comes after its children, and the step is taken back by it as by any of them.
      if (fact.group) {
        visit.group = fact.jti
        return
      }
      if (visit.checkpoint !== undefined) visit.taken = [...(visit.taken ?? [visit.checkpoint]), jti]
      visit.checkpoint = fact.jti
      visit.firstCheckpoint ??= fact.jti
      return
    }
    case 'task_complete': {
      visit.doneJti = fact.jti
      const { at, stateFound: found, stateLeft: left } = fact
      if (found !== undefined && left !== undefined) visit.changed = { found, left, at }
      const tookMs = fact.at - (visit.startedAt ?? fact.at)
      setState(run, visit, { status: 'done', output: fact.output, label: fact.label, since: fact.at, tookMs })
      run.modelTokens += fact.modelTokens ?? 0
      run.writtenBytes += fact.writtenBytes ?? 0
      run.toolCalls += fact.toolCalls ?? 0
      return goOn(run, visit, fact.exhausted)
    }
    case 'step_carried': {
      visit.doneJti = fact.jti
      visit.carriedFrom = fact.from
      const { output, label, tookMs } = fact
      setState(run, visit, { status: 'done', output, label, since: fact.at, tookMs })
      run.toolCalls += fact.toolCalls ?? 0
      return goOn(run, visit)
    }
    case 'step_held':
      if (visit.state.status === 'running') visit.state.heldSince ??= fact.at
      return
    case 'step_released':
      if (visit.state.status === 'running') visit.state.heldSince = undefined
      return
    case 'event_given':
      visit.lastJti = fact.jti
      voidApprovals(run, (asked) => asked.node === fact.node && asked.visit === fact.visit, fact.at)
      return
    case 'error':
      return evolveError(run, visit, fact)
  }
}

/** The step is done: what follows it may begin, unless a limit was reached in the middle of it. */
function goOn(run: Run, visit: Visit, exhausted?: ExhaustedLimit): void {
  if (!run.walk) return release(run, visit.node)
  if (exhausted === undefined) return follow(run, run.walk, visit)
  run.walk.outputs.set(visit.node, visit)
  run.missing.set(visit.node, 1)
  run.walk.exhausted = { limit: exhausted, bound: boundOf(run.graph.graph.budget, exhausted) ?? 0 }
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
    if (fact.retryAt === undefined) {
      // What comes once the step is over is of its rollback.
      if (run.walk && visit.state.status !== 'done') visit.routedError = fact.jti
      return
    }
    visit.lastJti = fact.jti
    visit.attempt = fact.attempt
    setState(run, visit, { status: 'waiting', for: 'retry', until: fact.retryAt, error })
    return
  }
  visit.lastJti = fact.jti
  // What is found wrong afterwards took as long as it took: nobody was at work since.
  const tookMs = visit.state.status === 'done' ? visit.state.tookMs : fact.at - (visit.startedAt ?? fact.at)
  setState(run, visit, { status: 'failed', error, since: fact.at, tookMs })
  noteError(run, fact)
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
    seen: fact.seen,
    event: fact.event,
    jti: fact.jti,
  }
  run.openApprovals.delete(approval.id)
  rollbackAnswered(run, approval, fact)
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
  // A question handed on to another role replaces the one it came from. A loop may ask of several visits at once.
  const { node, visit: asking, kind } = fact
  voidApprovals(run, (asked) => asked.node === node && asked.visit === asking && asked.kind === kind, fact.at)
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
  if (kind === 'agent_error' || kind === 'irreversible_failed') errorsFollowed(run, new Set([node]))
  const visit = visitOf(run, fact.node, fact.visit)
  if (!visit) return
  if (fact.kind === 'approval' || fact.kind === 'outcome_unknown' || fact.kind === 'event') {
    visit.action = fact.action
    visit.reads = fact.reads
    visit.consequence = fact.consequence
    visit.lastJti = fact.jti
    // What waits for its event begins by asking for it; nothing else is done in it.
    if (fact.kind === 'event') visit.startedAt ??= fact.at
    setState(run, visit, { status: 'waiting', for: 'person', approval: approval.id, since: fact.at })
  } else if (escalates(fact.kind)) {
    const error = visit.state.status === 'failed' ? visit.state.error : undefined
    setState(run, visit, { status: 'escalated', error, approval: approval.id, since: fact.at })
  }
}

/** The questions that leave their step to a person; the others stand beside it. */
function escalates(kind: ApprovalKind): boolean {
  return kind === 'irreversible_failed' || kind === 'rollback_escalated'
}

/** ATD section 8.2: who goes first when not all can. */
export const priorityRank: Record<Priority, number> = { critical: 0, high: 1, normal: 2, low: 3 }
