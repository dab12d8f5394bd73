import { describe, expect, it } from 'vitest'
import type { FactBody } from '@/lib/engine/facts'
import {
  begun,
  done,
  ended,
  failed,
  historyOf,
  retrying,
  started,
  uuidOf,
  type Word,
} from '@/lib/engine/histories'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { edgeKey } from '../edge-frame'
import { RunFold } from '../run-fold'
import { blankLedger } from './blank-ledger'

const graph = graphOf({ plan: {}, tune: {}, classify: {}, export: {} }, [
  'plan>tune',
  'tune>classify',
  'classify>export',
])

function foldOf(words: readonly Word[]): RunFold {
  const fold = new RunFold(graph)
  fold.add(blankLedger(historyOf(graph, words).facts))
  return fold
}

const cascade =
  (node: string, upstream: string[]): Word =>
  (run, at) => ({
    ...(failed(node)(run, at) as FactBody & { type: 'error' }),
    errorType: 'upstream_cascade',
    upstream,
  })

describe('the chain from a symptom to its root cause', () => {
  it('follows the errors that an error names, and the edges between their steps', () => {
    const fold = foldOf([
      begun(),
      started('tune'),
      failed('tune'),
      started('export'),
      cascade('export', [uuidOf(3)]),
    ])
    const chain = fold.causes(5)
    expect(chain?.root).toBe(3)
    expect(chain?.links.map(({ seq, by, isError }) => [seq, by, isError])).toEqual([
      [5, 'symptom', true],
      [3, 'upstream', true],
    ])
    expect([...(chain?.edges ?? [])].sort()).toEqual([
      edgeKey('classify', 'export'),
      edgeKey('tune', 'classify'),
    ])
    expect([...(chain?.nodes ?? [])].sort()).toEqual(['classify', 'export', 'tune'])
  })

  it('goes back by what a token followed from, where it names nothing', () => {
    const fold = foldOf([
      begun(),
      started('tune'),
      retrying('tune'),
      started('tune'),
      failed('tune'),
      ended(),
    ])
    const chain = fold.causes(6)
    expect(chain?.root).toBe(3)
    expect(chain?.links.map(({ seq, by }) => [seq, by])).toEqual([
      [6, 'symptom'],
      [5, 'par'],
      [4, 'par'],
      [3, 'par'],
    ])
  })

  it('does not go past a step that was done, and names it as no more than that', () => {
    const fold = foldOf([
      begun(),
      started('plan'),
      retrying('plan'),
      started('plan'),
      done('plan'),
      started('tune'),
      failed('tune'),
    ])
    expect(fold.causes(7)).toMatchObject({ root: 7, elsewhere: [] })
    expect(fold.causes(7)?.links.map(({ by, isError }) => ({ by, isError }))).toEqual([
      { by: 'symptom', isError: true },
      { by: 'before', isError: false },
    ])
  })

  it('hands back causes in other runs by their ids, and is not led in circles', () => {
    const fold = foldOf([
      begun(),
      started('tune'),
      cascade('tune', ['urn:uuid:elsewhere', uuidOf(3), uuidOf(4)]),
      failed('plan'),
    ])
    expect(fold.causes(3)).toMatchObject({ root: 3, elsewhere: ['urn:uuid:elsewhere'] })
    expect(fold.causes(99)).toBeUndefined()
  })
})
