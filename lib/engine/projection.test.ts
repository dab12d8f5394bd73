import { expect, it } from 'vitest'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { approvalAsked, begun, done, failed, planOf, rollbackAsked, runOf, started } from './histories'
import { projectionOf } from './projection'

const pair = graphOf({ a: {}, b: {} })
const status = (...words: Parameters<typeof runOf>[1]) => projectionOf(runOf(pair, words), 0).status

it('says of a run whose rollback waits for a person that it waits', () => {
  const asked = [begun(), started('a'), done('a'), rollbackAsked('a')]
  expect(status(...asked)).toBe('rolling_back')
  for (const kind of ['rollback_critical', 'rollback_unprepared'] as const) {
    const question = approvalAsked('a', { kind, action: planOf('a') })
    expect(status(...asked, question), kind).toBe('waiting')
  }
  // What is asked of another step does not hold the rollback up.
  expect(status(begun(), started('a'), done('a'), approvalAsked('b'), rollbackAsked('a', 'single'))).toBe(
    'rolling_back',
  )
})

it('counts a step that was handed to a person as that, not as failed', () => {
  const both = [begun(), started('a'), failed('a'), started('b'), failed('b')]
  const handed = approvalAsked('b', { kind: 'irreversible_failed' })
  expect(projectionOf(runOf(pair, both), 0)).toMatchObject({ failedCount: 2, escalatedCount: 0 })
  expect(projectionOf(runOf(pair, [...both, handed]), 0)).toMatchObject({ failedCount: 1, escalatedCount: 1 })
})
