/*
 * Rollbacks, as the run records them: asked for, each act begun and ended, answered, and the choice that follows.
 * What is undone and in which order is planned in lib/rollback; here a plan is a digest that people agreed to.
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import { conflictWith } from '@/lib/rollback/conflict'
import { labelOf } from '@/lib/workflow/graph-index'
import type { At, Command } from './commands'
import { askPerson, nodeOf, visitThen } from './decide-steps'
import type { Draft } from './draft'
import { nodesInScope, type Reach, visitsInScope } from './evolve-rollback'
import type { FactOf } from './facts'
import { elapsedS, movedOn } from './refusal'
import { isFromAbove, wasAsked } from './rollback-question'
import type { Rollback, Run, Visit } from './run'
import { startJti } from './start-token'
import { undoableCheckpoints } from './undoable'
import { isUnknown } from './visit-states'
import { walkedFrom } from './walk'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

export function decideRollback(run: Run, wish: Wish<'roll_back'>, draft: Draft, at: At): void {
  const existing = run.rollbacks.get(wish.rollback)
  if (existing)
    throw new Problem('rollback_busy', `${wish.rollback} was asked for already`, { rollback: wish.rollback })
  const narrower = takenOver(run, wish, at.now)
  if (run.state.status === 'cancelling') throw movedOn(run, 'rolled back')
  if (run.seq !== wish.seq && !(narrower && isCovered(run, wish, narrower))) {
    throw new Problem(
      'rollback_plan_changed',
      `The run moved on since the plan: it had ${wish.seq} tokens, now ${run.seq}`,
    )
  }
  for (const node of nodesInScope(run, wish)) {
    if (run.visits.get(node)?.state.status === 'running') {
      throw new Problem(
        'rollback_busy',
        `"${labelOf(run.graph, node)}" is running; pause the run and wait for it, or choose a smaller scope`,
      )
    }
  }
  draft.add(
    {
      type: 'rollback_request',
      rollback: wish.rollback,
      scope: wish.scope,
      ...(wish.only && { only: wish.only }),
      ...(wish.overwrite && { overwrite: true }),
      node: wish.node,
      cascade: wish.scope !== 'single',
      reason: clip(wish.reason, 1000),
      by: wish.by,
      plan: wish.plan,
      deadlineAt: at.now + wish.deadlineS * 1000,
      ...(narrower && { supersedes: narrower.id }),
    },
    parentsOfRequest(run, wish),
  )
}

/** The checkpoints that are rolled back to, and the error that led to it; where there is neither, the latest token. */
function parentsOfRequest(run: Run, { checkpoints, error }: Wish<'roll_back'>): string[] {
  const parents = [...checkpoints, ...(error === undefined ? [] : [error])]
  return parents.length > 0 ? parents : [run.lastJti ?? startJti(run)]
}

/**
 * True where all that could be undone now was planned, or is the narrower rollback's doing. That one goes on while a
 * broader one is planned, so that its tokens alone change nothing that was agreed to: what is left to do only shrinks.
 */
function isCovered(run: Run, wish: Wish<'roll_back'>, narrower: Rollback): boolean {
  const planned = new Set<string>(wish.checkpoints)
  return visitsInScope(run, wish)
    .flatMap((visit) => undoableCheckpoints(run, visit))
    .every(({ jti }) => planned.has(jti) || narrower.acts.has(jti))
}

/**
 * The rollback under way that this one takes over, if there is one (cascade section 6.8). Throws Problem
 * `rollback_conflict` where the one under way takes precedence, `rollback_busy` where they have nothing in common: of
 * one run there is one rollback at a time.
 */
export function takenOver(run: Run, wish: Reach & { rollback: string }, now: number): Rollback | undefined {
  if (run.state.status !== 'rolling_back') return undefined
  const other = run.rollbacks.get(run.state.rollback) as Rollback
  const conflict = conflictWith(
    { ...other, nodes: new Set(nodesInScope(run, other)) },
    { ...wish, id: wish.rollback, askedAt: now, nodes: new Set(nodesInScope(run, wish)) },
  )
  if (conflict.is === 'wins') return other
  if (conflict.is === 'apart') {
    throw new Problem('rollback_busy', `${other.id} is under way in this run; wait for its end`)
  }
  throw new Problem(
    'rollback_conflict',
    `${other.id} is under way, reaches the same steps and goes first: it ${conflict.why}`,
    { conflicting_rollback_id: other.id },
  )
}

/** The rollback, if it is the one under way. */
function underWay(run: Run, id: string): Rollback {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  if (rollback?.id !== id)
    throw new Problem('run_moved_on', `${id.slice(0, 60)} is not under way in this run`)
  return rollback
}

/** What is being undone when a broader rollback takes over comes to its end. */
function mayEnd(run: Run, { rollback: id, checkpointId }: Wish<'act_ended'>): Rollback {
  const rollback = run.rollbacks.get(id)
  const act = rollback?.acts.get(checkpointId)
  return rollback?.supersededBy !== undefined && act && act.status === undefined
    ? rollback
    : underWay(run, id)
}

/** Asks people whether, or how, the rollback goes on; each question once. */
export function decideAskRollback(run: Run, wish: Wish<'ask_rollback'>, draft: Draft, at: At): void {
  const rollback = underWay(run, wish.rollback)
  if (rollback.decided || wasAsked(run, rollback, wish.kind)) {
    throw new Problem('run_moved_on', `People were asked about ${rollback.id} already`)
  }
  const node = nodeOf(run, wish.node)
  const of = [...rollback.votes.values()].flatMap(({ vote, jti }) => (vote === 'prepared' ? [] : [jti]))
  askPerson(
    {
      visit: visitThen(run, wish.node, wish.visit),
      node: { ...node, approval: { role: wish.role, reason: '', onSilence: 'hold' } },
      kind: wish.kind,
      action: { hash: rollback.plan, consequence: 'irreversible', target: '', sentence: '', reads: [] },
      sentence: wish.sentence,
      par: [rollback.requestJti, ...of],
    },
    draft,
    at,
  )
}

/** Phase 1: a holder's answer. The first one of each checkpoint stands. */
export function decideVote(run: Run, wish: Wish<'voted'>, draft: Draft): void {
  const rollback = underWay(run, wish.rollback)
  if (rollback.decided || rollback.votes.has(wish.checkpointId)) {
    throw new Problem('run_moved_on', `"${labelOf(run.graph, wish.node)}" has answered already`)
  }
  const { type: _type, unverified, ...vote } = wish
  const of = run.checkpoints.has(wish.checkpointId) ? [wish.checkpointId] : []
  const par = [rollback.requestJti, ...of]
  const error = unverified === undefined ? [] : [unverifiedError(wish, unverified, par, draft)]
  draft.add({ type: 'rollback_vote', ...vote, description: clip(wish.description, 600) }, [...par, ...error])
}

/** Cascade section 6.4: a checkpoint that does not verify is an error of its own. It fails no step: what it says is of the checkpoint. */
function unverifiedError(
  { node, visit, checkpointId, description }: Wish<'voted'>,
  code: string,
  par: string[],
  draft: Draft,
): string {
  const of = { node, visit, attempt: 1, checkpointId, upstream: [] }
  const error = { severity: 'warning', errorType: 'constraint_violation', code } as const
  return draft.add({ type: 'error', ...of, ...error, description: clip(description, 600) }, par)
}

/** Phase 1 is over: all of it is done, part of it, or nothing. */
export function decideRollbackGoOn(run: Run, wish: Wish<'decide_rollback'>, draft: Draft): void {
  const rollback = underWay(run, wish.rollback)
  if (rollback.decided) {
    throw new Problem('run_moved_on', `"${rollback.decided.decision}" was decided for ${rollback.id} already`)
  }
  const { type: _type, ...decision } = wish
  const votes = [...rollback.votes.values()].map(({ jti }) => jti)
  draft.add({ type: 'rollback_decided', ...decision, reason: clip(wish.reason, 1000) }, [
    rollback.requestJti,
    ...votes,
  ])
}

export function decideAct(run: Run, wish: Wish<'act_began'>, draft: Draft): void {
  const rollback = underWay(run, wish.rollback)
  if (rollback.acts.has(wish.checkpointId)) {
    throw new Problem('run_moved_on', `The undo of "${labelOf(run.graph, wish.node)}" was begun already`)
  }
  const { node, visit, checkpointId, undo } = wish
  draft.add(
    { type: 'rollback_act', rollback: rollback.id, node, visit, checkpointId, undo },
    [rollback.requestJti, checkpointId],
    wish.jti,
  )
}

export function decideActEnd(run: Run, wish: Wish<'act_ended'>, draft: Draft, at: At): void {
  const rollback = mayEnd(run, wish)
  const act = rollback.acts.get(wish.checkpointId)
  if (act?.status !== undefined)
    throw new Problem('run_moved_on', `The undo of "${labelOf(run.graph, wish.node)}" was answered already`)
  const { type: _type, escalateTo, ...result } = wish
  const body: Omit<FactOf<'rollback_act_result'>, 'jti' | 'at' | 'par'> = {
    type: 'rollback_act_result',
    ...result,
  }
  // A step that had no checkpoint is answered under its own name, which is no token.
  const of = run.checkpoints.has(wish.checkpointId) ? [wish.checkpointId] : []
  const par = [act?.jti ?? rollback.requestJti, ...of]
  const jti = draft.add({ ...body, description: clip(wish.description, 800) }, par)
  if (!escalateTo) return
  const node = nodeOf(run, wish.node)
  askPerson(
    {
      visit: visitThen(run, wish.node, wish.visit),
      node: { ...node, approval: { role: escalateTo.role, reason: '', onSilence: 'hold' } },
      kind: 'rollback_escalated',
      action: { hash: escalateTo.action, consequence: 'irreversible', target: '', sentence: '', reads: [] },
      sentence: escalateTo.sentence,
      par: [jti],
    },
    draft,
    at,
  )
}

export function decideRollbackEnd(run: Run, wish: Wish<'rollback_ended'>, draft: Draft, at: At): void {
  const rollback = underWay(run, wish.rollback)
  const visit = firstInScope(run, rollback)
  const before = [rollback.requestJti, ...actTokens(rollback)]
  const par = wish.timedOut ? [timeoutError(rollback, visit.visit, before, draft)] : before
  const { type: _type, timedOut: _timedOut, ...result } = wish
  const jti = draft.add(
    { type: 'rollback_result', ...result, checkpointId: visit.firstCheckpoint ?? '' },
    par,
  )
  if (wish.status !== 'failed') return
  askPerson(
    {
      visit,
      node: nodeOf(run, rollback.node),
      kind: 'rollback_failed',
      action: { hash: rollback.plan, consequence: 'irreversible', target: '', sentence: '', reads: [] },
      sentence: `The rollback of "${labelOf(run.graph, rollback.node)}" failed; the run stands still`,
      par: [jti],
    },
    draft,
    at,
  )
}

/** The visit before which the run was put back. */
function firstInScope(run: Run, { node }: Rollback): Visit {
  const walked = run.walk && walkedFrom(run.walk, node)[0]
  return walked ?? visitThen(run, node, run.visits.get(node)?.visit ?? 1)
}

/** ATD section 6.4: a rollback out of time says so in an error token of its own. */
function timeoutError(rollback: Rollback, visit: number, par: string[], draft: Draft): string {
  return draft.add(
    {
      type: 'error',
      node: rollback.node,
      visit,
      attempt: 1,
      severity: 'warning',
      errorType: 'timeout',
      code: 'rollback_timeout',
      description: 'The rollback was not completed by its deadline',
      upstream: [],
    },
    par,
  )
}

/** The last token of each act: its answer, or its beginning while there is none. */
function actTokens(rollback: Rollback): string[] {
  return [...rollback.acts.values()].map((act) => act.resultJti ?? act.jti)
}

/**
 * A walk that goes on leaves the place where it stands: what is at work there ends first, and what may have taken effect
 * is answered first. A child run that was taken back with the step that began it stays taken back: that step begins
 * another.
 */
function checkMayGoOn(run: Run, rollback: Rollback): void {
  if ([...run.rollbacks.values()].some((one) => isFromAbove(run, one))) {
    throw new Problem(
      'rollback_forbidden',
      `This run was taken back with the step that began it; go on in the run of that step`,
    )
  }
  const place = run.walk?.path.at(-1)?.visit
  if (!place || run.visits.get(place.node) !== place) return
  if (place.state.status === 'running') {
    throw new Problem(
      'rollback_busy',
      `"${labelOf(run.graph, place.node)}" is still running; wait for it, then go on`,
    )
  }
  if (isUnknown(run, place.state)) {
    throw new Problem(
      'rollback_busy',
      `Nobody knows yet whether "${labelOf(run.graph, place.node)}" took effect; answer that, then go on`,
    )
  }
}

/** The explicit act of a person after a rollback: end the run, or go on from the checkpoint. */
export function decideChoice(run: Run, wish: Wish<'choose'>, draft: Draft, now: number): void {
  const rollback = run.rollbacks.get(wish.rollback)
  if (!rollback) throw new Problem('not_found', `This run has no rollback "${wish.rollback.slice(0, 60)}"`)
  if (run.state.status !== 'rolled_back' || run.state.rollback !== rollback.id) {
    const how =
      rollback.choice === undefined
        ? 'there is nothing to choose now'
        : `"${rollback.choice}" was chosen already`
    throw new Problem('run_moved_on', `After ${rollback.id} ${how}`)
  }
  const atWork = [...run.active].find((node) => run.visits.get(node)?.state.status === 'running')
  if (wish.choice === 'end' && atWork !== undefined) {
    throw new Problem(
      'rollback_busy',
      `"${labelOf(run.graph, atWork)}" is still running; wait for it, then end the run`,
    )
  }
  if (wish.choice === 'go_on') checkMayGoOn(run, rollback)
  const choiceJti = draft.add(
    { type: 'rollback_choice', rollback: rollback.id, choice: wish.choice, by: wish.by },
    [rollback.resultJti ?? rollback.requestJti],
  )
  if (wish.choice === 'go_on') return
  const escalated = rollback.status === 'escalated' || rollback.status === 'failed'
  draft.add(
    {
      type: 'workflow_complete',
      wfId: run.graph.graph.name,
      terminalStatus: escalated ? 'escalated' : 'rolled_back',
      elapsedS: elapsedS(run, now),
      reason: clip(`${rollback.id} ended the run: ${rollback.reason}`, 600),
    },
    [startJti(run), choiceJti],
  )
}
