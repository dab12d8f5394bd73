/*
 * Critical steps of the runs below a step. They go back with it, so a plan names them: whoever agrees to the plan agrees to
 * these, and what became critical later is left to a person (take-children-back.ts).
 *
 * Every run below is looked at, however many there are. It goes down before it goes on, so that it never keeps more than
 * the ids of the runs that one step began, once for each level: at most 10,000 of a map, at most 8 deep.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RunId } from '@/lib/base/ids'
import { visitsInScope } from '@/lib/engine/evolve-rollback'
import { beginsRuns } from '@/lib/engine/own-steps'
import type { Run } from '@/lib/engine/run'
import { undoableCheckpoints } from '@/lib/engine/undoable'
import type { StepBelow } from '@/lib/rollback/terms'
import { agentOf, type GraphIndex, labelOf } from '@/lib/workflow/graph-index'
import type { WorkerPorts } from './ports'

type Ports = Pick<WorkerPorts, 'book' | 'childrenOf' | 'graphOf' | 'ledger'>

/** Runs that are looked at before others have a turn: most take no longer than one row. */
const runsPerTurn = 200

/** The critical steps below this visit of a step that left something to take back, run by run. */
export async function criticalBelow(
  ports: Ports,
  runId: RunId,
  { node, visit }: { node: string; visit: number },
): Promise<StepBelow[]> {
  const found: StepBelow[] = []
  let looked = 0
  for await (const step of stepsBelow(ports, runId, { node, visit })) {
    if (step) found.push(step)
    else if (++looked % runsPerTurn === 0) await nextTurn()
  }
  return found
}

/** The critical steps, and nothing once for each run. */
async function* stepsBelow(
  ports: Ports,
  runId: RunId,
  { node, visit }: { node: string; visit: number },
): AsyncGenerator<StepBelow | undefined> {
  for (const run of await ports.childrenOf(runId, node, visit)) {
    yield undefined
    // Most runs have neither, and need not be folded to know that.
    const header = await ports.ledger.header(run)
    if (header === undefined || !mayHold(await ports.graphOf(header.version))) continue
    const { critical, calling } = await ports.book.read(run, lookedAt)
    for (const step of critical) yield { run, workflow: header.workflowName, ...step }
    for (const step of calling) yield* stepsBelow(ports, run, step)
  }
}

function mayHold(graph: GraphIndex): boolean {
  return graph.graph.nodes.some(({ id, priority }) => priority === 'critical' || beginsRuns({ graph }, id))
}

/** Of what would be taken back: all, the critical steps, and those that began runs. */
export function lookedAt(run: Run) {
  const whole = { scope: 'full_workflow', node: '' } as const
  const visits = visitsInScope(run, whole).filter((visit) => undoableCheckpoints(run, visit).length > 0)
  const places = visits.map(({ node, visit }) => {
    const agent = agentOf(run.graph, node)
    return { node, visit, label: labelOf(run.graph, node), ...(agent !== undefined && { agent }) }
  })
  return {
    places,
    critical: places.filter(({ node }) => run.graph.nodes.get(node)?.priority === 'critical'),
    calling: places.filter(({ node }) => beginsRuns(run, node)),
  }
}

/** What tells such a step from any other. */
export function belowKey({ run, node, visit }: Pick<StepBelow, 'run' | 'node' | 'visit'>): string {
  return `${run}/${node}/${visit}`
}
