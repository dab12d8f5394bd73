import { describe, expect, it } from 'vitest'
import type { ArtifactWrite, Run } from '@/lib/engine/run'
import { stateEntry } from './state-entry'

const nodes = new Map([
  ['test', { id: 'test', label: '', maxVisits: 2 }],
  ['review', { id: 'review', label: 'Review', maxVisits: 5 }],
])
const wrote = (
  artifact: string,
  value: string,
  node: string,
  visit: number,
  mode: ArtifactWrite['mode'] = 'replace',
) => ({ artifact, value, node, visit, mode, mediaType: 'text/plain', by: 'prompt:coder' }) as ArtifactWrite
const runOf = (artifactWrites: ArtifactWrite[]) => {
  const step = (node: string, visit: number, insteadOf?: string[]) => ({ visit: { node, visit }, insteadOf })
  // Visit 2 of the test was taken back: the third one is its second entry.
  const path = [step('test', 1), step('test', 3), step('review', 1, ['test'])]
  const entered = new Map<string, number>()
  for (const { visit } of path) entered.set(visit.node, (entered.get(visit.node) ?? 0) + 1)
  return { graph: { nodes }, walk: { path, entered }, artifactWrites } as unknown as Run
}

describe('an entry of a state', () => {
  it('counts entries on the way as it is, not visits', () => {
    expect(stateEntry(runOf([]), 'test', 3)).toMatchObject({ entered: 2, most: 2, insteadOf: [] })
    expect(stateEntry(runOf([]), 'test', 2)).not.toHaveProperty('entered')
  })

  it('says which state it was entered instead of', () => {
    expect(stateEntry(runOf([]), 'review', 1).insteadOf).toEqual([{ node: 'test', label: 'test', most: 2 }])
  })

  it('tells what it wrote with what stood there before', () => {
    const run = runOf([
      wrote('sha', 'h1', 'test', 1),
      wrote('log', 'l1', 'test', 1, 'append'),
      wrote('sha', 'h2', 'test', 3),
      wrote('sha', 'h3', 'test', 3),
      wrote('log', 'l2', 'test', 3, 'append'),
      wrote('log', 'l3', 'test', 3, 'append'),
      wrote('sha', 'h4', 'review', 1),
    ])
    expect(stateEntry(run, 'test', 3).written).toMatchObject([
      { artifact: 'sha', before: 'h1', after: ['h3'], earlier: 1 },
      { artifact: 'log', after: ['l2', 'l3'], earlier: 1 },
    ])
    expect(stateEntry(run, 'test', 1).written[0]).toMatchObject({
      artifact: 'sha',
      earlier: 0,
      after: ['h1'],
    })
    expect(stateEntry(run, 'test', 1).written[0]).not.toHaveProperty('before')
  })
})
