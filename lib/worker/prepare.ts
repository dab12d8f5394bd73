/*
 * Phase 1 of a rollback (cascade section 6.5): every act's holder says whether it can take its part back. Nothing is
 * changed by it. Each vote is a token of its own, durable before phase 2; whoever has voted is not asked again, also by
 * a coordinator that comes after a crash.
 *
 *   how       who                                              looked at
 *   asked     an agent that speaks two phases                  its own answer, signed, on top of the checkpoint here
 *   derived   an agent of one phase; what cannot be undone     the checkpoint here: signature, hash, time, reversibility
 *   here      what this installation puts back itself          the same
 *
 * A holder whose target was changed by somebody else since the step cannot either (`hash_mismatch`), unless a person wants
 * that undone, too, with the request or as the answer to this: it is looked at anew, and nothing is asked of it.
 *
 * An agent without an answer is asked again until half of the rollback's time is over; then it is `unreachable`.
 */
import { uuidOfText } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Verification } from '@/lib/checkpoint/verify'
import { isOverwritten } from '@/lib/engine/rollback-question'
import type { CheckpointRef } from '@/lib/engine/run'
import { statusWithoutAct } from '@/lib/rollback/outcome'
import type { PlannedStep } from '@/lib/rollback/plan'
import { changedSentence, whoChanged } from '@/lib/rollback/sentence'
import type { CannotPrepare } from '@/lib/rollback/terms'
import { actKey } from '@/lib/rollback/votes'
import { EffectFailed, type Prepared, type Snapshot } from '@/lib/runners/runner'
import { boundedMap } from './bounded'
import { type Changed, changedByNow } from './changed-since'
import { failureOf } from './effects'
import { HandedOver } from './handed-over'
import { snapshotOf, verified } from './plan'
import { mayAnswerYet } from './undo-act'
import { callOf } from './undo-call'
import { type Undoing, withSignal } from './undoing'

/** Holders asked at once. */
const asksAtOnce = 16
/** How long an agent may take for one answer. */
const answerMs = 5000
/** An agent that does not answer is asked again after this long, and longer each time. */
const askAgainMs = { first: 250, longest: 4000 }

interface Said extends Prepared {
  agent: string
  how: 'asked' | 'derived' | 'here'
  /** Somebody else changed its target since. */
  changed?: Changed
  /** Its checkpoint here does not verify, and the code of why. */
  unverified?: string
}

/** Records a vote for each of these acts. `until`: when those without an answer count as unreachable, ms since the epoch. */
export async function prepare(of: Undoing, acts: readonly PlannedStep[], until: number): Promise<void> {
  await boundedMap(acts, asksAtOnce, (step) => vote(of, step, until))
}

async function vote(of: Undoing, step: PlannedStep, until: number): Promise<void> {
  const { ports, hold, rollback } = of
  const { agent, how, vote, reason, conflict, changed, unverified, description } = await said(of, step, until)
  const { runId } = hold.lease
  await ports.book.execute(
    runId,
    {
      type: 'voted',
      rollback: rollback.id,
      node: step.node,
      visit: step.visit,
      checkpointId: actKey(step),
      agent,
      vote,
      how,
      ...(vote === 'cannot_prepare' && { reason: reason ?? 'unreachable' }),
      ...(conflict !== undefined && { conflict }),
      ...(changed && { changedBy: whoChanged(changed.by, runId) }),
      ...(changed?.by && { changedRun: changed.by.run, changedNode: changed.by.node }),
      ...(unverified !== undefined && { unverified }),
      description,
    },
    hold.along,
  )
}

async function said(of: Undoing, step: PlannedStep, until: number): Promise<Said> {
  const { ports, hold } = of
  const { iss } = ports.signer
  const ref = await ports.book.read(hold.lease.runId, (run) => run.checkpoints.get(step.checkpointId ?? ''))
  const how = step.agent !== undefined || ref?.undo === 'remote' ? ('derived' as const) : ('here' as const)
  const cannot = (reason: CannotPrepare, description: string): Said => ({
    ...{ agent: step.agent ?? iss, how, vote: 'cannot_prepare', reason, description },
  })
  if (!ref) return cannot('unknown_checkpoint', step.sentence)
  if (step.fate === 'irreversible') return cannot('irreversible', step.sentence)
  const { state, verification, problem } = await verified(ports, hold.lease.runId, ref)
  if (statusWithoutAct(step.fate) !== undefined || state === undefined || verification !== 'ok') {
    const why = cannot(reasonOf(verification), problem?.message ?? step.sentence)
    return problem ? { ...why, unverified: problem.code } : why
  }
  const snapshot = snapshotOf(ref, state)
  const changed = await changedAtVote(of, step, ref, snapshot)
  if (changed) {
    const { runId } = hold.lease
    const why = changedSentence({ label: step.label, checkpoint: ref }, changed.by, runId)
    return { ...cannot('hash_mismatch', why), changed }
  }
  const agent = typeof state.agent === 'string' && ref.undo === 'remote' ? state.agent : (step.agent ?? iss)
  const told = ref.undo === 'remote' ? await asked(of, step, ref, snapshot, until) : undefined
  if (told) return { ...told, agent, how: 'asked' }
  const holder = how === 'here' ? 'Its state is sealed here' : 'It speaks one phase; its state is sealed'
  return { agent, how, vote: 'prepared', description: `${holder}, verifies and can be put back` }
}

/** Looked at anew. Where it does not say now what it said for the plan, that stands. */
async function changedAtVote(
  { ports, hold, rollback }: Undoing,
  step: PlannedStep,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<Changed | undefined> {
  if (isOverwritten(rollback, actKey(step))) return undefined
  const changed = await changedByNow(ports, hold.lease.runId, ref, snapshot)
  const { changedSince, changedBy } = step
  if (changed === undefined && changedSince) return { ...(changedBy && { by: changedBy }) }
  return changed || undefined
}

function reasonOf(verification: Verification): CannotPrepare {
  switch (verification) {
    case 'expired':
      return 'expired'
    case 'missing':
      return 'unknown_checkpoint'
    // A plan that shows it as refused was made before it verified again: still not what was agreed to.
    case 'ok':
    case 'tampered':
      return 'hash_mismatch'
    default:
      return verification satisfies never
  }
}

/** The agent's own answer; undefined where it speaks one phase. */
async function asked(
  of: Undoing,
  step: PlannedStep,
  ref: CheckpointRef,
  snapshot: Snapshot,
  until: number,
): Promise<Prepared | undefined> {
  const { ports, hold, draining, rollback } = of
  // The same request however often it is sent, and by whomever; when a person has them asked again, another one.
  const round = rollback.askedAgain === undefined ? '' : `/${rollback.askedAgain}`
  const jti = uuidOfText(`${rollback.id}/${ref.jti}/prepare${round}`)
  const call = await callOf(of, step, ref, snapshot, jti)
  if (!call?.runner.prepare) return undefined
  const { runner, action, effects, request } = call
  for (let pauseMs = askAgainMs.first; ; pauseMs = Math.min(2 * pauseMs, askAgainMs.longest)) {
    try {
      hold.check(ports.timer.now())
      const answerBy = Math.min(until, ports.timer.now() + answerMs)
      return await withSignal(
        of,
        answerBy,
        async (signal) => await runner.prepare?.(action, snapshot, effects(signal), request),
      )
    } catch (error) {
      if (isProblem(error, 'lease_lost') || error instanceof HandedOver) throw error
      // What was given up for want of the run says nothing of the agent.
      if (hold.lost.aborted || draining.aborted) throw new HandedOver(step.node)
      const isOver = !mayAnswerYet(error) || ports.timer.now() + pauseMs >= until
      if (isOver) return unreachable(error)
      await ports.timer.waitUntil(ports.timer.now() + pauseMs, hold.lost)
    }
  }
}

function unreachable(error: unknown): Prepared {
  const said = isProblem(error) ? error.message : failureOf(error).description
  const isKnown = error instanceof EffectFailed || isProblem(error)
  return {
    vote: 'cannot_prepare',
    reason: 'unreachable',
    description: isKnown ? said : 'It could not be asked; the server log has the details',
  }
}
