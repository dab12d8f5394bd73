/*
 * Purging checkpoints past their time (cascade section 9.3). The token that says so comes first, then the sealed state is
 * destroyed:
 *
 *   expired ─▶ hp:checkpoint_purged, durable ─▶ sealed state gone
 *
 * A crash in between leaves a state that the ledger calls gone; nobody uses it, since its time has passed, and the next
 * round destroys it without saying so twice. The other order could lose the token for good: nothing would be left to
 * tell that it is missing.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Installation } from './installation'

const purgedAtOnce = 500
/** A round ends there; the next one comes within a minute. */
const maxPurgedPerRound = 20_000

/** Purges what has expired; returns how many sealed states were destroyed. */
export async function purgeExpired(house: Pick<Installation, 'store' | 'book' | 'ports'>): Promise<number> {
  const { checkpoints } = house.store
  let purged = 0
  while (purged < maxPurgedPerRound) {
    const expired = await checkpoints.expired(house.ports.timer.now(), purgedAtOnce)
    const byRun = new Map<RunId, string[]>()
    for (const { jti, runId } of expired) byRun.set(runId, [...(byRun.get(runId) ?? []), jti])
    for (const [runId, jtis] of byRun) await say(house, runId, jtis)
    purged += await checkpoints.drop(expired.map(({ jti }) => jti))
    if (expired.length < purgedAtOnce) break
  }
  return purged
}

async function say({ book }: Pick<Installation, 'book'>, runId: RunId, checkpoints: string[]): Promise<void> {
  try {
    await book.execute(runId, { type: 'purged', checkpoints })
  } catch (error) {
    // The ledger says so already: the round before was cut short.
    if (!isProblem(error, 'run_moved_on')) throw error
  }
}
