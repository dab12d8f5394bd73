/*
 * What steps of this installation reach: the workflow's policy, secrets, models, MCP servers and child runs. Put
 * together here, because each of them is another room's.
 */
import { noReach } from '@/lib/runners/no-reach'
import { childRunsOf } from '@/lib/worker/child-runs'
import type { ReachOf } from '@/lib/worker/ports'
import { loadChild } from './child-workflows'
import type { Installation } from './installation'

/** The reach of each step. `house` is asked for when a step begins: the installation is made with this in it. */
export function reachOf(house: () => Installation): ReachOf {
  return (step) => ({
    ...noReach,
    children: childRunsOf(house().ports, (workflow, parent) => loadChild(house(), workflow, parent), step),
  })
}
