/*
 * Which values a run speaks of. Values are shared between runs by their hash, so whoever may see a run sees those its
 * tokens name, and no others: what it was begun with, what its steps did and gave, what people were shown, its artifacts.
 */

import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import type { Run } from '@/lib/engine/run'
import type { Installation } from './installation'

const rowsPerRead = 2_000

/** True when the run's ledger names that value. */
export async function speaksOf(
  { book, store }: Pick<Installation, 'book' | 'store'>,
  run: RunId,
  hash: Hash,
): Promise<boolean> {
  const { known, wasTakenBack } = await book.read(run, (folded) => ({
    known: isNamed(folded, hash),
    wasTakenBack: folded.rollbacks.size > 0,
  }))
  if (known || !wasTakenBack) return known
  // The fold forgets what a rollback left behind; the ledger does not, and neither do the rows that show it.
  for (let after = 0; ; ) {
    const rows = await store.ledger.rows(run, after, rowsPerRead)
    if (rows.some(({ token }) => namedBy(token) === hash)) return true
    if (rows.length < rowsPerRead) return false
    after = rows.at(-1)?.seq ?? 0
  }
}

function isNamed(run: Run, hash: Hash): boolean {
  if (run.start?.input === hash) return true
  if (run.artifactWrites.some((write) => write.value === hash)) return true
  const isOf = (visit: { action?: Hash; state: { status: string; output?: Hash } }) =>
    visit.action === hash || (visit.state.status === 'done' && visit.state.output === hash)
  for (const visit of run.visits.values()) if (isOf(visit)) return true
  for (const visits of run.past.values()) if (visits.some(isOf)) return true
  for (const approval of run.approvals.values()) {
    if (approval.action === hash || approval.preview === hash) return true
    if (approval.state.status === 'decided' && approval.state.edited === hash) return true
  }
  for (const rollback of run.rollbacks.values()) if (rollback.plan === hash) return true
  return false
}

/** The value that a token of a step or an artifact names. */
function namedBy(token: string): Hash | undefined {
  try {
    const fact = factOf(parseClaims(unverifiedPayload(token)))
    if (fact?.type === 'artifact_set') return fact.value
    return fact?.type === 'task_complete' || fact?.type === 'step_carried' ? fact.output : undefined
  } catch {
    return undefined
  }
}
