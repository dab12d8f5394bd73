'use client'
import { useCallback, useMemo } from 'react'
import type { EdgeTone } from '@/components/run-graph/edge-layer'
import { RunGraph } from '@/components/run-graph/run-graph'
import type { Wash } from '@/components/run-graph/wash'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { edgeKey } from '@/lib/view/edge-frame'
import type { RunFold } from '@/lib/view/run-fold'
import type { PlanFate, RollbackPlanView } from '@/lib/view/wire'
import { fateCounts, fates, fatesOf } from './fates'

/** Fates whose effects are taken back, or should be: the edges between them turn violet. */
const reaching = new Set<PlanFate>(['restored', 'compensated', 'irreversible', 'refused', 'reset'])

/** The run's graph with a plan painted on it. Nodes stand where they stand on the run's page. */
export function PlanGraph({
  fold,
  plan,
  washes,
  node,
  onNode,
}: {
  fold: RunFold
  plan: RollbackPlanView | undefined
  washes: ReadonlyMap<string, Wash> | undefined
  node: string
  onNode?: (node: string) => void
}) {
  const small = useSmallScreen()
  const reached = useMemo(() => (plan ? fatesOf(plan) : undefined), [plan])
  const walks = fold.index.graph.order === 'stepwise'
  const { edges } = fold.frame
  const toneOf = useCallback(
    (from: string, to: string): EdgeTone => {
      const walked = !walks || (edges.get(edgeKey(from, to))?.taken ?? 0) > 0
      const both = [from, to].every((id) => reaching.has(reached?.get(id) ?? 'untouched'))
      return walked && both ? 'back' : 'idle'
    },
    [reached, walks, edges],
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
      {...(plan ? { toneOf } : {})}
      told={plan ? <Legend plan={plan} /> : fold.frame.sentence}
      label="Graph of the run, with the plan"
      compact={small}
    />
  )
}

/** What the washes mean, with how many steps wear each. */
function Legend({ plan }: { plan: RollbackPlanView }) {
  return (
    <span className="flex gap-4 text-ink-2">
      {fateCounts(plan).map(({ fate, n }) => {
        const { legend, icon: Shape } = fates[fate]
        return (
          <span key={fate} className="flex shrink-0 items-center gap-1.5">
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
