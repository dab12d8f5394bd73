import { describe, expect, it } from 'vitest'
import type { Run } from '@/lib/engine/run'
import { ranOut } from './ran-out'

/** A loop of that cap whose thoughts gave these labels. */
function loop(max_steps: number, ...labels: string[]): Run {
  const node = { id: 'think', kind: 'agent_think', config: { max_steps } }
  const path = labels.map((label, at) => ({
    visit: { node: 'think', visit: at + 1, state: { status: 'done', label } },
  }))
  return { graph: { nodes: new Map([['think', node]]) }, walk: { path } } as unknown as Run
}

describe('what an agent’s loop ran out of', () => {
  it('is steps where all were taken; the visit that found it out is none', () => {
    expect(ranOut(loop(2, 'again', 'again', 'exhausted'))).toBe('out of steps after 2')
  })

  it('is tokens where steps were left', () => {
    expect(ranOut(loop(4, 'again', 'exhausted'))).toBe('out of tokens after 1 step')
    expect(ranOut(loop(4, 'exhausted'))).toBe('out of tokens after 0 steps')
  })

  it('is nothing where the loop came to a result, or nothing loops', () => {
    expect(ranOut(loop(2, 'again', 'final'))).toBeUndefined()
    expect(ranOut({ graph: { nodes: new Map() } } as unknown as Run)).toBeUndefined()
  })
})
