/*
 * Questions a rollback waits for: whether it may reach a critical step, and how it goes on where a holder cannot
 * prepare. They are bound to the rollback by the digest of its plan. The answer is read from the fold and acted on by
 * whoever coordinates the rollback, so that it survives every crash.
 */
import type { Approval, Rollback, Run } from './run'

export type RollbackQuestionKind = 'rollback_critical' | 'rollback_unprepared'

function isAboutRollback(approval: Approval, { plan }: Rollback): boolean {
  return (
    (approval.kind === 'rollback_critical' || approval.kind === 'rollback_unprepared') &&
    approval.action === plan
  )
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

/** True when the rollback's question of that kind was put, whatever came of it. */
export function wasAsked(run: Run, rollback: Rollback, kind: RollbackQuestionKind): boolean {
  for (const approval of run.approvals.values()) {
    if (approval.kind === kind && isAboutRollback(approval, rollback)) return true
  }
  return false
}

/** What was decided on the rollback's question of that kind; undefined while it is open, or was never asked. */
export function answerOf(
  run: Run,
  rollback: Rollback,
  kind: RollbackQuestionKind,
): Extract<Approval['state'], { status: 'decided' }> | undefined {
  for (const approval of run.approvals.values()) {
    if (approval.kind !== kind || !isAboutRollback(approval, rollback)) continue
    if (approval.state.status === 'decided') return approval.state
  }
  return undefined
}

/**
 * When the rollback is out of time, ms since the epoch. While a person thinks, no time passes: a decision of theirs
 * gives phase 2 the whole time anew (NOTES 3.6).
 */
export function decisionDeadline({ decided, askedAt, deadlineAt }: Rollback): number {
  const forMs = deadlineAt - askedAt
  return decided !== undefined && decided.by !== 'engine' ? decided.at + forMs : deadlineAt
}
