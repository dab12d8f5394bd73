import { RotateCcw } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import type { Wash } from '@/components/run-graph/wash'
import { CompensateIcon, Icon, NoUndoIcon } from '@/components/ui/icons'
import { stateLooks } from '@/components/ui/state'
import type { PlanFate, RollbackPlanView, RollbackView } from '@/lib/view/wire'
import { changedSteps, nodeFates, planKey } from './plan-words'

function BackIcon(props: { className?: string }): ReactNode {
  return <Icon {...props}>{stateLooks.rolled_back.shape}</Icon>
}

export function LockIcon(props: { className?: string; size?: number }): ReactNode {
  return (
    <Icon {...props}>
      <rect x="3.25" y="7" width="9.5" height="6.5" rx="1" />
      <path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2" />
    </Icon>
  )
}

function ResetIcon(props: { className?: string }): ReactNode {
  return <RotateCcw {...props} size={14} strokeWidth={1.5} aria-hidden="true" />
}

interface FateLook {
  /** Under a step in the graph. */
  word: string
  /** In the legend, and what a table says is asked. */
  legend: string
  asked: string
  icon?: ComponentType<{ className?: string }>
}

/** What a plan can do to a step, in the order of the legend: its words and its shape. Colours are in run-graph.css. */
export const fates: Record<PlanFate, FateLook> = {
  restored: { word: 'restored', legend: 'Restored', asked: 'restore', icon: BackIcon },
  compensated: { word: 'compensated', legend: 'Compensated', asked: 'compensate', icon: CompensateIcon },
  irreversible: {
    word: 'cannot undo',
    legend: 'Cannot be undone, a person is told',
    asked: 'cannot undo',
    icon: NoUndoIcon,
  },
  refused: {
    word: 'cannot restore',
    legend: 'Its checkpoint does not serve',
    asked: 'cannot restore',
    icon: NoUndoIcon,
  },
  reset: { word: 'only set back', legend: 'Only set back', asked: 'set back', icon: ResetIcon },
  untouched: { word: 'stays', legend: 'Stays as it is', asked: 'leave' },
  locked: { word: 'stays, locked', legend: 'Locked by a finished sibling', asked: 'leave', icon: LockIcon },
}

const fateOrder = Object.keys(fates) as PlanFate[]

/** What happens to each node of the run under the plan. */
export function fatesOf(plan: RollbackPlanView): ReadonlyMap<string, PlanFate> {
  const found = new Map([...nodeFates(plan)].map(([node, { fate }]): [string, PlanFate] => [node, fate]))
  if (plan.forbidden?.node) found.set(plan.forbidden.node, 'locked')
  return found
}

const washOf = new Map<PlanFate, Wash>(
  fateOrder.map((fate) => [fate, { fate, word: fates[fate].word, icon: fates[fate].icon }]),
)

/** The plan as it is painted on the graph. */
export function washesOf(plan: RollbackPlanView): ReadonlyMap<string, Wash> {
  const visits = nodeFates(plan)
  return new Map(
    [...fatesOf(plan)].map(([node, fate]) => {
      const wash = washOf.get(fate) as Wash
      const n = visits.get(node)?.visits ?? 1
      return [node, n > 1 ? { ...wash, word: `${wash.word}, ${n} visits` } : wash]
    }),
  )
}

/** The same before anything was done: what somebody else changed since says so. */
export function previewWashes(plan: RollbackPlanView): ReadonlyMap<string, Wash> {
  const washes = new Map(washesOf(plan))
  for (const { node } of changedSteps(plan)) {
    const wash = washes.get(node)
    if (wash?.fate === 'restored') washes.set(node, { ...wash, word: 'changed since' })
  }
  return washes
}

/** What a plan promises of a step, while it is carried out and after. */
const undoing: Partial<Record<PlanFate, { ahead: string; now: string; not: string }>> = {
  restored: { ahead: 'to restore', now: 'restoring', not: 'not restored' },
  compensated: { ahead: 'to compensate', now: 'compensating', not: 'not compensated' },
}

/** The plan with what came of it so far: each step says whether its turn is ahead, now, over, or never came. */
export function progressWashes(
  plan: RollbackPlanView,
  { status, acts }: Pick<RollbackView, 'status' | 'acts'>,
): ReadonlyMap<string, Wash> {
  const washes = new Map(washesOf(plan))
  const actOf = new Map(acts.map((act) => [planKey(act), act]))
  // The steps that are undone first come first; where several are of one node, the first that is not over speaks.
  for (const step of plan.steps.toReversed()) {
    const { node, fate } = step
    const words = undoing[fate]
    const wash = washes.get(node)
    // Only a rollback that did all of it sets back what had nothing to undo.
    if (fate === 'reset' && wash?.fate === 'reset' && status !== 'executing' && status !== 'completed') {
      washes.set(node, { ...(washOf.get('untouched') as Wash), word: 'left as it is' })
    }
    if (!words || !wash) continue
    const act = actOf.get(planKey(step))
    if (act?.status === 'completed') continue
    const under = status === 'executing' && act?.status === undefined
    washes.set(
      node,
      under ? { ...wash, word: act ? words.now : words.ahead } : { ...refusedWash, word: words.not },
    )
  }
  return washes
}

const refusedWash = washOf.get('refused') as Wash

/** Each fate that the plan has, with how many steps meet it, in the order of the legend. */
export function fateCounts(plan: RollbackPlanView): { fate: PlanFate; n: number }[] {
  const counts = new Map<PlanFate, number>()
  const add = (fate: PlanFate) => counts.set(fate, (counts.get(fate) ?? 0) + 1)
  const locked = plan.forbidden?.node
  for (const { node, fate } of plan.steps) if (node !== locked) add(fate)
  for (const node of plan.untouched) if (node !== locked) add('untouched')
  if (locked) add('locked')
  return fateOrder.flatMap((fate) => {
    const n = counts.get(fate) ?? 0
    return n > 0 ? [{ fate, n }] : []
  })
}
