'use client'
import { useCallback, useMemo } from 'react'
import type { EdgeTone } from '@/components/run-graph/edge-layer'
import { RunGraph } from '@/components/run-graph/run-graph'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { edgeKey } from '@/lib/view/edge-frame'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import { fateIcons, washesOf } from './fates'
import type { StepFate } from './plan-words'
import { legendOf, type StepStand } from './step-fates'

/** Fates whose effects are taken back, or should be: the edges between them turn violet. */
const reaching = new Set<StepFate>(['restored', 'compensated', 'irreversible', 'refused', 'reset'])

/** The run's graph with a plan painted on it. Nodes stand where they stand on the run's page. */
export function PlanGraph({
  fold,
  plan,
  stands,
  node,
  onNode,
}: {
  fold: RunFold
  plan: RollbackPlanView | undefined
  /** How its steps stand; absent where the run has gone on since, and its steps speak for themselves. */
  stands: readonly StepStand[] | undefined
  node: string
  onNode?: (node: string) => void
}) {
  const small = useSmallScreen()
  const washes = useMemo(() => plan && stands && washesOf(stands, plan), [plan, stands])
  const walks = fold.index.graph.order === 'stepwise'
  const { edges } = fold.frame
  const toneOf = useCallback(
    (from: string, to: string): EdgeTone => {
      const walked = !walks || (edges.get(edgeKey(from, to))?.taken ?? 0) > 0
      const both = [from, to].every((id) => reaching.has(washes?.get(id)?.fate ?? 'untouched'))
      return walked && both ? 'back' : 'idle'
    },
    [washes, walks, edges],
  )
  return (
    <RunGraph
      index={fold.index}
      frames={fold.frame.nodes}
      edges={edges}
      washes={washes}
      selected={node}
      focus={node}
      onSelect={(id) => id !== undefined && onNode?.(id)}
      {...(washes ? { toneOf } : {})}
      told={plan && stands ? <Legend plan={plan} stands={stands} /> : fold.frame.sentence}
      label="Graph of the run, with the plan"
      compact={small}
    />
  )
}

/** What the washes mean, with how many steps wear each. */
function Legend({ plan, stands }: { plan: RollbackPlanView; stands: readonly StepStand[] }) {
  return (
    <span className="rg-legend flex flex-wrap gap-x-4 gap-y-0.5 text-ink-2">
      {legendOf(stands, plan).map(({ fate, legend, n }) => {
        const Shape = fateIcons[fate]
        return (
          <span key={`${fate} ${legend}`} className="flex shrink-0 items-center gap-1.5">
            <span className="rg-node rg-swatch" data-wash={fate} data-shown="done">
              {Shape && <Shape className="rg-corner" />}
            </span>
            {legend} <span className="num text-ink-3">{n}</span>
          </span>
        )
      })}
    </span>
  )
}
