'use client'
import { useMemo, useState } from 'react'
import { RunGraph } from '@/components/run-graph/run-graph'
import { count } from '@/lib/ui/format-time'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { restingFrame } from '@/lib/view/frame'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'

/** A workflow drawn on the same canvas as its runs: every step pending. */
export function WorkflowGraphView({
  graph,
  selected,
  onSelect,
}: {
  graph: WorkflowGraph
  selected?: string | undefined
  onSelect?: (node: string | undefined) => void
}) {
  const index = useMemo(() => indexGraph(graph), [graph])
  const frames = useMemo(() => restingFrame(graph), [graph])
  const [own, setOwn] = useState<string>()
  const small = useSmallScreen()
  return (
    <RunGraph
      index={index}
      frames={frames}
      selected={onSelect ? selected : own}
      onSelect={onSelect ?? setOwn}
      told={count(graph.nodes.length, 'step')}
      label={`Graph of ${graph.name}`}
      compact={small}
    />
  )
}
