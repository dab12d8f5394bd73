import { Problem } from '@/lib/base/problem'
import type { Run } from './run'

/** Seconds since the run began, to the millisecond. */
export function elapsedS(run: Run, now: number): number {
  return Math.max(0, now - (run.start?.at ?? now)) / 1000
}

/** The refusal for a wish that came too late. */
export function movedOn(run: Run, wish: string): Problem {
  if (run.state.status === 'ended') {
    return new Problem('run_ended', `This run ended as ${run.state.terminal}; it cannot be ${wish} any more`)
  }
  return new Problem(
    'run_moved_on',
    `This run is ${run.state.status.replaceAll('_', ' ')}; it cannot be ${wish} now`,
  )
}
