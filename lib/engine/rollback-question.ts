/*
 * Questions a rollback waits for: whether it may reach a critical step, and how it goes on where a holder cannot
 * prepare. What is critical in runs below is asked about in the run above, before anything is done anywhere. They are
 * bound to the rollback by the digest of its plan. The answer is read from the fold and acted on by whoever coordinates
 * the rollback, so that it survives every crash.
 */
import { Problem } from '@/lib/base/problem'
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

/** True when the rollback's question of that kind was put, whatever came of it; but for those that lead to it again. */
export function wasAsked(run: Run, rollback: Rollback, kind: RollbackQuestionKind): boolean {
  for (const approval of run.approvals.values()) {
    if (approval.kind === kind && isAboutRollback(approval, rollback) && !isAgain(approval)) return true
  }
  return false
}

/** Those answers lead to the same question once more, if they have to. */
function isAgain({ state }: Approval): boolean {
  return state.status === 'decided' && (state.verdict === 'ask_again' || state.verdict === 'overwrite')
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
 * no longer count. What cannot be undone stays so, and is not asked. With `overwrite`, those are asked anew whose targets
 * were changed since, and from then on that keeps none of them from being put back.
 */
export function rollbackAnswered(run: Run, approval: Approval, fact: FactOf<'approval_decided'>): void {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  if (!rollback || !isAboutRollback(approval, rollback)) return
  rollback.answeredAt = fact.at
  if (fact.verdict !== 'ask_again' && fact.verdict !== 'overwrite') return
  rollback.askedAgain = (rollback.askedAgain ?? 0) + 1
  if (fact.verdict === 'overwrite') {
    const { by, at, comment: reason } = fact
    const changed = changedVotes(rollback)
    rollback.overwritten = new Map([
      ...(rollback.overwritten ?? []),
      ...changed.map((key) => [key, { by, at, reason }] as const),
    ])
    for (const key of changed) rollback.votes.delete(key)
    return
  }
  for (const [key, { vote, reason }] of rollback.votes) {
    if (vote === 'cannot_prepare' && reason !== 'irreversible') rollback.votes.delete(key)
  }
}

/** Checkpoints that cannot be taken back for no other reason than that somebody else changed their targets since. */
function changedVotes({ votes }: Rollback): string[] {
  return [...votes].flatMap(([key, { vote, changedBy }]) =>
    vote === 'cannot_prepare' && changedBy !== undefined ? [key] : [],
  )
}

/**
 * May the rollback put back what somebody else changed since? By its request all of it, by a person's answer the
 * checkpoints that they were asked about.
 */
export function isOverwritten(
  { overwrite, overwritten }: Pick<Rollback, 'overwrite' | 'overwritten'>,
  checkpointId: string,
): boolean {
  return overwrite === true || overwritten?.has(checkpointId) === true
}

/** Throws Problem `bad_request` where nothing was changed since, or no reason is given. */
export function checkOverwrite(run: Run, approval: Approval, comment: string): void {
  const rollback = [...run.rollbacks.values()].find((one) => isAboutRollback(approval, one))
  if (!rollback || changedVotes(rollback).length === 0) {
    throw new Problem(
      'bad_request',
      'Nothing that keeps this rollback was changed since by somebody else, so there is nothing to put back all the same',
    )
  }
  if (comment.trim() === '') {
    throw new Problem(
      'bad_request',
      'Putting back what somebody else changed since needs a reason; say why in "comment"',
    )
  }
}
