/** Lists of runs: filtered, sorted, by pages. */
import { expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { RunHeader, RunProjection } from '@/lib/engine/ports'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit, nextCommit, running } from '../story'

export function listingRuns(store: () => Store): void {
  const start = async (startedAt: number, more: Partial<RunProjection> = {}, workflowName = 'deploy') => {
    const run = aRun()
    const commit = firstCommit(run, { projection: { ...running, startedAt, ...more } })
    await store().ledger.commit({ ...commit, create: commit.create && { ...commit.create, workflowName } })
    return run.runId
  }
  const ids = (items: { runId: RunId }[]) => items.map((run) => run.runId)

  it('shows a run as the last commit left it', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const projection: RunProjection = {
      ...running,
      status: 'ended',
      terminal: 'success',
      endedAt: 1_700_000_000_000,
      updatedAt: 1_700_000_000_000,
      doneCount: 3,
      dueAt: null,
    }
    await store().ledger.commit(nextCommit(run, 1, 2, { projection }))
    const { create } = firstCommit(run)
    expect(await store().runs.get(run.runId)).toEqual({ ...create, ...projection, seq: 3 })
    expect(await store().runs.get(aRun().runId)).toBeUndefined()
  })

  it('keeps when a run started as its first commit said, and how many nodes it has as its last one does', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const projection = { ...running, startedAt: 9_999, nodeCount: 99, doneCount: 1 }
    await store().ledger.commit(nextCommit(run, 1, 1, { projection }))
    expect(await store().runs.get(run.runId)).toMatchObject({ startedAt: 1_000, nodeCount: 99, doneCount: 1 })
  })

  it('knows the runs that a step began, apart from those of other steps and visits, and how they stand', async () => {
    const above = aRun()
    await store().ledger.commit(firstCommit(above))
    const below = async (
      node: string,
      visit: number,
      index: number,
      projection: Partial<RunProjection> = {},
    ) => {
      const run = aRun()
      const first = firstCommit(run)
      await store().ledger.commit({
        ...first,
        create: { ...first.create, parent: { runId: above.runId, node, visit, index } } as RunHeader,
        projection: { ...running, ...projection },
      })
      return run.runId
    }
    const asking = await below('each', 1, 0, { status: 'waiting', openApprovals: 1 })
    const failed = await below('each', 1, 1, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const second = await below('each', 2, 0)
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items).toSorted()
    const parent = above.runId
    expect(await list({ parent })).toEqual([asking, failed, second].toSorted())
    expect(await list({ parent, parentStep: { node: 'each', visit: 1 } })).toEqual(
      [asking, failed].toSorted(),
    )
    expect(await list({ parents: [parent], asking: true })).toEqual([asking])
    expect(await list({ parents: [] })).toEqual([])
    const counts = await store().runs.childCounts(parent)
    expect(counts).toHaveLength(3)
    expect(counts).toContainEqual({ node: 'each', visit: 1, n: 1, status: 'ended', terminal: 'failed' })
    expect(counts).toContainEqual({ node: 'each', visit: 1, n: 1, status: 'waiting' })
    expect(counts).toContainEqual({ node: 'each', visit: 2, n: 1, status: 'running' })
    expect(await store().runs.childCounts(second)).toEqual([])
  })

  it('knows the runs that were forked from others', async () => {
    const original = aRun()
    await store().ledger.commit(firstCommit(original))
    const forked = async (forkOf: RunId) => {
      const run = aRun()
      const first = firstCommit(run)
      await store().ledger.commit({ ...first, create: { ...first.create, forkOf } as RunHeader })
      return run.runId
    }
    const fork = await forked(original.runId)
    const ofFork = await forked(fork)
    expect((await store().ledger.header(fork))?.forkOf).toBe(original.runId)
    expect((await store().runs.get(ofFork))?.forkOf).toBe(fork)
    expect(await store().runs.get(original.runId)).not.toHaveProperty('forkOf')
    const of = async (forksOf: RunId[]) =>
      ids((await store().runs.list({ forksOf }, { limit: 10 })).items).toSorted()
    expect(await of([original.runId])).toEqual([fork])
    expect(await of([original.runId, fork])).toEqual([fork, ofFork].toSorted())
    expect(await of([])).toEqual([])
  })

  it('narrows by every filter', async () => {
    const old = await start(1_000, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const stuck = await start(2_000, { failedCount: 1 })
    const waiting = await start(3_000, { status: 'waiting', openApprovals: 1 }, 'Rotate_keys')
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items)
    expect(await list({})).toEqual([waiting, stuck, old])
    expect(await list({ status: ['ended', 'waiting'] })).toEqual([waiting, old])
    expect(await list({ status: [] })).toEqual([])
    expect(await list({ terminal: ['failed'] })).toEqual([old])
    expect(await list({ workflow: 'Rotate_keys' })).toEqual([waiting])
    expect(await list({ text: 'rotate' })).toEqual([waiting])
    expect(await list({ text: stuck.slice(10, 30) })).toEqual([stuck])
    expect(await list({ text: 'r%_keys' })).toEqual([waiting])
    expect(await list({ text: 'rotate.keys' })).toEqual([])
    expect(await list({ text: 'e_k' })).toEqual([waiting])
    expect(await list({ startedBy: 'person:ada', since: 2_000, until: 3_000 })).toEqual([stuck])
    expect(await list({ failing: true })).toEqual([stuck, old])
    expect(await list({ parent: 'none' })).toEqual([waiting, stuck, old])
    expect(await list({ parent: old })).toEqual([])
    expect(await list({ failing: false })).toEqual([waiting])
    expect(await list({ version: sha256('none') })).toEqual([])
    expect(await store().runs.count({ failing: true })).toBe(2)
    expect(await store().runs.counts(1_500)).toEqual({
      byStatus: {
        running: 1,
        waiting: 1,
        paused: 0,
        cancelling: 0,
        rolling_back: 0,
        rolled_back: 0,
        ended: 1,
      },
      failing: 2,
      endedSince: 1,
    })
    expect(await store().runs.counts(2_001)).toMatchObject({ failing: 2, endedSince: 0 })
    const handed = await start(3_500, { status: 'paused', escalatedCount: 1 })
    expect(await store().runs.get(handed)).toMatchObject({ failedCount: 0, escalatedCount: 1 })
    expect(await list({ failing: true })).toEqual([handed, stuck, old])
    await start(4_000, { status: 'ended', terminal: 'rolled_back', failedCount: 1, endedAt: 5_000 })
    expect(await store().runs.count({ failing: true })).toBe(3)
  })

  it('tells what somebody cancelled, and what came to a limit, from what failed', async () => {
    const failed = await start(1_000, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const cancelled = await start(2_000, {
      status: 'ended',
      terminal: 'failed',
      stopped: 'cancelled',
      failedCount: 1,
      endedAt: 3_000,
    })
    const exhausted = await start(3_000, {
      status: 'ended',
      terminal: 'failed',
      stopped: 'exhausted',
      endedAt: 4_000,
    })
    const flagged = await start(3_500, {
      status: 'ended',
      terminal: 'success',
      stopped: 'flagged',
      failedCount: 1,
      endedAt: 4_500,
    })
    const well = await start(3_700, { status: 'ended', terminal: 'success', endedAt: 4_600 })
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items)
    expect(await list({ terminal: ['success'], stopped: 'none' })).toEqual([well])
    expect(await list({ stopped: 'flagged' })).toEqual([flagged])
    expect((await store().runs.get(exhausted))?.stopped).toBe('exhausted')
    expect((await store().runs.get(cancelled))?.stopped).toBe('cancelled')
    expect(await list({ terminal: ['failed'] })).toEqual([exhausted, cancelled, failed])
    expect(await list({ terminal: ['failed'], stopped: 'none' })).toEqual([failed])
    expect(await list({ stopped: 'cancelled' })).toEqual([cancelled])
    expect(await list({ stopped: 'exhausted' })).toEqual([exhausted])
    expect(await list({ failing: true })).toEqual([flagged, failed])
    expect(await list({ failing: false })).toEqual([well, exhausted, cancelled])
    expect((await store().runs.counts(0)).failing).toBe(2)
  })

  it('pages without a miss or a double while runs are being started', async () => {
    const before: RunId[] = []
    for (let index = 0; index < 25; index++) before.push(await start(1_000 + (index % 5)))
    const seen: RunId[] = []
    let cursor: string | undefined
    do {
      const page = await store().runs.list({ text: 'deploy' }, { limit: 4, cursor })
      seen.push(...ids(page.items))
      cursor = page.next
      await start(5_000)
    } while (cursor)
    expect(seen).toHaveLength(25)
    expect([...seen].sort()).toEqual([...before].sort())
  })

  it('refuses a cursor that it did not give out', async () => {
    const foreign = Buffer.from('["open",null,1,"a"]').toString('base64url')
    for (const cursor of ['', 'nonsense', foreign, Buffer.from('["runs",1.5,"a"]').toString('base64url')]) {
      const problem = await refusal(store().runs.list({}, { limit: 5, cursor }), 'cursor_invalid')
      expect(problem.message).toBe(
        `The cursor "${cursor}" was not given out by this list; start again without a cursor`,
      )
    }
    for (const limit of [0, 501, 1.5, Number.NaN]) {
      await refusal(store().runs.list({}, { limit }), 'bad_request')
    }
  })
}
