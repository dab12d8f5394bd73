import { expect, it } from 'vitest'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { broaderScopes } from './broader-scopes'
import { begun, done, rollbackAsked, runOf, started } from './histories'

const wrote = (node: string) => [started(node), done(node)]

it('names no broader scope where nothing reaches further', () => {
  const one = runOf(graphOf({ a: {} }), [begun(), ...wrote('a'), rollbackAsked('a', 'single')])
  expect(broaderScopes(one, { scope: 'single', node: 'a' })).toEqual([])
  const chain = graphOf({ a: {}, b: {} }, ['a>b'])
  const first = runOf(chain, [begun(), ...wrote('a'), rollbackAsked('a', 'single')])
  expect(broaderScopes(first, { scope: 'single', node: 'a' }), 'what was never begun is no further').toEqual(
    [],
  )
})

it('names those that take back more, smallest first', () => {
  const chain = graphOf({ a: {}, b: {}, c: {} }, ['a>b', 'b>c'])
  const run = runOf(chain, [begun(), ...wrote('a'), ...wrote('b'), ...wrote('c')])
  expect(broaderScopes(run, { scope: 'single', node: 'b' })).toEqual(['sub_dag', 'full_workflow'])
  expect(broaderScopes(run, { scope: 'single', node: 'c' })).toEqual(['full_workflow'])
  expect(broaderScopes(run, { scope: 'sub_dag', node: 'b' })).toEqual(['full_workflow'])
  expect(broaderScopes(run, { scope: 'sub_dag', node: 'a' })).toEqual([])
  expect(broaderScopes(run, { scope: 'full_workflow', node: 'b' })).toEqual([])
})
