import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunProjection } from '@/lib/engine/ports'
import { aRun, firstCommit, running } from '@/lib/store/story'
import type { Overview, Page, RunRow } from '@/lib/view/wire'
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
