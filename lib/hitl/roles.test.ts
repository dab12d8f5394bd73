import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInRoles, isRole, satisfies } from './roles'

/** Held (rows) against required (columns): the table at the head of roles.ts, cell by cell. */
const required = [
  'viewer',
  'author',
  'operator',
  'operator:oncall',
  'coordinator',
  'security',
  'administrator',
]
const table: [held: string, meets: string[]][] = [
  ['viewer', ['viewer']],
  ['author', ['viewer', 'author']],
  ['operator', ['viewer', 'operator']],
  ['operator:oncall', ['viewer', 'operator', 'operator:oncall']],
  ['operator:backup', ['viewer', 'operator']],
  ['coordinator', ['viewer', 'operator', 'coordinator']],
  ['coordinator:emea', ['viewer', 'operator', 'coordinator']],
  ['security', ['viewer', 'security']],
  ['security:lead', ['viewer', 'security']],
  ['administrator', required],
]

const part = fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/)
const role = fc
  .oneof(
    fc.constantFrom<string>(...builtInRoles),
    fc
      .tuple(fc.oneof(fc.constantFrom('operator', 'coordinator', 'author'), part), part)
      .map((p) => p.join(':')),
    part,
  )
  .filter(isRole)

describe('roles', () => {
  for (const [held, meets] of table) {
    it(`${held} meets ${meets.join(', ')} and nothing else`, () => {
      expect(required.filter((r) => satisfies([held], r))).toEqual(required.filter((r) => meets.includes(r)))
    })
  }

  it('everyone meets the role they hold, and an administrator every role', () => {
    fc.assert(
      fc.property(role, (r) => {
        expect(satisfies([r], r)).toBe(true)
        expect(satisfies(['administrator'], r)).toBe(true)
      }),
    )
  })

  it('a qualified requirement is met only by exactly it or an administrator', () => {
    fc.assert(
      fc.property(role, role, (held, base) => {
        const wanted = `${base.split(':')[0]}:night`
        fc.pre(isRole(wanted))
        expect(satisfies([held], wanted)).toBe(held === wanted || held === 'administrator')
      }),
    )
  })

  it('only an administrator administers', () => {
    fc.assert(
      fc.property(fc.array(role), (held) => {
        expect(satisfies(held, 'administrator')).toBe(held.includes('administrator'))
      }),
    )
  })

  it('more roles never take anything away', () => {
    fc.assert(
      fc.property(fc.array(role), role, role, (held, more, wanted) => {
        if (satisfies(held, wanted)) expect(satisfies([...held, more], wanted)).toBe(true)
      }),
    )
  })

  it('nobody without a role meets anything, and a malformed role neither gives nor takes', () => {
    for (const r of required) expect(satisfies([], r)).toBe(false)
    for (const bad of [
      '',
      'Operator',
      'operator:',
      ':oncall',
      'administrator:backup',
      'a'.repeat(41),
      'operator:on call',
      '__proto__',
    ]) {
      expect(isRole(bad)).toBe(false)
      expect(satisfies([bad], 'viewer')).toBe(false)
      expect(satisfies(['administrator', bad], bad)).toBe(false)
    }
    expect(satisfies(['constructor'], 'operator')).toBe(false)
  })
})
