import { expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { approvalAsked, approved, begun, historyOf, started } from '@/lib/engine/histories'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { decisionsOf } from './decisions'
import { RunFold } from './run-fold'
import { blankLedger } from './timeline/blank-ledger'

const graph = graphOf({ a: {} }, [])

it('says of a decision that what it is about had changed since it was asked', () => {
  const { facts } = historyOf(graph, [begun(), approvalAsked('a'), approved('a'), started('a')])
  const wordsOf = (seen?: string) => {
    const fold = new RunFold(graph)
    fold.add(
      blankLedger(facts.map((fact) => (fact.type === 'approval_decided' && seen ? { ...fact, seen } : fact))),
    )
    return decisionsOf(fold).map(({ words }) => words)
  }
  expect(wordsOf().at(-1)).toBe('approved')
  expect(wordsOf(hashJson('seen')).at(-1)).toBe(
    'approved, after what it acts on had changed; saw the difference as it was then',
  )
})
