import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunProjection } from '@/lib/engine/ports'
import { aRun, firstCommit, running } from '@/lib/store/story'
import type { Overview } from '@/lib/view/overview-wire'
import type { RunRow } from '@/lib/view/run-wire'
import type { Page } from '@/lib/view/wire'
import { type Browser, TestConsole } from '../testing/console'
import { getOverview } from './overview'
import { listRuns } from './runs'

let at: TestConsole
let ada: Browser
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'viewer')
})
afterAll(() => at.close())

async function ended(more: Partial<RunProjection>): Promise<string> {
  const run = aRun()
  const projection: RunProjection = { ...running, status: 'ended', endedAt: 2_000, dueAt: null, ...more }
  await at.house.store.ledger.commit(firstCommit(run, { projection }))
  return run.runId
}

it('finds cancelled runs under their own word, and not among those that failed', async () => {
  const failed = await ended({ terminal: 'failed', failedCount: 1 })
  const cancelled = await ended({ terminal: 'failed', stopped: 'cancelled' })
  const found = async (status: string) => {
    const { body } = await ada.ask<Page<RunRow>>(listRuns, 'GET', { query: `?status=${status}` })
    return body.items.map(({ id, terminal, stopped }) => ({ id, terminal, stopped }))
  }
  expect(await found('cancelled')).toEqual([{ id: cancelled, terminal: 'failed', stopped: 'cancelled' }])
  expect(await found('failed')).toEqual([{ id: failed, terminal: 'failed', stopped: undefined }])
  expect(await found('ended')).toHaveLength(2)
  const overview = await ada.ask<Overview>(getOverview, 'GET')
  expect(overview.body.failing.map(({ id }) => id)).toEqual([failed])
  expect(overview.body.counts.failing).toBe(1)
})

it('tells runs that are at rest from those that run', async () => {
  const started = async (more: Partial<RunProjection>) => {
    const run = aRun()
    await at.house.store.ledger.commit(firstCommit(run, { projection: { ...running, dueAt: null, ...more } }))
    return run.runId
  }
  const back = await started({ status: 'rolled_back', openApprovals: 1 })
  const paused = await started({ status: 'paused' })
  const behind = await started({ status: 'waiting', waitsOn: ['c1'] })
  const asked = await started({ status: 'waiting', openApprovals: 1 })
  const moving = await started({ status: 'rolling_back' })
  const askingBack = await started({ status: 'rolling_back', openApprovals: 1 })
  const limping = await started({ status: 'paused', failedCount: 1 })
  const { body } = await ada.ask<Overview>(getOverview, 'GET')
  const ids = (rows: RunRow[]) => rows.map(({ id }) => id)
  expect(ids(body.toChoose), 'somebody has to say how it goes on').toEqual([back])
  expect(new Set(ids(body.resting))).toEqual(new Set([paused, behind, limping]))
  expect(ids(body.running)).toEqual([moving])
  expect(ids(body.resting)).not.toContain(asked)
  expect(ids(body.failing), 'a run under way has not failed').not.toContain(limping)
  expect(ids(body.recent), 'each run once').not.toEqual(expect.arrayContaining(ids(body.failing)))
  const listed = [...body.toChoose, ...body.running, ...body.resting, ...body.failing, ...body.recent].map(
    ({ id }) => id,
  )
  expect(new Set(listed).size).toBe(listed.length)
  expect(listed, 'its question stands for it').not.toContain(askingBack)
  expect(body.counts).toMatchObject({ running: 1, resting: 3, toChoose: 1 })
})
