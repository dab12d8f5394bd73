import { expect, it } from 'vitest'
import { againWords } from './again-words'

it('says of those that are asked again that they are, and leads to the question that comes of it', () => {
  const asked = 'appr_1'
  expect(againWords({ phase: 'preparing', status: 'executing' }, asked)).toMatchObject({ state: 'running' })
  // The answer is kept, and the rollback has not moved yet.
  expect(againWords({ phase: 'asking', status: 'executing', question: asked }, asked).anew).toBeUndefined()
  expect(againWords({ phase: 'asking', status: 'executing', question: 'appr_2' }, asked)).toEqual({
    state: 'waiting',
    words: 'They said no again, so it is asked anew.',
    anew: 'appr_2',
  })
  expect(againWords({ phase: 'executing', status: 'executing' }, asked).words).toContain('goes on')
  expect(againWords({ phase: 'over', status: 'completed' }, asked)).toMatchObject({ state: 'done' })
  expect(againWords({ phase: 'over', status: 'completed' }, asked, true).words).toBe(
    'They were asked to put it back all the same, and it is taken back.',
  )
})
