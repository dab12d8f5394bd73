/** What a run in which nothing moves waits for, in words: its row says only that it waits. */
import type { RunId } from '@/lib/base/ids'
import { partyName } from '@/lib/base/party-name'
import type { Run } from '@/lib/engine/run'
import type { RunRow } from '@/lib/view/run-wire'
import type { Installation } from './installation'

/** Rows with what those wait for that nobody is asked about. */
export async function rowsWithReasons({ book }: Installation, rows: RunRow[]): Promise<RunRow[]> {
  return Promise.all(
    rows.map(async (row) => {
      if (row.status !== 'waiting' || row.waitsIn || row.openApprovals > 0) return row
      // A run whose ledger cannot be read says so on its own page; the overview stands without its reason.
      const waitsFor = await book.read(row.id as RunId, waitWords).catch(() => undefined)
      return waitsFor === undefined ? row : { ...row, waitsFor }
    }),
  )
}

/** "behind the breaker of traffic-monitor"; undefined when nothing in it says. */
export function waitWords(run: Pick<Run, 'active' | 'visits'>): string | undefined {
  const behind = new Set<string>()
  let isOffered = false
  for (const node of run.active) {
    const state = run.visits.get(node)?.state
    if (state?.status !== 'waiting') continue
    if (state.for === 'breaker') behind.add(partyName(state.downstream))
    if (state.for === 'agent') isOffered = true
  }
  const [first, ...more] = behind
  if (first === undefined) return isOffered ? 'for an agent to claim its work' : undefined
  if (more.length === 0) return `behind the breaker of ${first}`
  return `behind the breakers of ${first} and ${more.length} more`
}
