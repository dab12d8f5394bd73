import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claim, conflictWith } from './conflict'

const claim = (over: Partial<Omit<Claim, 'nodes'>> & { nodes?: string[] } = {}): Claim => ({
  id: 'rb_1',
  scope: 'single',
  askedAt: 1000,
  ...over,
  nodes: new Set(over.nodes ?? ['update', 'notify']),
})

describe('two rollbacks at once', () => {
  it('keep out of each other’s way where they have no step in common', () => {
    const other = claim({ nodes: ['validate'], scope: 'full_workflow' })
    expect(conflictWith(other, claim())).toEqual({ is: 'apart' })
  })

  it('let the broader one win, whichever came first', () => {
    expect(conflictWith(claim(), claim({ scope: 'sub_dag', askedAt: 2000 }))).toEqual({ is: 'wins' })
    expect(
      conflictWith(claim({ scope: 'sub_dag' }), claim({ scope: 'full_workflow', askedAt: 2000 })),
    ).toEqual({ is: 'wins' })
    expect(
      conflictWith(
        claim({ scope: 'sub_dag', only: 'dependents' }),
        claim({ scope: 'sub_dag', askedAt: 2000 }),
      ),
    ).toEqual({ is: 'wins' })
    expect(conflictWith(claim({ scope: 'full_workflow' }), claim({ askedAt: 2000 }))).toEqual({
      is: 'loses',
      why: 'is broader (the whole run, not one step)',
    })
  })

  it('let the earlier of two equal ones win', () => {
    expect(conflictWith(claim({ scope: 'sub_dag' }), claim({ scope: 'sub_dag', askedAt: 2000 }))).toEqual({
      is: 'loses',
      why: 'reaches as far (a step and all that followed) and was asked for earlier',
    })
  })

  it('never both win', () => {
    const scopes = fc.constantFrom('single' as const, 'sub_dag' as const, 'full_workflow' as const)
    const any = fc
      .record({
        scope: scopes,
        dependents: fc.boolean(),
        askedAt: fc.nat(3),
        nodes: fc.subarray(['a', 'b', 'c']),
      })
      .map(({ scope, dependents, askedAt, nodes }) =>
        claim({ scope, askedAt, nodes, ...(dependents && scope === 'sub_dag' && { only: 'dependents' }) }),
      )
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(conflictWith(a, b).is === 'wins' && conflictWith(b, a).is === 'wins').toBe(false)
        expect(conflictWith(a, b).is === 'apart').toBe(conflictWith(b, a).is === 'apart')
      }),
    )
  })
})
