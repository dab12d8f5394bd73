import { expect, it } from 'vitest'
import { notBegunWords } from './conflict'

const grace = { scope: 'sub_dag', by: 'person:grace' } as const

it('says of a preview that another rollback hides that it was not begun, and what that one means for it', () => {
  expect(notBegunWords({ scope: 'single' }, grace)).toBe(
    'Yours, “this step”, was not begun: grace’s rollback is under way, and until it is over one that reaches no further is refused.',
  )
  expect(notBegunWords({ scope: 'full_workflow' }, grace)).toBe(
    'Yours, “whole run”, was not begun: grace’s rollback is under way, and one that reaches further takes it over.',
  )
  expect(notBegunWords({ scope: 'sub_dag', only: 'dependents' }, { ...grace, by: 'engine' })).toContain(
    'Yours, “this step and what used it”, was not begun: the one this run began by itself is under way',
  )
})
