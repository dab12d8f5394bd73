import { describe, expect, it } from 'vitest'
import { layeredLayout } from '@/lib/view/layered-layout'
import { nodeSize } from '@/lib/view/layout-terms'
import { narrowed, partyWidth } from './narrowed'

describe('a map with narrower nodes', () => {
  it('keeps every line between the sides of the nodes it joins', () => {
    const edges = [
      { from: 'a', to: 'b', words: 100 },
      { from: 'b', to: 'c', words: 100 },
      { from: 'a', to: 'c', words: 100 },
    ]
    const wide = layeredLayout({ nodes: ['a', 'b', 'c'], edges })
    const map = narrowed(wide)
    expect(map.width).toBe(wide.width - 3 * (nodeSize.width - partyWidth))
    for (const { from, to, points } of map.routes) {
      expect(points[0]?.x).toBe((map.nodes.get(from)?.x ?? 0) + partyWidth)
      expect(points.at(-1)?.x).toBe(map.nodes.get(to)?.x)
    }
  })
})
