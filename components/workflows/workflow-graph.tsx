'use client'
import { useMemo, useState } from 'react'
import { RunGraph } from '@/components/run-graph/run-graph'
import { count } from '@/lib/ui/format-time'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { type NodeFrame, restingFrame } from '@/lib/view/frame'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'

/** A workflow drawn on the same canvas as its runs: every step pending. */
export function WorkflowGraphView({
  graph,
  selected,
  onSelect,
  marksConsequences = false,
}: {
  graph: WorkflowGraph
  selected?: string | undefined
  onSelect?: (node: string | undefined) => void
  /** For a plan that somebody is to approve. */
  marksConsequences?: boolean
}) {
  const index = useMemo(() => indexGraph(graph), [graph])
  const frames = useMemo(
    () => (marksConsequences ? planFrames(graph) : restingFrame(graph)),
    [graph, marksConsequences],
  )
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
      marksConsequences={marksConsequences}
    />
  )
}

const consequenceWords = {
  read_only: '',
  reversible: ', can be undone',
  irreversible: ', cannot be undone',
}

/** Every step under what it does and whether that can be taken back. */
function planFrames(graph: WorkflowGraph): ReadonlyMap<string, NodeFrame> {
  return new Map(
    [...restingFrame(graph)].map(([id, frame]) => [
      id,
      { ...frame, word: `${frame.word}${consequenceWords[frame.consequence]}` },
    ]),
  )
}
