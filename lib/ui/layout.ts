'use client'

import { useEffect, useMemo, useState } from 'react'
import { layeredLayout } from '@/lib/view/layered-layout'
import type { GraphLayout, LayoutInput } from '@/lib/view/layout-terms'
import { keepLayout, layoutInMemory, layoutInStorage, shapeOf, storeLayout } from './layout-cache'
import { layoutFor } from './layout-choice'
import { elkLayout } from './layout-worker'

/**
 * The layout of a graph: at once for large and for known ones, else when elk has answered; undefined until then. A
 * graph is never drawn in one shape first and in another after: layout-choice.ts says whose it is, by its size.
 */
export function useGraphLayout(input: LayoutInput): GraphLayout | undefined {
  const shape = useMemo(() => shapeOf(input), [input])
  const [answer, setAnswer] = useState<{ shape: string; layout: GraphLayout }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the input
  const known = useMemo(() => {
    const before = layoutInMemory(shape)
    if (before) return before
    return layoutFor(input) === 'layered' ? keepLayout(shape, layeredLayout(input)) : undefined
  }, [shape])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the input
  useEffect(() => {
    if (known) return
    const stored = layoutInStorage(shape)
    if (stored) {
      setAnswer({ shape, layout: stored })
      return
    }
    let current = true
    void laidOut(input, shape).then((layout) => current && setAnswer({ shape, layout }))
    return () => {
      current = false
    }
  }, [shape, known])

  return known ?? (answer?.shape === shape ? answer.layout : undefined)
}

/** By elk; only where its worker cannot be had, by ours, for this page alone. */
async function laidOut(input: LayoutInput, shape: string): Promise<GraphLayout> {
  try {
    return storeLayout(shape, await elkLayout(input))
  } catch {
    return keepLayout(shape, layeredLayout(input))
  }
}
