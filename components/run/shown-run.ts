import type { RunFold } from '@/lib/view/run-fold'
import type { RunAt } from '@/lib/view/timeline/run-at'

/** A run as a page shows it: as it is now, or as it was after one of its tokens. */
export type ShownRun = RunFold | RunAt
