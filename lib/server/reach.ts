/*
 * What steps of this installation reach: the workflow's policy, secrets, models, MCP servers and child runs. Put
 * together here, because each of them is another room's.
 */
import { grantedTo } from '@/lib/policy/grants'
import { noReach, type Reach } from '@/lib/runners/no-reach'
import { childRunsOf } from '@/lib/worker/child-runs'
import type { ReachingStep, ReachOf } from '@/lib/worker/ports'
import { loadChild } from './child-workflows'
import type { Installation } from './installation'

/** The reach of each step. `house` is asked for when a step begins: the installation is made with this in it. */
export function reachOf(house: () => Installation): ReachOf {
  return (step) => ({
    ...noReach,
    allow: allowOf(house(), step),
    children: childRunsOf(house().ports, (workflow, parent) => loadChild(house(), workflow, parent), step),
  })
}

/** The gate of the run's policy, as it was granted. */
function allowOf({ policies, ports }: Installation, { run }: ReachingStep): Reach['allow'] {
  return policies.gateOf(grantedTo(run.graph.graph, ports).policy)
}
