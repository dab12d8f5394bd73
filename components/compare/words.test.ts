import { expect, it } from 'vitest'
import type { ComparedVisit } from '@/lib/view/compare-runs'
import { standingWords } from './words'

it('says of a value what differs, what is the same and what neither run has', () => {
  const row = {} as NonNullable<ComparedVisit['a']>
  const both = { node: 'test', visit: 1, a: row, b: row, differs: [] } as ComparedVisit
  expect(standingWords(both, true, false)).toBe('differs')
  expect(standingWords(both, true, true)).toBe('differs')
  expect(standingWords(both, false, false)).toBe('the same')
  expect(standingWords(both, false, true)).toBe('missing in both')
  expect(standingWords({ ...both, b: undefined }, false, false)).toBe('only in A')
  expect(standingWords({ ...both, a: undefined }, false, true)).toBe('only in B')
})
