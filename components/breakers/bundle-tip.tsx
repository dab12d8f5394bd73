'use client'
import { useCallback, useState } from 'react'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { bundleWords } from './bundles'

/** Px beside what it is of. */
const gap = 14
const widest = 320

interface Named {
  rows: readonly CircuitRow[]
  /** Px from the section's upper left corner. */
  x: number
  y: number
}

/** What is pointed at or focused on the map, and where: named beside it. `name([])`: nothing is any more. */
export function useNamed(section: HTMLElement | null) {
  const [named, setNamed] = useState<Named>()
  const name = useCallback(
    (rows: readonly CircuitRow[], at?: { clientX: number; clientY: number } | HTMLElement) => {
      if (!section || !at || rows.length === 0) return setNamed(undefined)
      const { left, top, width } = section.getBoundingClientRect()
      const { x, y } = 'clientX' in at ? { x: at.clientX, y: at.clientY } : below(at)
      const place = { x: Math.max(8, Math.min(x - left + gap, width - widest - 8)), y: y - top + gap }
      // Along the same lines nothing is drawn anew.
      setNamed((before) => (before && areSame(before.rows, rows) ? before : { rows, ...place }))
    },
    [section],
  )
  return { named, name }
}

function areSame(some: readonly CircuitRow[], others: readonly CircuitRow[]): boolean {
  const ids = new Set(some.map(({ id }) => id))
  return some.length === others.length && others.every(({ id }) => ids.has(id))
}

/** Of an element, so that what it names covers nothing of it. */
function below(element: HTMLElement): { x: number; y: number } {
  const { left, bottom } = element.getBoundingClientRect()
  return { x: left - gap, y: bottom - gap / 2 }
}

/** Whose lines these are. Who hears the page has it from the buttons. */
export function BundleTip({ rows, x, y }: Named) {
  return (
    <p className="br-tip" style={{ left: x, top: y, maxWidth: widest }} aria-hidden="true">
      {bundleWords(rows)}
    </p>
  )
}
