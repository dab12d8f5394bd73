/** The counts a fold keeps as it goes, counted from nothing; and a run as one text, to compare. */
import type { Run } from '@/lib/engine/run'
import { Broken } from './broken'

/** Throws Broken when what `evolve` keeps by adding and taking away is not what is there. */
export function recount(run: Run): void {
  const counts = new Map<string, number>()
  const active: string[] = []
  const ready: string[] = []
  for (const [node, visit] of run.visits) {
    const { status } = visit.state
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (status === 'running' || status === 'waiting' || status === 'approved') active.push(node)
    if (run.walk) {
      if (status === 'pending' && run.walk.path.at(-1)?.visit === visit) ready.push(node)
      continue
    }
    const parents = run.graph.parents.get(node) ?? []
    const missing = parents.filter((parent) => run.visits.get(parent)?.state.status !== 'done').length
    same(`missing parents of ${node}`, run.missing.get(node), missing)
    if (status === 'pending' && missing === 0) ready.push(node)
  }
  for (const [status, kept] of run.counts) same(`steps that are ${status}`, kept, counts.get(status) ?? 0)
  for (const [status, count] of counts)
    same(`steps that are ${status}`, run.counts.get(status as never), count)
  same('active steps', [...run.active].sort().join(), active.sort().join())
  same('ready steps', [...run.ready].sort().join(), ready.sort().join())
  const open = [...run.approvals.values()].filter(({ state }) => state.status === 'open').map(({ id }) => id)
  same('open questions', [...run.openApprovals].sort().join(), open.sort().join())
}

function same(what: string, kept: unknown, counted: unknown): void {
  if (kept !== counted)
    throw new Broken(`The fold keeps ${String(kept)} as ${what}; counted anew it is ${String(counted)}`)
}

/** Everything in the run but its graph, as one text. */
export function digestOf(run: Run): string {
  const { graph: _graph, ...rest } = run
  return JSON.stringify(rest, (_key, value: unknown) => {
    if (value instanceof Map) return [...value]
    return value instanceof Set ? [...value] : value
  })
}
