import type { PlanFate } from './terms'

/** How many steps of a plan meet each fate. */
export interface PlanCounts {
  restored: number
  compensated: number
  irreversible: number
  refused: number
  reset: number
  untouched: number
  /** Remote agents that restore or compensate. */
  agents: number
}

/** Counts the fates of a plan; `nodes` is how many the workflow has. */
export function countFates(
  steps: readonly { node: string; visit: number; fate: PlanFate; agent?: string }[],
  nodes: number,
): PlanCounts {
  const of = (fate: PlanFate) => steps.filter((step) => step.fate === fate).length
  const acting = steps.filter(({ fate }) => fate === 'restored' || fate === 'compensated')
  return {
    restored: of('restored'),
    compensated: of('compensated'),
    irreversible: of('irreversible'),
    refused: of('refused'),
    reset: of('reset'),
    // A step with a group of checkpoints is one step.
    untouched: nodes - new Set(steps.map(({ node, visit }) => `${node}/${visit}`)).size,
    agents: new Set(acting.map((step) => step.agent).filter((agent) => agent !== undefined)).size,
  }
}
