import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withMargin } from '@/lib/runners/time-left'
import { childDeadlineAt, stepLimitMs } from './timeouts'

const now = 1_000_000

describe('the time of a step', () => {
  it('is its own where its run has no bound, or more than enough', () => {
    expect(stepLimitMs(30, undefined, now)).toBe(30_000)
    expect(stepLimitMs(30, now + 60_000, now)).toBe(30_000)
  })

  it('is what the run has left, less a tenth and at most five seconds', () => {
    expect(stepLimitMs(600, now + 60_000, now)).toBe(55_000)
    expect(stepLimitMs(600, now + 1_000, now)).toBe(900)
    expect(stepLimitMs(600, now - 5, now)).toBe(1)
  })
})

it('gets shorter on every floor, whatever the times', () => {
  const ms = fc.integer({ min: 20, max: 100_000_000 })
  fc.assert(
    fc.property(ms, fc.integer({ min: 1, max: 100_000 }), (runMs, ownS) => {
      const step = stepLimitMs(ownS, now + runMs, now)
      const child = childDeadlineAt(now + step, now)
      const grandchild = stepLimitMs(ownS, child, now)
      const told = withMargin(grandchild)
      expect(step).toBeLessThan(runMs)
      expect(child).toBeLessThan(now + step)
      expect(grandchild).toBeLessThan(child - now)
      expect(told).toBeLessThan(grandchild)
      expect(told).toBeGreaterThan(0)
    }),
  )
})
