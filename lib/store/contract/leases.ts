/** One holder at a time, and what an old one does is refused. */
import { expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { RunHeader } from '@/lib/engine/ports'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit, nextCommit, running, type TestRun } from '../story'

export function leasing(store: () => Store): void {
  const due = async (dueAt: number | null): Promise<TestRun> => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run, { projection: { ...running, dueAt } }))
    return run
  }

  it('hands out the longest due first, each once', async () => {
    const runs = [await due(300), await due(100), await due(null), await due(200), await due(900)]
    const ids = (leases: { runId: RunId }[]) => leases.map((lease) => lease.runId)
    expect(ids(await store().leases.claimDue('a', 2, 500, 30_000))).toEqual([runs[1]?.runId, runs[3]?.runId])
    expect(ids(await store().leases.claimDue('b', 2, 500, 30_000))).toEqual([runs[0]?.runId])
    expect(await store().leases.claimDue('c', 2, 500, 30_000)).toEqual([])
    expect(await store().leases.nextDue('z', 500)).toBe(900)
  })

  it('shares the due runs among workers that ask at once', async () => {
    const runs = await Promise.all(Array.from({ length: 30 }, () => due(1)))
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) => store().leases.claimDue(owner, 10, 5, 1_000)),
    )
    const claimed = claims.flat().map((lease) => lease.runId)
    expect(claimed.sort()).toEqual(runs.map((run) => run.runId).sort())
  })

  it('gives a silent holder’s run to another under a new epoch, and refuses the old one’s commit', async () => {
    const run = await due(100)
    const [old] = await store().leases.claimDue('a', 1, 100, 1_000)
    expect(await store().leases.nextDue('z', 200)).toBe(1_100)
    expect(await store().leases.claim('b', run.runId, 1_099, 1_000)).toBeUndefined()
    const fresh = await store().leases.claim('b', run.runId, 1_100, 1_000)
    expect(fresh).toEqual({ runId: run.runId, owner: 'b', epoch: (old?.epoch ?? 0) + 1 })
    const problem = await refusal(store().ledger.commit(nextCommit(run, 1, 1, { lease: old })), 'lease_lost')
    expect(problem.message).toBe(
      `a no longer holds the lease on ${run.runId} of epoch 1: b holds it under epoch 2; its work is dropped`,
    )
    await store().ledger.commit(nextCommit(run, 1, 1, { lease: fresh }))
    expect(await store().leases.heartbeat(old ? [old] : [], 1_200, 1_000)).toEqual([])
  })

  it('lets nobody begin a run under a lease on another run that is over', async () => {
    const above = await due(100)
    const [old] = await store().leases.claimDue('a', 1, 100, 1_000)
    const fresh = await store().leases.claim('b', above.runId, 1_100, 1_000)
    const child = aRun()
    const problem = await refusal(store().ledger.commit(firstCommit(child, { lease: old })), 'lease_lost')
    expect(problem.message).toContain(`a no longer holds the lease on ${above.runId} of epoch 1`)
    expect(await store().ledger.header(child.runId)).toBeUndefined()
    await store().ledger.commit(firstCommit(child, { lease: fresh }))
    await refusal(store().ledger.commit(firstCommit(child, { lease: fresh })), 'sequence_taken')
  })

  it('does not let a worker back in under an epoch that is over', async () => {
    const run = await due(100)
    const first = await store().leases.claim('a', run.runId, 100, 1_000)
    await store().leases.release(first as NonNullable<typeof first>)
    const problem = await refusal(
      store().ledger.commit(nextCommit(run, 1, 1, { lease: first })),
      'lease_lost',
    )
    expect(problem.message).toContain('nobody holds it')
    const second = await store().leases.claim('a', run.runId, 100, 1_000)
    expect(second?.epoch).toBe(2)
    await refusal(store().ledger.commit(nextCommit(run, 1, 1, { lease: first })), 'lease_lost')
    await store().leases.release(first as NonNullable<typeof first>)
    await store().ledger.commit(nextCommit(run, 1, 1, { lease: second }))
  })

  it('lets go at once of what a dead holder had, and of nothing else', async () => {
    const [its, anothers] = [await due(100), await due(100)]
    const lost = await store().leases.claim('a', its.runId, 100, 1_000)
    await store().leases.claim('b', anothers.runId, 100, 1_000)
    await store().leases.releaseAllOf('a')
    expect(await store().leases.claim('c', its.runId, 101, 1_000)).toMatchObject({ epoch: 2 })
    expect(await store().leases.claim('c', anothers.runId, 101, 1_000)).toBeUndefined()
    await refusal(store().ledger.commit(nextCommit(its, 1, 1, { lease: lost })), 'lease_lost')
  })

  it('passes a run over that is kept for another, until that one is silent for too long', async () => {
    const run = aRun()
    const keptFor = { owner: 'a', until: 1_000 }
    const create = { ...firstCommit(run).create, keptFor } as RunHeader
    await store().ledger.commit(firstCommit(run, { create, projection: { ...running, dueAt: 100 } }))
    const { leases, ledger } = store()
    expect((await ledger.header(run.runId))?.keptFor).toEqual(keptFor)
    expect(await leases.claimDue('b', 1, 999, 1_000)).toEqual([])
    expect(await leases.claim('b', run.runId, 999, 1_000)).toBeUndefined()
    expect([await leases.nextDue('b', 500), await leases.nextDue('a', 500)]).toEqual([1_000, 100])
    const [own] = await leases.claimDue('a', 1, 200, 1_500)
    expect(await leases.nextDue('b', 500)).toBe(1_700)
    await leases.release(own as NonNullable<typeof own>)
    await leases.keepOn('a', 3_000)
    expect(await leases.claimDue('b', 1, 2_999, 1_000)).toEqual([])
    expect(await leases.claimDue('b', 1, 3_000, 1_000)).toHaveLength(1)
    // Whoever woke too late gets nothing back by saying so.
    await leases.keepOn('a', 9_000)
    expect((await ledger.header(run.runId))?.keptFor).toBeUndefined()
    expect(await leases.claim('c', run.runId, 4_000, 1_000)).toMatchObject({ epoch: 3 })
  })

  it('keeps nothing any more for an owner that stops, or is known to be dead', async () => {
    const { leases } = store()
    const runs = [await due(100), await due(100), await due(100)] as const
    await leases.keep('a', runs[0].runId, 0, 9_000)
    await leases.keep('b', runs[1].runId, 0, 9_000)
    await leases.keep('c', runs[2].runId, 0, 9_000)
    await leases.keepNothing('a')
    await leases.releaseAllOf('b')
    const claimed = (await leases.claimDue('d', 9, 100, 1_000)).map(({ runId }) => runId)
    expect(claimed.sort()).toEqual([runs[0].runId, runs[1].runId].sort())
  })

  it('keeps a run with all that its steps began, and takes nothing from another that keeps it', async () => {
    const { leases, ledger } = store()
    const [above, taken] = [await due(100), await due(100)]
    const [child, grandchild] = [aRun(), aRun()]
    for (const [run, { runId }] of [
      [child, above],
      [grandchild, child],
    ] as const) {
      const create = { ...firstCommit(run).create, parent: { runId, node: 'a', visit: 1, index: 0 } }
      await ledger.commit(firstCommit(run, { create: create as RunHeader }))
    }
    await leases.keep('a', above.runId, 0, 1_000)
    for (const { runId } of [above, child, grandchild]) {
      expect((await ledger.header(runId))?.keptFor).toEqual({ owner: 'a', until: 1_000 })
    }
    expect((await ledger.header(taken.runId))?.keptFor).toBeUndefined()
    await leases.keep('b', child.runId, 999, 1_000)
    expect((await ledger.header(child.runId))?.keptFor).toEqual({ owner: 'a', until: 1_000 })
    await leases.keep('b', child.runId, 1_000, 1_000)
    expect((await ledger.header(grandchild.runId))?.keptFor).toEqual({ owner: 'b', until: 2_000 })
    expect((await ledger.header(above.runId))?.keptFor?.owner).toBe('a')
  })

  it('prolongs by heartbeat', async () => {
    const run = await due(100)
    const lease = await store().leases.claim('a', run.runId, 100, 1_000)
    const held = lease ? [lease] : []
    expect(await store().leases.heartbeat(held, 900, 1_000)).toEqual(held)
    expect(await store().leases.claimDue('b', 1, 1_500, 1_000)).toEqual([])
    expect(await store().leases.claimDue('b', 1, 1_900, 1_000)).toHaveLength(1)
  })

  it('lets a person’s command through while a worker holds the run', async () => {
    const run = await due(100)
    const lease = await store().leases.claim('a', run.runId, 100, 1_000)
    await store().ledger.commit(nextCommit(run, 1, 1))
    const late = store().ledger.commit(nextCommit(run, 1, 1, { lease }))
    expect((await refusal(late, 'sequence_taken')).data).toMatchObject({ foundSeq: 2 })
    await store().ledger.commit(nextCommit(run, 2, 1, { lease }))
    expect((await store().runs.get(run.runId))?.lease).toEqual({ owner: 'a', epoch: 1, until: 1_100 })
  })

  it('has nothing to wait for when no run is due', async () => {
    await due(null)
    expect(await store().leases.nextDue('z', 0)).toBeUndefined()
  })
}
