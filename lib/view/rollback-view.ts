/** A rollback as it travels: what the fold knows of it, for the server and for screens that fold by themselves. */
import { decisionDeadline, openQuestion } from '@/lib/engine/rollback-question'
import type { Rollback, Run } from '@/lib/engine/run'
import type { RollbackActView, RollbackView } from './rollback-wire'

/** The rollback as far as it is. `runId` is said beside it, since the fold does not know the run's name. */
export function rollbackViewOf(run: Run, runId: string, rollback: Rollback): RollbackView {
  const { id, scope, only, node, by, reason, askedAt, plan, choice, supersedes, supersededBy } = rollback
  const question = openQuestion(run, rollback)
  return {
    id,
    run: runId,
    scope,
    ...(only && { only }),
    ...(rollback.overwrite && { overwrite: true as const }),
    ...(rollback.overwritten && {
      overwritten: [...rollback.overwritten].map(([checkpointId, said]) => ({ checkpointId, ...said })),
    }),
    node,
    status: rollback.status ?? (supersededBy ? 'superseded' : 'executing'),
    phase: phaseOf(rollback, question !== undefined),
    by,
    reason,
    askedAt,
    deadlineAt: decisionDeadline(rollback),
    plan,
    votes: [...rollback.votes.values()].map((vote) => ({ ...vote })),
    ...(rollback.decided && { decided: { ...rollback.decided } }),
    ...(question && {
      question: {
        approval: question.id,
        kind: question.kind,
        sentence: question.sentence,
        role: question.role,
      },
    }),
    acts: [...rollback.acts].map(([checkpoint, act]) => actViewOf(run, checkpoint, act)),
    ...(supersedes && { supersedes }),
    ...(supersededBy && { supersededBy }),
    choice,
  }
}

function phaseOf(rollback: Rollback, isAsking: boolean): RollbackView['phase'] {
  if (rollback.status !== undefined || rollback.supersededBy !== undefined) return 'over'
  if (isAsking) return 'asking'
  return rollback.decided === undefined ? 'preparing' : 'executing'
}

function actViewOf(
  run: Run,
  checkpointId: string,
  act: Rollback['acts'] extends Map<string, infer Act> ? Act : never,
): RollbackActView {
  const { node, undo, status, description, jti, resultJti, stateHashBefore, stateHashAfter, evidence } = act
  return {
    node,
    visit: run.checkpoints.get(checkpointId)?.visit,
    checkpointId,
    undo,
    status,
    description,
    ...(stateHashBefore !== undefined && { stateHashBefore }),
    ...(stateHashAfter !== undefined && { stateHashAfter }),
    ...(evidence !== undefined && { evidence }),
    jti,
    ...(resultJti !== undefined && { resultJti }),
  }
}
