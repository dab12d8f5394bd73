/*
 * The runs below a run: how many each of its steps began and how they stand, and whether one of them, however deep,
 * waits for a person. A parent's own row says only that it runs; somebody who looks at it must not have to search.
 */
import type { RunId } from '@/lib/base/ids'
import type { ChildCount, RunRecord } from '@/lib/store/store'
import { runRowOf } from '@/lib/view/rows'
import type { ChildCounts, ChildSummary, RunRow, WaitsIn } from '@/lib/view/run-wire'
import type { ShownState } from '@/lib/view/shown-state'
import { maxCallDepth } from '@/lib/worker/child-runs'
import type { Installation } from './installation'

/** Runs looked at on each level; a question below more than these is found in the inbox. */
const widest = 200
const underWay = ['running', 'waiting', 'paused', 'cancelling', 'rolling_back'] as const

/** How the runs below this one stand. */
export async function childrenOf(installation: Installation, runId: RunId): Promise<ChildSummary> {
  const { runs } = installation.store
  const counts = await runs.childCounts(runId)
  if (counts.length === 0) return { steps: [] }
  const steps = grouped(counts)
  await Promise.all(
    steps.map(async (step) => {
      if (step.total !== 1) return
      const parentStep = { node: step.node, visit: step.visit }
      const { items } = await runs.list({ parent: runId, parentStep }, { limit: 1 })
      if (items[0]) step.only = runRowOf(items[0])
    }),
  )
  const under = await waitsBelow(installation, [runId])
  const waitsIn = under.get(runId)
  return { steps, ...(waitsIn && { waitsIn }) }
}

function grouped(counts: ChildCount[]): ChildCounts[] {
  const steps = new Map<string, ChildCounts>()
  for (const { node, visit, n, ...run } of counts) {
    const key = `${node}\n${visit}`
    const step = steps.get(key) ?? { node, visit, total: 0, states: {} }
    const state = stateOf(run)
    step.total += n
    step.states[state] = (step.states[state] ?? 0) + n
    steps.set(key, step)
  }
  return [...steps.values()]
}

/** The state a run's row shows as (components/ui/state.tsx has the same for its word). */
function stateOf({
  status,
  terminal,
  stopped,
}: Pick<ChildCount, 'status' | 'terminal' | 'stopped'>): ShownState {
  switch (status) {
    case 'running':
    case 'cancelling':
      return 'running'
    case 'waiting':
      return 'waiting'
    case 'paused':
      return 'skipped'
    case 'rolling_back':
    case 'rolled_back':
      return 'rolled_back'
    case 'ended':
      if (stopped) return stopped === 'flagged' ? 'failed' : stopped
      if (terminal === 'success') return 'done'
      return terminal === 'escalated' || terminal === 'rolled_back' ? terminal : 'failed'
    default:
      return status satisfies never
  }
}

/** Rows as lists show them, with what those that run, go back, or ask nobody themselves, wait for below them. */
export async function rowsWithWaits(installation: Installation, records: RunRecord[]): Promise<RunRow[]> {
  const held = ({ status, openApprovals }: RunRecord) => status === 'waiting' && openApprovals === 0
  const moves = ({ status }: RunRecord) => status === 'running' || status === 'rolling_back'
  const running = records.filter((run) => moves(run) || held(run)).map(({ runId }) => runId)
  const below = await waitsBelow(installation, running)
  return records.map((record) => {
    const row = runRowOf(record)
    const waitsIn = below.get(record.runId)
    return waitsIn ? { ...row, waitsIn } : row
  })
}

/** The first question below each of these runs that anybody is asked. */
async function waitsBelow(installation: Installation, roots: RunId[]): Promise<Map<RunId, WaitsIn>> {
  const { runs, approvals } = installation.store
  const found = new Map<RunId, WaitsIn>()
  /** Each run of the level, and the root it is below. */
  let level = new Map(roots.map((root) => [root, root]))
  for (let depth = 0; depth < maxCallDepth && level.size > 0; depth++) {
    const below = await runs.list({ parents: [...level.keys()], status: [...underWay] }, { limit: widest })
    const next = new Map<RunId, RunId>()
    for (const run of below.items) {
      const root = run.parent && level.get(run.parent.runId)
      if (!root) continue
      next.set(run.runId, root)
      if (run.openApprovals === 0 || found.has(root)) continue
      const asked = (await approvals.ofRun(run.runId)).find(({ state }) => state === 'open')
      if (!asked) continue
      const { id: approval, role, askedAt } = asked
      found.set(root, { run: run.runId, workflow: run.workflowName, approval, role, askedAt })
    }
    level = next
  }
  return found
}
