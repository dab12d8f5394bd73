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

/**
 * True when a target in the state `now` was changed after `step` by anything but `others`, the run's other steps on it
 * that are not taken back; false when it was not; undefined when that cannot be told. The order of `others` is free.
 */
export function isChangedSince(step: OwnStep, others: readonly OtherStep[], now: Hash): boolean | undefined {
  const ledTo = new Set([step.change.left])
  if (ledTo.has(now)) return false
  const after = others
    .filter(({ ended }) => ended === undefined || ended > step.began)
    .sort((a, b) => a.began - b.began)
  let until = step.ended
  let isUnknown = false
  for (const { began, ended, change } of after) {
    if (!change || ended === undefined) {
      isUnknown = true
    } else if (began < until || ledTo.has(change.found)) {
      ledTo.add(change.left)
      until = Math.max(until, ended)
    }
  }
  if (ledTo.has(now)) return false
  return isUnknown ? undefined : true
}
