/*
 * Questions a rollback waits for: whether it may reach a critical step, and how it goes on where a holder cannot
 * prepare. What is critical in runs below is asked about in the run above, before anything is done anywhere. They are
 * bound to the rollback by the digest of its plan. The answer is read from the fold and acted on by whoever coordinates
 * the rollback, so that it survives every crash.
 */
import type { FactOf } from './facts'
import type { Approval, Rollback, Run } from './run'

export type RollbackQuestionKind = 'rollback_critical' | 'rollback_unprepared'

function isAboutRollback(approval: Approval, { plan }: Rollback): boolean {
  return (
    (approval.kind === 'rollback_critical' || approval.kind === 'rollback_unprepared') &&
    approval.action === plan
  )
}

/**
 * Was the rollback asked for from above, with the step that began this run? The engine asks for a whole run for no other
 * reason.
 */
export function isFromAbove(run: Run, { by, scope }: Pick<Rollback, 'by' | 'scope'>): boolean {
  return run.start?.parentWid !== undefined && by === 'engine' && scope === 'full_workflow'
}

/** The question the rollback waits for now. */
export function openQuestion(
  run: Run,
  rollback: Rollback,
): (Approval & { kind: RollbackQuestionKind }) | undefined {
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (approval && isAboutRollback(approval, rollback))
      return approval as Approval & { kind: RollbackQuestionKind }
  }
  return undefined
}

/** The question that the rollback under way waits for; undefined where it waits for nobody, or none is under way. */
export function heldBy(run: Run): ReturnType<typeof openQuestion> {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  return rollback && openQuestion(run, rollback)
}

/** True when the rollback's question of that kind was put, whatever came of it; but for "ask them again". */
export function wasAsked(run: Run, rollback: Rollback, kind: RollbackQuestionKind): boolean {
  for (const approval of run.approvals.values()) {
    if (approval.kind === kind && isAboutRollback(approval, rollback) && !isAgain(approval)) return true
  }
  return false
}

/** That answer leads to the same question once more, if it has to. */
function isAgain({ state }: Approval): boolean {
  return state.status === 'decided' && state.verdict === 'ask_again'
}

/** What was decided on the rollback's question of that kind; undefined while it is open, or was never asked. */
export function answerOf(
  run: Run,
  rollback: Rollback,
  kind: RollbackQuestionKind,
): Extract<Approval['state'], { status: 'decided' }> | undefined {
  for (const approval of run.approvals.values()) {
    if (approval.kind !== kind || !isAboutRollback(approval, rollback) || isAgain(approval)) continue
    if (approval.state.status === 'decided') return approval.state
  }
  return undefined
}

/**
 * When the rollback is out of time, ms since the epoch. While a person thinks, no time passes: an answer of theirs gives
 * what follows the whole time anew (NOTES 3.6).
 */
export function decisionDeadline({ decided, askedAt, answeredAt, deadlineAt }: Rollback): number {
  const from = decided !== undefined && decided.by !== 'engine' ? decided.at : (answeredAt ?? askedAt)
  return from + deadlineAt - askedAt
}

/**
 * Folds a person's answer on the rollback's question. With `ask_again`, those that said no are asked anew: their votes
 * no longer count. What cannot be undone stays so, and is not asked.
 */
export function rollbackAnswered(run: Run, approval: Approval, fact: FactOf<'approval_decided'>): void {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  if (!rollback || !isAboutRollback(approval, rollback)) return
  rollback.answeredAt = fact.at
  if (fact.verdict !== 'ask_again') return
  rollback.askedAgain = (rollback.askedAgain ?? 0) + 1
  for (const [key, { vote, reason }] of rollback.votes) {
    if (vote === 'cannot_prepare' && reason !== 'irreversible') rollback.votes.delete(key)
  }
}
