/*
 * Has somebody else changed a target since a step of the run did? Putting back what was sealed before the step would
 * then undo that change, too.
 *
 * A step says what state it found and what it left, and the target says what state it is in. What the run itself did to
 * it afterwards is followed from step to step:
 *
 *   the step left S1 ─▶ a later step found S1, left S2 ─▶ another one found S2, left S3 ─▶ now S3: this run's own doing
 *                                                                                      ─▶ now S9: somebody else's
 *
 * Steps at work at the same time seal before either has had its effect. So where one overlaps with another that is on
 * the way, what it left is on the way as well. A later step that does not say what it left might have led anywhere:
 * then nothing is claimed, since a false alarm costs the trust in all the others.
 */
import type { Hash } from '@/lib/base/hash'
import type { StateChange } from './terms'

/** A step of the run on a target. */
export interface OwnStep {
  /** When the state before it was sealed, and when it was over, ms since the epoch. */
  began: number
  ended: number
  change: StateChange
}

/** One that may have touched the target as well; what is not known of it is absent. */
export type OtherStep = Pick<OwnStep, 'began'> & Partial<OwnStep>

/** The states that the run itself led a target to. */
export interface OwnStates {
  states: ReadonlySet<Hash>
  /** A later step does not say what it left: there may be more of them. */
  isUnknown: boolean
}

/**
 * What a target may be in after `step` where nothing changed it but `others`, the run's other steps on it that are not
 * taken back. The order of `others` is free.
 */
export function ownStates(step: OwnStep, others: readonly OtherStep[]): OwnStates {
  const states = new Set([step.change.left])
  let until = step.ended
  let isUnknown = false
  for (const { began, ended, change } of laterOf(step, others)) {
    if (!change || ended === undefined) {
      isUnknown = true
    } else if (began < until || states.has(change.found)) {
      states.add(change.left)
      until = Math.max(until, ended)
    }
  }
  return { states, isUnknown }
}

/**
 * True when a target in the state `now` was changed after `step` by anything but `others`; false when it was not;
 * undefined when that cannot be told.
 */
export function isChangedSince(step: OwnStep, others: readonly OtherStep[], now: Hash): boolean | undefined {
  if (step.change.left === now) return false
  const { states, isUnknown } = ownStates(step, others)
  if (states.has(now)) return false
  return isUnknown ? undefined : true
}

/**
 * The state that somebody else brought a changed target to: the one it is in now, or the one that the run's own later
 * steps found and went on from.
 */
export function foreignState(step: OwnStep, others: readonly OtherStep[], now: Hash): Hash {
  const left = new Map<Hash, Hash>()
  for (const { change } of laterOf(step, others)) if (change) left.set(change.left, change.found)
  const seen = new Set<Hash>()
  let state = now
  for (let found = left.get(state); found !== undefined && !seen.has(found); found = left.get(state)) {
    seen.add(state)
    state = found
  }
  return state
}

/** Those that were not over when the step began, the first to begin first. */
function laterOf(step: OwnStep, others: readonly OtherStep[]): OtherStep[] {
  return others
    .filter(({ ended }) => ended === undefined || ended > step.began)
    .sort((a, b) => a.began - b.began)
}
