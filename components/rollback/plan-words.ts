import type { RollbackScope } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import type { PlanFate, RollbackPlanView, RollbackView } from '@/lib/view/wire'

export const scopeWords: Record<RollbackScope, string> = {
  single: 'This step',
  sub_dag: 'This step and all that followed',
  full_workflow: 'Whole run',
}

/**
 * The plan's sentence as a wish, with the same counts: "Restore 3 steps on 2 agents, compensate 1, set back 1". What it
 * cannot undo is left out: that is said in red above it, and is nothing the button does.
 */
export function buttonWords({ counts }: RollbackPlanView): string {
  const on = counts.agents > 0 ? ` on ${count(counts.agents, 'agent')}` : ''
  const deeds = [
    { verb: 'restore', n: counts.restored, on },
    { verb: 'compensate', n: counts.compensated, on },
    { verb: 'set back', n: counts.reset, on: '' },
  ].filter(({ n }) => n > 0)
  if (deeds.length === 0)
    return counts.irreversible > 0
      ? `Tell a person of ${count(counts.irreversible, 'step')}`
      : 'Nothing to roll back'
  const words = deeds.map((deed, at) =>
    at === 0 ? `${deed.verb} ${count(deed.n, 'step')}${deed.on}` : `${deed.verb} ${deed.n}`,
  )
  return sentenceCase(words.join(', '))
}

/**
 * What came of a rollback, counted as its plan counts: "2 steps restored, 1 compensated, 1 only set back". `acts` are
 * those that were begun; steps that are only set back have none.
 */
export function backWords(acts: RollbackView['acts'], setBack: number): string {
  const done = acts.filter(({ status }) => status === 'completed')
  const compensated = done.filter(({ undo }) => undo === 'compensate').length
  const parts = [
    { n: done.length - compensated, how: 'restored' },
    { n: compensated, how: 'compensated' },
    { n: setBack, how: 'only set back' },
  ].filter(({ n }) => n > 0)
  if (parts.length === 0) return 'no step'
  return parts.map(({ n, how }, at) => `${at === 0 ? count(n, 'step') : n} ${how}`).join(', ')
}

function sentenceCase(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Why the button is off, in one sentence; undefined when it may be pressed. */
export function whyNot(plan: RollbackPlanView): string | undefined {
  if (plan.forbidden) return plan.forbidden.sentence
  const { restored, compensated, reset, irreversible, refused } = plan.counts
  if (restored + compensated + reset + irreversible > 0) return undefined
  if (refused > 0) return 'None of the checkpoints serves, so there is nothing to put back from.'
  return 'Nothing here has been done, so there is nothing to take back.'
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
