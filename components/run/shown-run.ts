import type { RunFold } from '@/lib/view/run-fold'
import type { RunAt } from '@/lib/view/timeline/run-at'

/** A run as a page shows it: as it is now, or as it was after one of its tokens. */
export type ShownRun = RunFold | RunAt

/** The run as the page shows it, and the moment of it. */
export interface ShownMoment {
  run: ShownRun
  /** The token the page stands at; undefined while it follows the run. */
  at: number | undefined
  /** When that was, in ms since the epoch. */
  asOf: number | undefined
}
