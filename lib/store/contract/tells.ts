/** Whoever waits for appends hears of them. */
import { expect, it } from 'vitest'
import type { AppendEvent, Store } from '../store'
import { aRun, firstCommit, nextCommit, type TestRun } from '../story'

export function telling(store: () => Store): void {
  it('tells of each appended row once, in order, after it is there', async () => {
    const told: AppendEvent[] = []
    const stop = store().onAppend((event) => told.push(event))
    const runs = [aRun(), aRun(), aRun()]
    await Promise.all(runs.map((run) => store().ledger.commit(firstCommit(run))))
    await Promise.allSettled([
      store().ledger.commit(nextCommit(runs[0] as TestRun, 1, 2)),
      store().ledger.commit(nextCommit(runs[1] as TestRun, 5, 2)),
      store().ledger.commit(nextCommit(runs[2] as TestRun, 1, 0)),
      store().ledger.commit(nextCommit(runs[2] as TestRun, 1, 1)),
    ])
    expect(told.flatMap((event) => event.positions)).toEqual([1, 2, 3, 4, 5, 6])
    expect(told.slice(3)).toEqual([
      { runId: runs[0]?.runId, positions: [4, 5] },
      { runId: runs[2]?.runId, positions: [6] },
    ])
    stop()
    await store().ledger.commit(nextCommit(runs[0] as TestRun, 3, 1))
    expect(told).toHaveLength(5)
  })

  it('tells a listener only of what comes after it', async () => {
    await store().ledger.commit(firstCommit(aRun()))
    const told: number[] = []
    store().onAppend((event) => told.push(...event.positions))
    await store().ledger.commit(firstCommit(aRun()))
    expect(told).toEqual([2])
  })
}
