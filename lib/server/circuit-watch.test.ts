import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CircuitHold, CircuitRecord } from '@/lib/engine/circuit-ports'
import { CircuitWatch } from './circuit-watch'

/** A store as far as the watch asks it. */
function scene() {
  const marks: number[] = []
  const holds: CircuitHold[] = []
  const failed: unknown[] = []
  let broken = false
  let reportedAt = 0
  const watch = new CircuitWatch(
    {
      news: async (after) => {
        if (broken) throw new Error('the disk is gone')
        return {
          circuits: marks.filter((mark) => mark > after).map((mark) => ({ mark }) as CircuitRecord),
          holds: [...holds],
          reportedAt,
        }
      },
    },
    (error) => failed.push(error),
  )
  const report = (at: number) => (reportedAt = at)
  return { marks, holds, failed, watch, report, fail: (is: boolean) => (broken = is) }
}

describe('the watch over breakers', () => {
  afterEach(() => void vi.useRealTimers())

  it('tells when an agent told of a breaker of its own', async () => {
    vi.useFakeTimers()
    const { watch, report } = scene()
    const told: number[] = []
    const stop = watch.listen((mark) => told.push(mark))
    await vi.advanceTimersByTimeAsync(1000)
    report(1_700_000_000_000)
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toEqual([0])
    stop()
  })

  it('tells of each change after one began to listen, and of none before', async () => {
    vi.useFakeTimers()
    const { marks, watch } = scene()
    marks.push(4)
    const told: number[] = []
    const stop = watch.listen((mark) => told.push(mark))
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toEqual([])
    marks.push(5)
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toEqual([5])
    stop()
    marks.push(6)
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toEqual([5])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tells when a hold comes and goes', async () => {
    vi.useFakeTimers()
    const { holds, watch } = scene()
    const told: number[] = []
    watch.listen((mark) => told.push(mark))
    await vi.advanceTimersByTimeAsync(300)
    holds.push({ downstream: 'host:a:1', runId: 'run_1', approval: '', heldAt: 0 } as CircuitHold)
    await vi.advanceTimersByTimeAsync(300)
    holds.pop()
    await vi.advanceTimersByTimeAsync(300)
    expect(told).toEqual([0, 0])
  })

  it('goes on looking after a look that failed', async () => {
    vi.useFakeTimers()
    const { marks, failed, watch, fail } = scene()
    const told: number[] = []
    watch.listen((mark) => told.push(mark))
    await vi.advanceTimersByTimeAsync(300)
    fail(true)
    marks.push(1)
    await vi.advanceTimersByTimeAsync(300)
    expect(failed).toHaveLength(1)
    fail(false)
    await vi.advanceTimersByTimeAsync(300)
    expect(told).toEqual([1])
  })
})
