/*
 * Phase 1, judged. Every holder has said whether it can take its part back; what follows (cascade section 6.5):
 *
 *   all that the plan counts on are prepared                         execute
 *   one is not, and the workflow says `abort`                        abort: nothing is done, a person is told
 *   one is not, it says `partial`, and each one that is not is off
 *   the critical path, and something is left to do                   partial: all the others
 *   else                                                             ask: a person says how to go on
 *
 * What the plan already showed as "cannot be undone" or "cannot be restored" was agreed to with the plan: it surprises
 * nobody, and stops nothing.
 */
import type { ActGraph } from './critical-path'
import { onCriticalPath } from './critical-path'
import { statusWithoutAct } from './outcome'
import type { PlannedStep } from './plan'
import type { CannotPrepare, Vote } from './terms'

/** What an act is voted on and answered under: its checkpoint, or the step's own name where it left none. */
export function actKey(step: Pick<PlannedStep, 'checkpointId' | 'node' | 'visit'>): string {
  return step.checkpointId ?? `${step.node}/${step.visit}`
}

/** The steps of a plan that somebody has to do, or to be told, something about; in the order they are undone. */
export function actsOf(steps: readonly PlannedStep[]): PlannedStep[] {
  return steps.filter(
    ({ checkpointId, fate }) => checkpointId !== undefined || statusWithoutAct(fate) !== undefined,
  )
}

export type Judgement =
  | { decision: 'execute' }
  | { decision: 'abort' | 'partial' | 'ask'; unprepared: PlannedStep[]; critical: PlannedStep[] }

/** What follows from the votes on a plan's acts, by their keys. `rule`: what the workflow says; absent: ask. */
export function judge(
  acts: readonly PlannedStep[],
  votes: ReadonlyMap<string, { vote: Vote }>,
  graph: ActGraph | 'chain',
  rule: 'ask' | 'partial' | 'abort' = 'ask',
): Judgement {
  const counted = acts.filter(({ fate }) => statusWithoutAct(fate) === undefined)
  const unprepared = counted.filter((step) => votes.get(actKey(step))?.vote !== 'prepared')
  if (unprepared.length === 0) return { decision: 'execute' }
  const critical = [...onCriticalPath(counted, new Set(unprepared), graph)]
  const mayLeave = critical.length === 0 && unprepared.length < counted.length
  if (rule === 'abort') return { decision: 'abort', unprepared, critical }
  return { decision: rule === 'partial' && mayLeave ? 'partial' : 'ask', unprepared, critical }
}

const reasonWords: Record<CannotPrepare, string> = {
  expired: 'its checkpoint has expired',
  irreversible: 'it cannot be undone',
  hash_mismatch: 'it is not as this run left it',
  unknown_checkpoint: 'the checkpoint is not known there',
  conflict: 'another rollback is under way there',
  unreachable: 'no answer came in time',
}

interface Unprepared {
  label: string
  reason?: CannotPrepare
  changedBy?: string
}

/** Why a holder cannot, as a clause. `changedBy`: who changed its target since, where that was noticed. */
function whyUnprepared({ reason, changedBy }: Pick<Unprepared, 'reason' | 'changedBy'>): string {
  if (reason === 'hash_mismatch' && changedBy) return 'its target was changed since'
  return reason === undefined ? 'it gave no reason' : reasonWords[reason]
}

/**
 * The question about those that cannot prepare, one sentence or two; at most 600 characters with 20 steps. Who changed a
 * target since stands in its vote, and in full on the card.
 */
export function unpreparedSentence(
  unprepared: readonly Unprepared[],
  critical: readonly { label: string }[],
  others: number,
): string {
  const rest =
    others === 0
      ? 'nothing else is left to take back'
      : `${others === 1 ? '1 other step' : `${others} other steps`} can be taken back without`
  const ground =
    critical.length === 0 ? '' : ` What ${critical[0]?.label ?? ''} did rests on steps that would be undone.`
  return `${cannotBeTakenBack(unprepared)}; ${rest}.${ground}`
}

/** `"Mail" cannot be taken back: it cannot be undone`; of several each with why, the first three named. */
function cannotBeTakenBack(unprepared: readonly Unprepared[]): string {
  const [one, ...others] = unprepared
  if (one && others.length === 0) return `"${one.label}" cannot be taken back: ${whyUnprepared(one)}`
  const named = unprepared.slice(0, 3).map((each) => `"${each.label}" (${whyUnprepared(each)})`)
  const more = unprepared.length > 3 ? ` and ${unprepared.length - 3} more` : ''
  return `${named.join(', ')}${more} cannot be taken back`
}
