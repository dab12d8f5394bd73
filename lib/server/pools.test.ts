import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import type { Run } from '@/lib/engine/run'
import { startWorker, type Worker } from '@/lib/worker/worker'
import { startRun } from './runs'
import { TestConsole } from './testing/console'
import { MovedClock } from './testing/moved-clock'
import { importWorkflow } from './workflows'

const by = 'person:otto'
let clock: MovedClock
let at: TestConsole

beforeAll(async () => {
  clock = new MovedClock()
  at = await TestConsole.open({ timer: clock })
})
afterAll(() => at.close())

/** Begins a run of one step that fills a template, and asks for so much. */
async function begun(hints: object): Promise<RunId> {
  const text = JSON.stringify({
    wf_id: 'hungry',
    nodes: [{ id: 'eat', action: { type: 'template_render', template: 'full' }, resource_hints: hints }],
    edges: [],
  })
  const { record } = await importWorkflow(at.house, text, { by, filename: 'hungry.atd.json' })
  return startRun(at.house, { version: record.version, input: {}, by, dryRun: false })
}

/** Looks whenever a token was added. */
async function until(runId: RunId, holds: (run: Run) => boolean): Promise<void> {
  for (;;) {
    const more = new Promise<void>((resolve) => {
      const stop = at.house.store.onAppend((event) => {
        if (event.runId !== runId) return
        stop()
        resolve()
      })
    })
    if (await at.house.book.read(runId, holds)) return
    await more
  }
}

async function warnings(runId: RunId): Promise<string[]> {
  const rows = await at.house.store.ledger.rows(runId, 0, 1_000)
  return rows.flatMap(({ token }) => {
    const fact = factOf(parseClaims(unverifiedPayload(token)))
    return fact.type === 'error' ? [`${fact.severity} ${fact.errorType} ${fact.code}`] : []
  })
}

it('asks a person about critical work that found no room for a minute', async () => {
  const run = await begun({ cpu: '10000', priority: 'critical' })
  const gone = new AbortController()
  const asks = { id: `${run} eat 1`, pool: 'here', workflow: 'hungry', priority: 'critical' } as const
  const entering = at.house.ports.pools.enter(
    { ...asks, resources: { cpu: 10_000 }, since: clock.now() },
    gone.signal,
  )
  clock.advance(61_000)
  await until(run, ({ openApprovals }) => openApprovals.size > 0)
  expect(await warnings(run)).toEqual(['warning resource_exhausted resource_exhausted'])
  const [question] = await at.house.store.approvals.ofRun(run)
  expect(question).toMatchObject({ kind: 'resource_exhausted', role: 'operator' })
  gone.abort(new Error('no more'))
  await expect(entering).rejects.toThrow('no more')
})

it('lets a step go on with less than it asked for, and says so by a token', async () => {
  const worker: Worker = startWorker(at.house.ports, 'test')
  const run = await begun({ cpu: '10000' })
  await until(run, ({ state }) => state.status === 'ended')
  expect(await warnings(run)).toEqual(['warning resource_exhausted resources_degraded'])
  await worker.stop()
})
