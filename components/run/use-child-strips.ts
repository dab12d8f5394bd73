'use client'
import { useMemo, useRef } from 'react'
import { useChildren } from '@/lib/ui/run-queries'
import { beginsRuns } from '@/lib/view/child-kinds'
import { type ChildStrip, childStrip } from '@/lib/view/child-strip'
import type { RunFold } from '@/lib/view/run-fold'
import type { ChildCounts, ChildSummary } from '@/lib/view/run-wire'

export interface BelowRun {
  summary: ChildSummary | undefined
  /** What each node says of the runs its latest visit with any began. */
  strips: ReadonlyMap<string, ChildStrip>
  /** The runs of one visit; undefined when it began none. */
  of: (node: string, visit: number) => ChildCounts | undefined
}

/** The runs below a run, kept fresh by the page's stream. Asked for only where a step can begin any. */
export function useBelow(run: string, fold: RunFold): BelowRun {
  const may = useMemo(() => fold.index.graph.nodes.some(({ kind }) => beginsRuns(kind)), [fold])
  const { data: summary } = useChildren(run, may)
  const before = useRef<ReadonlyMap<string, ChildStrip>>(new Map())
  const strips = useMemo(() => {
    const latest = new Map<string, ChildCounts>()
    for (const step of summary?.steps ?? [])
      if ((latest.get(step.node)?.visit ?? 0) < step.visit) latest.set(step.node, step)
    const made = new Map<string, ChildStrip>()
    for (const [node, counts] of latest) {
      const strip = childStrip(counts)
      const old = before.current.get(node)
      // What reads the same is the same object, so that its node is not drawn anew.
      if (strip) made.set(node, old && JSON.stringify(old) === JSON.stringify(strip) ? old : strip)
    }
    before.current = made
    return made
  }, [summary])
  const of = (node: string, visit: number) =>
    summary?.steps.find((step) => step.node === node && step.visit === visit)
  return { summary, strips, of }
}
