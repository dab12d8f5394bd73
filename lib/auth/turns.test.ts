import { describe, expect, it } from 'vitest'
import { isProblem } from '@/lib/base/problem'
import { Turns } from './turns'

describe('turns', () => {
  it('lets a few work at once, the next ones wait in order, and tells the rest to come back', async () => {
    const turns = new Turns(2, 3)
    const begun: number[] = []
    const ends: (() => void)[] = []
    const all = Array.from({ length: 7 }, (_, i) =>
      turns.take(() => {
        begun.push(i)
        return new Promise<void>((done) => ends.push(done))
      }),
    )
    const settled = Promise.allSettled(all)
    expect(begun).toEqual([0, 1])
    for (let i = 0; i < 5; i++) {
      ends[i]?.()
      await all[i]
    }
    const results = await settled
    expect(begun).toEqual([0, 1, 2, 3, 4])
    for (const result of results.slice(5)) {
      expect(result.status === 'rejected' && isProblem(result.reason, 'too_many_attempts')).toBe(true)
    }
    expect(await turns.take(async () => 'free again')).toBe('free again')
  })

  it('gives the turn on when the work fails', async () => {
    const turns = new Turns(1, 0)
    await expect(turns.take(() => Promise.reject(new Error('broke')))).rejects.toThrow('broke')
    expect(await turns.take(async () => 1)).toBe(1)
  })
})
