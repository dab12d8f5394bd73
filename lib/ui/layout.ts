'use client'

import { useEffect, useMemo, useState } from 'react'
import { layeredLayout } from './layered-layout'
import type { GraphLayout, LayoutInput } from './layout-terms'
import { elkLayout } from './layout-worker'

/** Above this many nodes elk takes longer than a person waits. */
const elkNodes = 300
/** Elk's head start before the layered layout is shown in its place: under it nobody sees the picture change. */
const headStartMs = 350
/** Layouts kept for graphs seen before: going from a run to its rollback must not move a node. */
const keptLayouts = 20

const kept = new Map<string, GraphLayout>()

/** The same nodes and edges have one name, whatever else is said of them. */
function shapeOf(input: LayoutInput): string {
  return JSON.stringify([input.nodes, input.edges.map(({ from, to }) => [from, to])])
}

function keep(shape: string, layout: GraphLayout): GraphLayout {
  kept.delete(shape)
  kept.set(shape, layout)
  const oldest = kept.keys().next().value
  if (kept.size > keptLayouts && oldest !== undefined) kept.delete(oldest)
  return layout
}

/**
 * The layout of a graph: at once for large and for known ones, else by elk as soon as it answers. While elk takes
 * long the layered layout stands in. Undefined only during elk's head start.
 */
export function useGraphLayout(input: LayoutInput): GraphLayout | undefined {
  const shape = useMemo(() => shapeOf(input), [input])
  const [answer, setAnswer] = useState<{ shape: string; layout: GraphLayout }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the input
  const known = useMemo(() => {
    const before = kept.get(shape)
    if (before) return before
    return input.nodes.length > elkNodes ? keep(shape, layeredLayout(input)) : undefined
  }, [shape])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the input
  useEffect(() => {
    if (known) return
    let current = true
    const show = (layout: GraphLayout) => current && setAnswer({ shape, layout })
    const standIn = setTimeout(() => show(layeredLayout(input)), headStartMs)
    elkLayout(input)
      .catch(() => layeredLayout(input))
      .then((layout) => {
        clearTimeout(standIn)
        show(keep(shape, layout))
      })
    return () => {
      current = false
      clearTimeout(standIn)
    }
  }, [shape, known])

  return known ?? (answer?.shape === shape ? answer.layout : undefined)
}
