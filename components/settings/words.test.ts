import { expect, it } from 'vitest'
import { builtInRoles, satisfies } from '@/lib/hitl/roles'
import { wordsOfOwnRole } from './words'

it('says of a role with an addition what it includes, as far as it does', () => {
  expect(wordsOfOwnRole('operator:oncall')).toBe(
    'includes all that an operator may do, and answers wherever operator:oncall or operator is asked for',
  )
  expect(wordsOfOwnRole('coordinator:emea')).toMatch(/^includes all that a coordinator may do/)
  for (const base of builtInRoles.filter((role) => role !== 'administrator')) {
    expect(satisfies([`${base}:x`], base)).toBe(true)
    expect(wordsOfOwnRole(`${base}:x`)).toContain(`${base} may do`)
  }
})

it('claims no more of a free role than that it is asked for by name', () => {
  expect(wordsOfOwnRole('security:lead')).toBe(
    'answers wherever security:lead or security is asked for, and sees what a viewer sees',
  )
  expect(wordsOfOwnRole('security')).toBe(
    'answers wherever a workflow asks for it, and sees what a viewer sees',
  )
})
