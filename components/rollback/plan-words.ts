import type { RollbackScope } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import type { PlanFate, RollbackPlanView } from '@/lib/view/wire'

export const scopeWords: Record<RollbackScope, string> = {
  single: 'This step',
  sub_dag: 'This step and all that followed',
  full_workflow: 'Whole run',
}

/** The sentence of the plan as a wish: "Roll back 4 steps, compensating 1". */
export function buttonWords({ counts }: RollbackPlanView): string {
  const taken = counts.restored + counts.compensated
  if (taken === 0) return counts.reset > 0 ? `Reset ${count(counts.reset, 'step')}` : 'Nothing to roll back'
  const how = counts.compensated > 0 ? `, compensating ${counts.compensated}` : ''
  return `Roll back ${count(taken, 'step')}${how}`
}

/** Why the button is off, in one sentence; undefined when it may be pressed. */
export function whyNot(plan: RollbackPlanView): string | undefined {
  if (plan.forbidden) return plan.forbidden.sentence
  const { restored, compensated, reset, irreversible } = plan.counts
  if (restored + compensated + reset + irreversible === 0)
    return 'Nothing here has been done, so there is nothing to take back.'
  return undefined
}

export interface PlanChange {
  node: string
  label: string
  was: PlanFate
  now: PlanFate
}

/** What a new plan does differently: steps whose fate is another one. */
export function planChanges(
  before: ReadonlyMap<string, PlanFate>,
  after: ReadonlyMap<string, PlanFate>,
  labelOf: (node: string) => string,
): PlanChange[] {
  const nodes = new Set([...before.keys(), ...after.keys()])
  return [...nodes].flatMap((node) => {
    const was = before.get(node) ?? 'untouched'
    const now = after.get(node) ?? 'untouched'
    return was === now ? [] : [{ node, label: labelOf(node), was, now }]
  })
}
