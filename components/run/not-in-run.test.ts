import { describe, expect, it } from 'vitest'
import { notHereSentence } from '@/components/shell/not-here'
import { type InRun, notInRun } from './not-in-run'
import type { RunView } from './use-run-view'

const run: InRun = {
  hasNode: (id) => id === 'update',
  hasVisit: (node, visit) => node === 'update' && visit <= 2,
  seq: 23,
  reading: false,
  artifacts: ['note'],
  shown: undefined,
}
const said = (view: RunView, more: Partial<InRun> = {}) => {
  const missing = notInRun(view, { ...run, ...more })
  return missing && notHereSentence(missing)
}

describe('an address of a run', () => {
  it('is shown without a word where the run has what it names', () => {
    expect(said({})).toBeUndefined()
    expect(said({ node: 'update', visit: '2', at: '23', token: '1', artifact: 'note' })).toBeUndefined()
  })

  it('is told what the run has not, and what is shown instead', () => {
    expect(said({ node: 'nope' })).toBe(
      'There is no step “nope” in this workflow; the run as a whole is shown.',
    )
    expect(said({ node: 'nope' }, { shown: 'Update the router' })).toBe(
      'There is no step “nope” in this workflow; “Update the router” is shown.',
    )
    expect(said({ node: 'update', visit: '9' })).toBe(
      'There is no visit “9” of this step; its latest is shown.',
    )
    expect(said({ at: '24' })).toBe('There is no token “24” in this run; the run is shown at its last.')
    expect(said({ token: 'x' })).toBe('There is no token “x” in this run; the step is shown.')
    expect(said({ cause: '0' })).toBe('There is no token “0” in this run; the step is shown.')
    expect(said({ artifact: 'draft' })).toBe('There is no artifact “draft” in this run; all are shown.')
  })

  it('may name a token that is still on its way', () => {
    expect(said({ at: '24', token: '30' }, { reading: true })).toBeUndefined()
    expect(said({ node: 'nope' }, { reading: true })).toMatch(/^There is no step/)
  })

  it('is repeated no further than a line', () => {
    expect(said({ node: 'n'.repeat(5000) })?.length).toBeLessThan(160)
  })
})
