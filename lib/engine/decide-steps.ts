/** Steps: resolved, begun, ended. Each wish names the visit it means; a visit that moved on refuses it. */
import { clip } from '@/lib/base/clip'
import { prefixed } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { checkCheckpointRoom, isCheckpointDue } from '@/lib/checkpoint/due'
import type { ApprovalKind } from '@/lib/hitl/terms'
import type { GraphNode } from '@/lib/workflow/graph'
import type { ActionRef, At, CheckpointTaken, Command, StepFailure } from './commands'
import { addArtifacts } from './decide-artifacts'
import { type Draft, parentsOfStep } from './draft'
import type { Actor } from './facts'
import { requiresApproval, roomFor } from './gate'
import { movedOn } from './refusal'
import { nextAttempt, retryDelayMs } from './retry'
import type { Run, Visit } from './run'
import { anyVisitOf } from './visit-states'
import { mayFollow } from './walk'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

/** Opens the question whether a resolved action may be done. */
export function decideAsk(run: Run, wish: Wish<'ask'>, draft: Draft, at: At): void {
  const visit = dueVisit(run, wish.node, wish.visit)
  const node = nodeOf(run, wish.node)
  const par = parentsOfStep(run, visit)
  askPerson(
    { visit, node, kind: askedAs(node), action: wish.action, sentence: wish.action.sentence, par },
    draft,
    at,
  )
}

/** What a node that waits for people asks them: whether it may act, or what happened. */
function askedAs(node: GraphNode): ApprovalKind {
  return node.kind === 'await_event' ? 'event' : 'approval'
}

/** A question to people, before it is a token. */
interface Question {
  visit: Visit
  node: GraphNode
  kind: ApprovalKind
  action: ActionRef
  sentence: string
  /** Why they are asked; absent: what the author or the kind of question says. */
  reason?: string
  par: string[]
}

/**
 * Adds the token that asks a person. Who is asked and until when is the node's own word, or the default: an operator,
 * no deadline, and silence holds.
 */
export function askPerson(
  { visit, node, kind, action, sentence, reason, par }: Question,
  draft: Draft,
  at: At,
): void {
  const spec = node.approval
  const approves = kind === 'approval'
  draft.add(
    {
      type: 'approval_asked',
      approval: prefixed('appr', at.mint()),
      kind,
      node: node.id,
      visit: visit.visit,
      role: spec?.role ?? (typeof node.config.role === 'string' ? node.config.role : 'operator'),
      reason: clip(
        reason ?? (approves ? (spec?.reason ?? 'The author asks for a person here') : reasonOf[kind]),
        400,
      ),
      sentence: clip(sentence, 600),
      action: action.hash,
      preview: action.preview,
      reads: action.reads,
      consequence: action.consequence,
      target: clip(action.target, 400),
      deadlineAt: approves && spec?.deadlineS ? at.now + spec.deadlineS * 1000 : undefined,
      onSilence: approves ? (spec?.onSilence ?? 'hold') : 'hold',
    },
    par,
  )
}

const reasonOf: Record<Exclude<ApprovalKind, 'approval'>, string> = {
  outcome_unknown:
    'Nobody saw the answer, so nobody knows whether it took effect; it is never silently done twice',
  irreversible_failed: 'A step that cannot be undone has failed',
  rollback_escalated: 'A rollback met a step that cannot be undone',
  rollback_failed: 'A rollback failed; the run stands still until a person acts',
  rollback_unprepared: 'An agent cannot take its part back; nothing is done until a person says how to go on',
  rollback_critical:
    'The rollback would reach a critical step, and no person saw its plan; a person looks first',
  cascade: 'A failure is propagating from one step to others',
  circuit: 'Something that several workflows need keeps failing; probes are held until a person decides',
  agent_error: 'An agent of this run told of an error',
  resource_exhausted: 'Critical work has found no room',
  event: 'The workflow waits here for an event from outside',
}

/** Offers a task to outside agents. */
export function decideOffer(run: Run, wish: Wish<'offer'>, draft: Draft): void {
  const visit = dueVisit(run, wish.node, wish.visit)
  const node = nodeOf(run, wish.node)
  refuseUnapproved(visit, node, wish.action.hash)
  draft.add(
    {
      type: 'task_offered',
      node: node.id,
      visit: visit.visit,
      action: wish.action.hash,
      reads: wish.action.reads,
      consequence: wish.action.consequence,
      role: typeof node.config.role === 'string' ? node.config.role : '',
    },
    parentsOfStep(run, visit),
  )
}

/** Begins an attempt: the task token and, for a consequential action, its checkpoint, in one append (NOTES 3.1). */
export function decideBegin(run: Run, wish: Wish<'begin'>, draft: Draft, at: At): void {
  const visit = dueVisit(run, wish.node, wish.visit)
  const node = nodeOf(run, wish.node)
  const { action } = wish
  if (roomFor(run) === 0) {
    throw new Problem('run_moved_on', `${node.id} has to wait: as many steps are running as may at once`)
  }
  if (!run.start?.dryRun) {
    refuseUnapproved(visit, node, action.hash)
    if (isCheckpointDue(action.consequence) && !wish.checkpoint) {
      throw new Problem(
        'checkpoint_missing',
        `${node.id} is consequential and came without a checkpoint; seal one first`,
      )
    }
  }
  if (wish.checkpoint) checkCheckpointRoom(run.checkpoints.size, run.graph.graph.budget.maxCheckpoints)
  const attempt = nextAttempt(visit)
  const taskJti = draft.add(
    {
      type: 'task_start',
      node: node.id,
      visit: visit.visit,
      attempt,
      action: action.hash,
      reads: action.reads,
      consequence: action.consequence,
      agent: wish.agent,
      timeoutAt: wish.timeoutS === undefined ? undefined : at.now + wish.timeoutS * 1000,
    },
    parentsOfStep(run, visit),
  )
  if (wish.checkpoint) {
    addCheckpoint(wish.checkpoint, visit, attempt, taskJti, draft)
  }
}

/** A rollback URI is followed as it is, so it is never cut. */
const maxUriBytes = 1000

/** NOTES 3.1: the checkpoint's parent is the task token. */
export function addCheckpoint(
  taken: CheckpointTaken,
  visit: Visit,
  attempt: number,
  taskJti: string,
  draft: Draft,
): void {
  const { jti, children, ...checkpoint } = taken
  if (clip(checkpoint.rollbackUri, maxUriBytes) !== checkpoint.rollbackUri) {
    throw new Problem(
      'bad_request',
      `The rollback URI of ${visit.node} does not fit into a token; at most ${maxUriBytes} bytes do`,
    )
  }
  draft.add(
    {
      type: 'checkpoint',
      node: visit.node,
      visit: visit.visit,
      attempt,
      ...checkpoint,
      ...(children && { group: true }),
      target: clip(checkpoint.target, 400),
      description: clip(checkpoint.description, 800),
    },
    [taskJti, ...(children ?? [])],
    jti,
  )
}

export function decideSucceeded(run: Run, wish: Wish<'succeeded'>, draft: Draft): void {
  const visit = runningVisit(run, wish.node, wish.visit, wish.attempt, wish.claimant)
  const latest = latestOf(visit)
  const written = addArtifacts(run, visit, wish.artifacts ?? [], writerOf(run, visit), [latest], draft)
  draft.add(
    {
      type: 'task_complete',
      node: wish.node,
      visit: wish.visit,
      attempt: wish.attempt,
      output: wish.output,
      label: wish.label,
      recovered: wish.recovered,
      stateFound: wish.changed?.found,
      stateLeft: wish.changed?.left,
      modelTokens: wish.modelTokens,
      writtenBytes: wish.writtenBytes,
      toolCalls: wish.toolCalls,
      exhausted: wish.exhausted,
      linked: wish.linked,
    },
    [latest, ...written, ...(wish.linked ?? [])],
  )
}

/** Who writes a step's artifacts: its prompt, where it has one. */
function writerOf(run: Run, { node }: Visit): Actor {
  const prompt = run.graph.nodes.get(node)?.config.prompt
  return typeof prompt === 'string' ? `prompt:${prompt}` : 'engine'
}

export function decideFailed(run: Run, wish: Wish<'failed'>, draft: Draft, at: At): void {
  const visit = runningVisit(run, wish.node, wish.visit, wish.attempt, wish.claimant)
  failStep(run, visit, wish.failure, draft, at, [latestOf(visit)])
}

/** Ends an attempt as failed: another one is due, or the node failed and a person hears of what cannot be undone (ATD section 8.1). */
export function failStep(
  run: Run,
  visit: Visit,
  failure: StepFailure,
  draft: Draft,
  at: At,
  par: string[],
): void {
  const node = nodeOf(run, visit.node)
  const attempt = Math.max(1, visit.attempt)
  const checkpoint = visit.checkpoint === undefined ? undefined : run.checkpoints.get(visit.checkpoint)
  const { jti, over } = addError(run, visit, attempt, failure, draft, at, par, checkpoint?.jti)
  // A walk says itself where a failure leads; one that leads nowhere ends the run as errored (NOTES 17).
  if (!over || run.walk || !checkpoint || checkpoint.reversible || visit.action === undefined) return
  askPerson(
    {
      visit,
      node,
      kind: 'irreversible_failed',
      action: {
        hash: visit.action,
        consequence: 'irreversible',
        target: checkpoint.target,
        sentence: '',
        reads: [],
      },
      sentence: `${node.label} failed and cannot be undone`,
      par: [jti],
    },
    draft,
    at,
  )
}

/** The attempt failed before it began: nothing happened to the world. */
export function decideUnresolved(run: Run, wish: Wish<'unresolved'>, draft: Draft, at: At): void {
  const visit = dueVisit(run, wish.node, wish.visit)
  const par = parentsOfStep(run, visit)
  addError(run, visit, nextAttempt(visit), wish.failure, draft, at, par)
}

/**
 * Adds the error token of an attempt (ATD section 5), and says whether the step is over as failed. It is not when
 * another attempt is due; nor when the walk may go on along an `error` edge: then the step is complete, and what it
 * gives is why (NOTES 17).
 */
function addError(
  run: Run,
  visit: Visit,
  attempt: number,
  failure: StepFailure,
  draft: Draft,
  at: At,
  par: string[],
  checkpointId?: string,
): { jti: string; over: boolean } {
  const { retry } = nodeOf(run, visit.node)
  const tried = attempt - (visit.refused ?? 0)
  const again = failure.retriable && run.state.status !== 'cancelling' && tried < (retry?.maxAttempts ?? 1)
  const routed = !again && run.walk !== undefined && mayFollow(run, run.walk, visit.node, 'error')
  const jti = draft.add(
    {
      type: 'error',
      node: visit.node,
      visit: visit.visit,
      attempt,
      severity: again || routed ? 'warning' : failure.severity,
      errorType: failure.errorType,
      code: clip(failure.code, 60),
      description: clip(failure.description, 1000),
      checkpointId,
      upstream: upstreamOf(run, visit, failure),
      retryAt: again ? at.now + retryDelayMs(retry, attempt, at.chance) : undefined,
    },
    par,
  )
  if (routed) {
    const output = draft.keep({ error: failure.description, code: failure.code })
    const step = { node: visit.node, visit: visit.visit, attempt }
    draft.add({ type: 'task_complete', ...step, output, label: 'error' }, [jti])
  }
  return { jti, over: !again && !routed }
}

/** Errors named at most; a trace this wide says no more. */
const maxUpstream = 20

/** What the failure came from: what it names itself, and the error whose edge led here. */
function upstreamOf(run: Run, visit: Visit, { upstream = [] }: StepFailure): string[] {
  const path = run.walk?.path ?? []
  const before = path[path.findIndex((step) => step.visit === visit) - 1]?.visit
  const routed =
    before?.state.status === 'done' && before.state.label === 'error' ? before.routedError : undefined
  const named = [...upstream, ...(routed === undefined ? [] : [routed])].map((id) => clip(id, 100))
  return [...new Set(named)].slice(0, maxUpstream)
}

export function decideUnknown(run: Run, wish: Wish<'unknown'>, draft: Draft, at: At): void {
  const visit = runningVisit(run, wish.node, wish.visit, wish.attempt)
  askOutcome(run, visit, wish.sentence, draft, at)
}

/** Records that nobody knows whether the effect happened, and asks. */
export function askOutcome(run: Run, visit: Visit, sentence: string, draft: Draft, at: At): void {
  const action: ActionRef = {
    hash: visit.action ?? '',
    consequence: visit.consequence ?? 'irreversible',
    target: '',
    sentence,
    reads: visit.reads,
  }
  const par = [latestOf(visit)]
  askPerson(
    { visit, node: nodeOf(run, visit.node), kind: 'outcome_unknown', action, sentence, par },
    draft,
    at,
  )
}

/** The visit, if it is the current one and its next attempt may begin now. */
export function dueVisit(run: Run, node: string, visitNumber: number): Visit {
  const visit = currentVisit(run, node, visitNumber)
  if (run.state.status !== 'running') throw movedOn(run, 'carried on')
  const { state } = visit
  const due =
    (state.status === 'pending' && run.ready.has(node)) ||
    state.status === 'approved' ||
    (state.status === 'waiting' && (state.for === 'retry' || state.for === 'breaker'))
  if (!due)
    throw new Problem('run_moved_on', `${node} is ${state.status} in visit ${visit.visit}; it is not due`)
  return visit
}

/** The visit, if this attempt of it is running and, for a claimed task, this claimant holds it. */
export function runningVisit(
  run: Run,
  node: string,
  visitNumber: number,
  attempt: number,
  claimant?: string,
): Visit {
  const visit = currentVisit(run, node, visitNumber)
  const { state } = visit
  if (state.status !== 'running' || state.attempt !== attempt) {
    throw new Problem(
      'run_moved_on',
      `Attempt ${attempt} of ${node} is over: the step is ${state.status} now`,
    )
  }
  if (claimant !== undefined && state.agent !== claimant) {
    throw new Problem(
      'claim_lost',
      `${node} is held by ${state.agent ?? 'this installation'}, not by ${claimant}`,
    )
  }
  if (run.state.status === 'ended') throw movedOn(run, 'reported to')
  return visit
}

export function currentVisit(run: Run, node: string, visitNumber: number): Visit {
  const visit = run.visits.get(node)
  if (!visit) throw new Problem('not_found', `This run has no step "${node.slice(0, 80)}"`)
  if (visit.visit !== visitNumber) {
    throw new Problem('run_moved_on', `${node} is in visit ${visit.visit} now, not in visit ${visitNumber}`)
  }
  return visit
}

export function nodeOf(run: Run, id: string): GraphNode {
  const node = run.graph.nodes.get(id)
  if (!node) throw new Problem('not_found', `This workflow has no step "${id.slice(0, 80)}"`)
  return node
}

/** What a completion, error or question of a running visit follows: its checkpoint if it has one, else its task token. */
export function latestOf(visit: Visit): string {
  const jti = visit.checkpoint ?? visit.taskJti
  if (jti === undefined)
    throw new Error(`${visit.node} has no task token although it is ${visit.state.status}`)
  return jti
}

/** What was approved is what is done, in every attempt: another digest, or none where one is needed, is refused. */
function refuseUnapproved(visit: Visit, node: GraphNode, action: string): void {
  if (requiresApproval(node) && visit.approved === undefined) {
    throw new Problem('approval_gone', `${node.id} needs a decision before it acts, and there is none`)
  }
  if (visit.approved !== undefined && visit.approved !== action) {
    throw new Problem(
      'approval_digest',
      `${node.id} was approved as ${visit.approved} and now is ${action}; ask again`,
    )
  }
  if (visit.state.status === 'waiting' && visit.attempt > 0 && visit.taskJti && visit.action !== action) {
    throw new Problem('approval_digest', `${node.id} began as ${visit.action} and a retry may not change it`)
  }
}

/** That visit of the node, which a loop may have left behind. */
export function visitThen(run: Run, node: string, visitNumber: number): Visit {
  const visit = anyVisitOf(run, node, visitNumber)
  if (!visit) throw new Problem('not_found', `This run has no visit ${visitNumber} of "${node.slice(0, 80)}"`)
  return visit
}
