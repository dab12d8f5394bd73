'use client'
import { ViewportPortal } from '@xyflow/react'
import { memo, useMemo } from 'react'
import { arrowPath, routePath } from '@/lib/ui/layout-path'
import type { GraphLayout } from '@/lib/ui/layout-terms'

export type EdgeTone = 'idle' | 'plain' | 'bad' | 'back'

/** Drawn in this order, so that where edges share a trunk the one that says more is on top. */
const tones: EdgeTone[] = ['idle', 'plain', 'back', 'bad']

/** Edges of one tone whose routes begin in the same strip of the picture are one path: parts out of sight cost nothing. */
const stripWidth = 1600

interface Drawn {
  key: string
  tone: EdgeTone
  lines: string
  arrows: string
}

/**
 * All edges, as a few paths under the nodes. A thousand edges as a thousand elements is what makes panning slow; they are
 * not for clicking, and readers of the page hear of them by each step's place.
 */
export const EdgeLayer = memo(function EdgeLayer({
  layout,
  toneOf,
}: {
  layout: GraphLayout
  toneOf: (from: string, to: string) => EdgeTone
}) {
  const shapes = useMemo(
    () =>
      layout.routes.map((route) => ({
        route,
        strip: Math.floor((route.points[0]?.x ?? 0) / stripWidth),
        line: routePath(route.points),
        arrow: arrowPath(route.points),
      })),
    [layout],
  )
  const drawn = useMemo(() => {
    const groups = new Map<string, Drawn>()
    for (const { route, strip, line, arrow } of shapes) {
      const tone = toneOf(route.from, route.to)
      const key = `${tone} ${strip}`
      const group = groups.get(key) ?? { key, tone, lines: '', arrows: '' }
      group.lines += line
      group.arrows += arrow
      groups.set(key, group)
    }
    return [...groups.values()].sort((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone))
  }, [shapes, toneOf])

  return (
    <ViewportPortal>
      <svg className="rg-edges" width={1} height={1} aria-hidden="true">
        {drawn.map((group) => (
          <path key={group.key} className="rg-edge" data-tone={group.tone} d={group.lines} />
        ))}
        {drawn.map((group) => (
          <path key={group.key} className="rg-arrow" data-tone={group.tone} d={group.arrows} />
        ))}
      </svg>
    </ViewportPortal>
  )
})
