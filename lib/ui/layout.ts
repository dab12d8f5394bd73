'use client'

import { useEffect, useMemo, useState } from 'react'
import { layeredLayout } from '@/lib/view/layered-layout'
import type { GraphLayout, LayoutInput } from '@/lib/view/layout-terms'
import { keepLayout, layoutInMemory, layoutInStorage, shapeOf, storeLayout } from './layout-cache'
import { layoutFor } from './layout-choice'
import { elkLayout } from './layout-worker'

/** Nodes and edges that ours lays out within a frame or two; more are a worker's, so that the page can be used meanwhile. */
const atOnce = 700

/**
 * The layout of a graph: at once for known ones and those that are quick, else when a worker has answered; undefined
 * until then. A graph is never drawn in one shape first and in another after: layout-choice.ts says whose it is, by
 * its size.
 */
export function useGraphLayout(input: LayoutInput): GraphLayout | undefined {
  const shape = useMemo(() => shapeOf(input), [input])
  const [answer, setAnswer] = useState<{ shape: string; layout: GraphLayout }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the input
  const known = useMemo(() => {
    const before = layoutInMemory(shape)
    if (before) return before
    const isQuick = layoutFor(input) === 'layered' && input.nodes.length + input.edges.length <= atOnce
    return isQuick ? keepLayout(shape, layeredLayout(input)) : undefined
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

/** By whoever it is for, in a worker. Only where elk's cannot be had, by ours, for this page alone. */
async function laidOut(input: LayoutInput, shape: string): Promise<GraphLayout> {
  if (layoutFor(input) === 'layered') return keepLayout(shape, await layeredAside(input))
  try {
    return storeLayout(shape, await elkLayout(input))
  } catch {
    return keepLayout(shape, layeredLayout(input))
  }
}

/** Ours, in a worker of its own that ends with its answer; here, where no worker can be had. */
function layeredAside(input: LayoutInput): Promise<GraphLayout> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./layered-worker.ts', import.meta.url), { type: 'module' })
    const end = (layout: GraphLayout) => {
      worker.terminate()
      resolve(layout)
    }
    worker.onmessage = ({ data }: MessageEvent<GraphLayout>) => end(data)
    worker.onerror = () => end(layeredLayout(input))
    worker.postMessage(input)
  })
}
