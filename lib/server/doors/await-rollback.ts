/** Waiting for a rollback that an agent asked for, as long as a request may take. */
import type { RollbackId, RunId } from '@/lib/base/ids'
import type { Rollback, Run } from '@/lib/engine/run'
import type { Installation } from '../installation'

/** How long an agent is kept waiting for the result; afterwards it asks again and gets the same rollback. */
export const longestWaitMs = 55_000

/** How a rollback stands. */
export type Standing =
  | { stands: 'over'; rollback: Rollback }
  /** A person is asked, and nothing goes on before. */
  | { stands: 'asked'; rollback: Rollback }
  | { stands: 'under_way' }

/** The rollback once it is over or waits for a person; else as it stands when the time is up. */
export async function awaitRollback(
  house: Installation,
  runId: RunId,
  id: RollbackId,
  { orAsked = false }: { orAsked?: boolean } = {},
): Promise<Standing> {
  const { timer } = house.ports
  let changed: () => void = () => undefined
  const off = house.store.onAppend((event) => event.runId === runId && changed())
  const until = timer.now() + longestWaitMs
  try {
    for (;;) {
      const wake = new AbortController()
      changed = () => wake.abort()
      const found = await house.book.read(runId, (run) => standingOf(run, id, orAsked))
      if (found.stands !== 'under_way' || timer.now() >= until) return found
      await timer.waitUntil(until, wake.signal)
    }
  } finally {
    off()
  }
}

function standingOf(run: Run, id: RollbackId, orAsked: boolean): Standing {
  const rollback = run.rollbacks.get(id)
  if (!rollback) return { stands: 'under_way' }
  // The maps are copied: a run must not be kept past its reading.
  const copy = () => ({ ...rollback, acts: new Map(rollback.acts), votes: new Map(rollback.votes) })
  const isOver = rollback.status !== undefined && rollback.resultJti !== undefined
  if (isOver || rollback.supersededBy !== undefined) return { stands: 'over', rollback: copy() }
  const asks = [...run.openApprovals].some((approval) => {
    const kind = run.approvals.get(approval)?.kind
    return kind === 'rollback_unprepared' || kind === 'rollback_critical'
  })
  const isCurrent = run.state.status === 'rolling_back' && run.state.rollback === id
  return orAsked && isCurrent && asks ? { stands: 'asked', rollback: copy() } : { stands: 'under_way' }
}
