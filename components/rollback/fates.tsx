import { RotateCcw } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import type { Wash } from '@/components/run-graph/wash'
import { CompensateIcon, Icon, NoUndoIcon } from '@/components/ui/icons'
import { stateLooks } from '@/components/ui/state'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import type { StepFate } from './plan-words'
import { nodeStands, previewStands, type StepStand } from './step-fates'

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

/** The shape that says it besides the word. Colours are in run-graph.css. */
export const fateIcons: Partial<Record<StepFate, ComponentType<{ className?: string }>>> = {
  restored: BackIcon,
  compensated: CompensateIcon,
  irreversible: NoUndoIcon,
  refused: NoUndoIcon,
  reset: ResetIcon,
  locked: LockIcon,
}

/** What a plan that nobody asked for yet does to each node; nothing is overwritten in it. */
export function fatesOf(plan: RollbackPlanView): ReadonlyMap<string, StepFate> {
  const stands = nodeStands(previewStands(plan, false), plan)
  return new Map([...stands].map(([node, { fate }]) => [node, fate]))
}

/** How the steps of a plan stand, as it is painted on the graph. */
export function washesOf(stands: readonly StepStand[], plan: RollbackPlanView): ReadonlyMap<string, Wash> {
  return new Map(
    [...nodeStands(stands, plan)].map(([node, { fate, word }]) => [
      node,
      { fate, word, icon: fateIcons[fate] },
    ]),
  )
}
