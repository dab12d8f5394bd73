/*
 * The runs that a step began hold what goes back with it, so a plan names them and the agents in them. Only names, for people:
 * what of them may go back is critical-below.ts.
 */
import type { RunId } from '@/lib/base/ids'
import type { RunBelow, RunsBelow } from '@/lib/rollback/terms'
import { lookedAt } from './critical-below'
import type { WorkerPorts } from './ports'

type Ports = Pick<WorkerPorts, 'book' | 'childrenOf' | 'ledger'>

/** Runs that are named; the rest are counted. */
const mostNamed = 3
/** Runs that are looked at for the agents below one of them. */
const mostLookedAt = 20

/** The runs that this visit of a step began; undefined where it began none. */
export async function runsBelow(
  ports: Ports,
  runId: RunId,
  { node, visit }: { node: string; visit: number },
): Promise<RunsBelow | undefined> {
  const runs = await ports.childrenOf(runId, node, visit)
  if (runs.length === 0) return undefined
  const first: RunBelow[] = []
  for (const run of runs) {
    if (first.length === mostNamed) break
    const below = await named(ports, run)
    if (below) first.push(below)
  }
  return { count: runs.length, first }
}

/** Undefined for a run that is no longer kept. */
async function named(ports: Ports, run: RunId): Promise<RunBelow | undefined> {
  const header = await ports.ledger.header(run)
  if (!header) return undefined
  const agents = new Set<string>()
  const runs = [run]
  for (let at = 0; at < Math.min(runs.length, mostLookedAt); at++) {
    const id = runs[at] as RunId
    if (at > 0 && !(await ports.ledger.header(id))) continue
    const { places, calling } = await ports.book.read(id, lookedAt)
    for (const { agent } of places) if (agent !== undefined) agents.add(agent)
    for (const step of calling) runs.push(...(await ports.childrenOf(id, step.node, step.visit)))
  }
  return { run, workflow: header.workflowName, agents: [...agents] }
}
