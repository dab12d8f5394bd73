/*
 * Critical steps of the runs below a step. They go back with it, so a plan names them: whoever agrees to the plan agrees to
 * these, and what became critical later is left to a person (take-children-back.ts).
 */
import type { RunId } from '@/lib/base/ids'
import { visitsInScope } from '@/lib/engine/evolve-rollback'
import { beginsRuns } from '@/lib/engine/own-steps'
import type { Run } from '@/lib/engine/run'
import { undoableCheckpoints } from '@/lib/engine/undoable'
import type { StepBelow } from '@/lib/rollback/terms'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { WorkerPorts } from './ports'

/** Runs that are looked at below one step. What is critical beyond them is not named, and so not taken back unasked. */
const mostRuns = 1000

/** The critical steps below this visit of a step that left something to take back, run by run. */
export async function criticalBelow(
  ports: Pick<WorkerPorts, 'book' | 'childrenOf' | 'graphOf' | 'ledger'>,
  runId: RunId,
  { node, visit }: { node: string; visit: number },
): Promise<StepBelow[]> {
  const found: StepBelow[] = []
  const runs = await ports.childrenOf(runId, node, visit)
  for (let at = 0; at < Math.min(runs.length, mostRuns); at++) {
    const id = runs[at] as RunId
    // Most runs have neither, and need not be folded to know that.
    const version = (await ports.ledger.header(id))?.version
    if (version === undefined || !mayHold(await ports.graphOf(version))) continue
    const { critical, calling } = await ports.book.read(id, lookedAt)
    for (const step of critical) found.push({ run: id, ...step })
    for (const step of calling) runs.push(...(await ports.childrenOf(id, step.node, step.visit)))
  }
  return found
}

function mayHold(graph: GraphIndex): boolean {
  return graph.graph.nodes.some(({ id, priority }) => priority === 'critical' || beginsRuns({ graph }, id))
}

/** Of what would be taken back: the critical steps, and those that began runs. */
function lookedAt(run: Run) {
  const whole = { scope: 'full_workflow', node: '' } as const
  const visits = visitsInScope(run, whole).filter((visit) => undoableCheckpoints(run, visit).length > 0)
  const places = visits.map(({ node, visit }) => ({ node, visit, label: labelOf(run, node) }))
  return {
    critical: places.filter(({ node }) => run.graph.nodes.get(node)?.priority === 'critical'),
    calling: places.filter(({ node }) => beginsRuns(run, node)),
  }
}

/** What tells such a step from any other. */
export function belowKey({ run, node, visit }: Omit<StepBelow, 'label'>): string {
  return `${run}/${node}/${visit}`
}

function labelOf(run: Run, node: string): string {
  return run.graph.nodes.get(node)?.label || node
}
