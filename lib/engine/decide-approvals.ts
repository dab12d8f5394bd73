/*
 * Decisions of people. A decision is bound to run, node, visit and the digest of the exact action; the first one wins
 * and every later one is told who decided and when. Whether this person may decide at all is asked before (lib/hitl).
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import { isEditable, verdictsOf } from '@/lib/hitl/verdicts'
import type { At, Command } from './commands'
import { checkEvent, completeByEvent } from './decide-events'
import { askPerson, failStep, nodeOf } from './decide-steps'
import { type Draft, parentsOfStep } from './draft'
import { checkOverwrite } from './rollback-question'
import type { Approval, Run, Visit } from './run'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

export function decideApproval(run: Run, wish: Wish<'decide'>, draft: Draft, at: At): void {
  const approval = openApproval(run, wish.approval)
  if (wish.action !== approval.action) {
    throw new Problem(
      'approval_digest',
      `You decided on ${wish.action.slice(0, 43)} but ${approval.node} asks about ${approval.action}; look again`,
    )
  }
  if (!verdictsOf(approval.kind).includes(wish.verdict)) {
    throw new Problem(
      'bad_request',
      `"${wish.verdict}" does not answer this question; expected ${verdictsOf(approval.kind).join(' or ')}`,
    )
  }
  if (wish.edited && !(isEditable(approval.kind) && wish.verdict === 'approve')) {
    throw new Problem('approval_edit_refused', 'An edit goes with an approval; refuse without one')
  }
  if (wish.verdict === 'overwrite') checkOverwrite(run, approval, wish.comment)
  if (wish.verdict === 'event') checkEvent(run, nodeOf(run, approval.node), wish.event ?? '')
  settle(run, approval, wish, draft, at)
}

function settle(
  run: Run,
  approval: Approval,
  wish: Omit<Wish<'decide'>, 'type'>,
  draft: Draft,
  at: At,
): void {
  const visit = run.visits.get(approval.node) as Visit
  const decidedJti = draft.add(
    {
      type: 'approval_decided',
      approval: approval.id,
      node: approval.node,
      visit: approval.visit,
      verdict: wish.verdict,
      by: wish.by,
      action: approval.action,
      edited: wish.edited?.hash,
      seen: wish.seen,
      event: wish.event,
      comment: clip(wish.comment, 2000),
    },
    [approval.askedJti],
  )
  // A critical step in the way of a rollback holds the rollback, not the step.
  if (approval.kind === 'rollback_critical') return
  switch (wish.verdict) {
    case 'approve':
      return passHold(
        run,
        visit,
        { ...wish, action: wish.edited?.hash ?? approval.action },
        decidedJti,
        draft,
      )
    case 'refuse':
      return failStep(run, visit, refusal(wish), draft, at, [decidedJti])
    case 'took_effect':
      return completeStep(visit, Math.max(1, visit.attempt), { confirmed_by: wish.by }, decidedJti, draft)
    case 'not_taken':
      return tryAgain(visit, wish.by, decidedJti, draft, at)
    case 'event':
      return completeByEvent(run, visit, { ...wish, event: wish.event ?? '' }, decidedJti, draft)
    case 'acknowledge':
    // What follows from these is done by who asked: the rollback's coordinator, and the circuits.
    case 'go_on_without':
    case 'abort':
    case 'escalate':
    case 'ask_again':
    case 'overwrite':
    case 'release':
    case 'hold':
      return
    default:
      wish.verdict satisfies never
  }
}

function refusal(wish: { by: string; comment: string }) {
  const why = wish.comment === '' ? '' : `: ${wish.comment}`
  return {
    severity: 'error',
    errorType: 'constraint_violation',
    code: 'approval_refused',
    description: `Refused by ${wish.by}${why}`,
    retriable: false,
  } as const
}

/** `pause_for_approval` has nothing to do after the decision: it is done with it. */
function passHold(
  run: Run,
  visit: Visit,
  wish: { by: string; comment: string; action: string },
  decidedJti: string,
  draft: Draft,
): void {
  const node = nodeOf(run, visit.node)
  if (node.kind !== 'pause_for_approval') return
  const taskJti = draft.add(
    {
      type: 'task_start',
      node: node.id,
      visit: visit.visit,
      attempt: 1,
      action: wish.action,
      reads: visit.reads,
      consequence: 'read_only',
    },
    [decidedJti, ...parentsOfStep(run, visit)],
  )
  completeStep(visit, 1, { approved: true, by: wish.by, comment: wish.comment }, taskJti, draft)
}

function completeStep(
  visit: Visit,
  attempt: number,
  output: Record<string, string | boolean>,
  after: string,
  draft: Draft,
) {
  draft.add(
    {
      type: 'task_complete',
      node: visit.node,
      visit: visit.visit,
      attempt,
      output: draft.keep(output),
      recovered: true,
    },
    [after],
  )
}

function tryAgain(visit: Visit, by: string, after: string, draft: Draft, at: At): void {
  draft.add(
    {
      type: 'error',
      node: visit.node,
      visit: visit.visit,
      attempt: Math.max(1, visit.attempt),
      severity: 'warning',
      errorType: 'unknown',
      code: 'outcome_not_taken',
      description: `${by} found that it did not take effect; it is tried again`,
      checkpointId: visit.checkpoint,
      upstream: [],
      retryAt: at.now,
    },
    [after],
  )
}

export function decideComment(run: Run, wish: Wish<'comment'>, draft: Draft): void {
  const approval = run.approvals.get(wish.approval)
  if (!approval) throw unknownApproval(wish.approval)
  const { node, visit, id } = approval
  const fact = { type: 'approval_commented', approval: id, node, visit, by: wish.by } as const
  draft.add({ ...fact, comment: clip(wish.comment, 2000) }, [approval.askedJti])
}

/** The deadline passed without a word (NOTES 3.11). `hold` never comes here: it has nothing to do. */
export function decideSilence(run: Run, wish: Wish<'silence'>, draft: Draft, at: At): void {
  const approval = openApproval(run, wish.approval)
  if (approval.deadlineAt === undefined || approval.deadlineAt > at.now) {
    throw new Problem('run_moved_on', `The deadline of ${approval.id} has not passed`)
  }
  const said = { approval: approval.id, by: 'silence', action: approval.action }
  const silence = approval.onSilence
  if (silence === 'continue') {
    return settle(
      run,
      approval,
      { ...said, verdict: 'approve', comment: 'Nobody answered; the author lets it go on' },
      draft,
      at,
    )
  }
  if (typeof silence === 'object') return handOn(run, approval, silence.escalateTo, draft, at)
  settle(run, approval, { ...said, verdict: 'refuse', comment: 'Nobody answered by the deadline' }, draft, at)
}

/** Asks the next role, without a deadline: the chain ends with a hold. */
function handOn(run: Run, approval: Approval, role: string, draft: Draft, at: At): void {
  const reason = `Nobody holding ${approval.role} answered in time`
  const node = { ...nodeOf(run, approval.node), approval: { role, reason, onSilence: 'hold' } as const }
  const { sentence, askedJti } = approval
  const action = { ...approval, hash: approval.action }
  const visit = run.visits.get(approval.node) as Visit
  askPerson({ visit, node, kind: 'approval', action, sentence, par: [askedJti] }, draft, at)
}

function openApproval(run: Run, id: Approval['id']): Approval {
  const approval = run.approvals.get(id)
  if (!approval) throw unknownApproval(id)
  const { state } = approval
  if (state.status === 'decided') {
    throw new Problem(
      'approval_decided',
      `${state.by} decided this at ${new Date(state.at).toISOString()} (${state.verdict}); your decision was not needed`,
      { by: state.by, at: state.at, verdict: state.verdict },
    )
  }
  if (state.status === 'void') {
    throw new Problem(
      'approval_gone',
      `The run moved on at ${new Date(state.at).toISOString()}; nobody needs to decide this`,
    )
  }
  return approval
}

function unknownApproval(id: string): Problem {
  return new Problem('not_found', `This run has no approval "${id.slice(0, 60)}"`)
}
