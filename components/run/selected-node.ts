import type { RunFold } from '@/lib/view/run-fold'
import type { BelowRun } from './use-child-strips'
import type { RunView } from './use-run-view'

/** The step under the microscope: the one that was chosen; of a moment of the past, the one that its token speaks of. */
export function selectedNode({
  view,
  fold,
  below,
  at,
  dismissed,
}: {
  view: RunView
  fold: RunFold
  below: BelowRun
  at: number | undefined
  dismissed: boolean
}): string | undefined {
  if (view.node !== undefined && fold.index.nodes.has(view.node)) return view.node
  if (dismissed) return undefined
  if (at !== undefined) return fold.rows[at - 1]?.node ?? fold.timeline.transitionAt(at)?.node
  const waiting = below.summary?.steps.find(
    ({ node, states }) => (states.waiting ?? 0) > 0 && fold.index.nodes.has(node),
  )
  return fold.troubledNode ?? waiting?.node
}
