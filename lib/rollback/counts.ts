import type { PlanFate } from './terms'

/** How many steps of a plan meet each fate. */
export interface PlanCounts {
  restored: number
  /** Of those restored, the ones whose target somebody else changed since: left unless the rollback overwrites. Absent: none. */
  changed?: number
  compensated: number
  irreversible: number
  refused: number
  reset: number
  untouched: number
  /** Remote agents that restore or compensate, those of `changed` apart. */
  agents: number
}

interface CountedStep {
  node: string
  visit: number
  fate: PlanFate
  agent?: string
  changedSince?: true
}

/** Counts the fates of a plan; `nodes` is how many the workflow has. */
export function countFates(steps: readonly CountedStep[], nodes: number): PlanCounts {
  const of = (fate: PlanFate) => steps.filter((step) => step.fate === fate).length
  const changed = steps.filter(({ changedSince }) => changedSince).length
  return {
    restored: of('restored'),
    ...(changed > 0 && { changed }),
    compensated: of('compensated'),
    irreversible: of('irreversible'),
    refused: of('refused'),
    reset: of('reset'),
    // A step with a group of checkpoints is one step.
    untouched: nodes - new Set(steps.map(({ node, visit }) => `${node}/${visit}`)).size,
    agents: actingAgents(steps.filter(({ changedSince }) => !changedSince)),
  }
}

/** The same counts where what somebody else changed since is put back, too. */
export function overwriting(
  { changed: _, ...counts }: PlanCounts,
  steps: readonly Pick<CountedStep, 'fate' | 'agent'>[],
): PlanCounts {
  return { ...counts, agents: actingAgents(steps) }
}

function actingAgents(steps: readonly Pick<CountedStep, 'fate' | 'agent'>[]): number {
  const acting = steps.filter(({ fate }) => fate === 'restored' || fate === 'compensated')
  return new Set(acting.map(({ agent }) => agent).filter((agent) => agent !== undefined)).size
}
