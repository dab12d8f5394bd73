import type { Rollback } from '@/lib/engine/run'
import type { Deadlines } from './deadlines'
import type { Hold } from './hold'
import type { WorkerPorts } from './ports'

/** The rollback an act belongs to, as its coordinator knows it. */
export interface Undoing {
  ports: WorkerPorts
  hold: Hold
  draining: AbortSignal
  rollback: Pick<
    Rollback,
    'id' | 'reason' | 'scope' | 'plan' | 'overwrite' | 'overwritten' | 'askedAt' | 'askedAgain'
  >
  /** When the rollback is out of time, ms since the epoch. */
  deadlineAt: number
  /** What times its requests. */
  deadlines: Deadlines
}

/** Gives a signal that fires when the worker loses the run, or at `until`. */
export function withSignal<T>(
  { ports, hold, deadlines }: Pick<Undoing, 'ports' | 'hold' | 'deadlines'>,
  until: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (until === undefined) return work(hold.lost)
  return deadlines.within(until - ports.timer.now(), ({ signal }) => work(signal))
}
