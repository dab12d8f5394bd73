import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Actor } from '@/lib/engine/facts'
import type { LeaseRef } from '@/lib/engine/ports'
import type { WorkerPorts } from './ports'

/** Asks for a run to be cancelled; one that is being cancelled already, or has ended, is left alone. */
export async function cancelRun(
  { book }: Pick<WorkerPorts, 'book'>,
  runId: RunId,
  { by, reason }: { by: Actor; reason: string },
  lease?: LeaseRef,
): Promise<void> {
  await book.execute(runId, { type: 'cancel', by, reason }, { lease }).catch((error) => {
    if (!isProblem(error, 'run_moved_on') && !isProblem(error, 'run_ended')) throw error
  })
}
