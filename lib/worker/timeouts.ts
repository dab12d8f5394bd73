/*
 * Timeouts down the chain: run, step, child run or agent. Each has less than what called it, so that a failure comes back
 * up as an answer instead of as silence on every floor (cascade section 4.5).
 *
 *   run's deadline ── margin ──▶ step's timeout ── margin ──▶ child run's deadline, or what an agent is told
 */
import { withMargin } from '@/lib/runners/time-left'

/** What is left to a step of a run that is out of its time already: to hear that it is. */
const leastMs = 1

/**
 * Milliseconds a step may take: its own time, and no more than its run has left less a margin. `runEndsAt`: ms since the
 * epoch; undefined when the run has no bound.
 */
export function stepLimitMs(ownTimeoutS: number, runEndsAt: number | undefined, now: number): number {
  const ownMs = ownTimeoutS * 1000
  if (runEndsAt === undefined) return ownMs
  return Math.max(leastMs, Math.min(ownMs, withMargin(runEndsAt - now)))
}

/** When a child run has to be over, ms since the epoch: before the step that waits for it is. */
export function childDeadlineAt(stepEndsAt: number, now: number): number {
  return now + Math.max(leastMs, Math.floor(withMargin(stepEndsAt - now)))
}
