import { describe, expect, it } from 'vitest'
import { layeredLayout } from '@/lib/view/layered-layout'
import { nodeTowards } from './graph-keys'

const nodes = ['start', 'left', 'right', 'end']
const edges = [
  { from: 'start', to: 'left' },
  { from: 'start', to: 'right' },
  { from: 'left', to: 'end' },
  { from: 'right', to: 'end' },
]
const layout = layeredLayout({ nodes, edges })
const index = {
  parents: new Map(nodes.map((id) => [id, edges.filter((e) => e.to === id).map((e) => e.from)])),
  children: new Map(nodes.map((id) => [id, edges.filter((e) => e.from === id).map((e) => e.to)])),
}
const go = (key: Parameters<typeof nodeTowards>[0], from: string) => nodeTowards(key, from, index, layout)

describe('arrow keys on the graph', () => {
  it('follow edges to a child and back to a parent', () => {
    expect(['left', 'right']).toContain(go('ArrowRight', 'start'))
    expect(go('ArrowLeft', 'left')).toBe('start')
  })
  it('move within a column', () => {
    const [upper, lower] = [...layout.nodes]
      .filter(([id]) => id === 'left' || id === 'right')
      .sort(([, a], [, b]) => a.y - b.y)
      .map(([id]) => id) as [string, string]
    expect(go('ArrowDown', upper)).toBe(lower)
    expect(go('ArrowUp', lower)).toBe(upper)
  })
  it('stay where there is nothing that way', () => {
    expect(go('ArrowRight', 'end')).toBeUndefined()
    expect(go('ArrowUp', 'start')).toBeUndefined()
    expect(go('ArrowUp', 'nowhere')).toBeUndefined()
  })
})
