/** Groups of checkpoints that agents take over the tasks API (NOTES 3.4). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { Visit } from '@/lib/engine/run'
import { undoableCheckpoints } from '@/lib/engine/undoable'
import { startRun } from '../runs'
import { claimTask } from '../tasks'
import type { Browser } from '../testing/console'
import { DoorsScene, knock, type TestAgent } from '../testing/doors-scene'
import { importWorkflow } from '../workflows'
import { postCheckpoint } from './tasks'
import { postAgentRollback } from './well-known'

let scene: DoorsScene
let ada: Browser
beforeAll(async () => {
  scene = await DoorsScene.open()
  ada = await scene.console.person('ada', 'operator')
})
afterAll(() => scene.close())

const hints = { priority: 'normal', timeout_s: 30 }
const task = { id: 'move', label: 'Move', reversible: true, hitl_required: false, resource_hints: hints }

async function claimed(): Promise<RunId> {
  const text = JSON.stringify({ wf_id: 'groups', nodes: [task], edges: [] })
  const { record } = await importWorkflow(scene.house, text, { by: 'person:ada' })
  const { version } = record
  const runId = await startRun(scene.house, { version, input: {}, by: 'person:ada', dryRun: false })
  await scene.until(runId, (run) => (run.visits.get('move')?.state.status === 'waiting' ? true : undefined))
  await claimTask(scene.house, { runId, node: 'move', visit: 1 }, scene.a.id, 60)
  return runId
}

async function take(run: RunId, children?: string[]) {
  const body = {
    agent: scene.a.id,
    out_hash: 'x'.repeat(43),
    reversible: true,
    rollback_uri: 'http://127.0.0.1:1/.well-known/atd/rollback',
    target: 'router-07',
    description: 'Move a peer',
    ...(children && { children }),
  }
  const params = { run, node: 'move' }
  const said = await ada.ask<{ checkpoint_id: string; code: string; detail: string }>(
    postCheckpoint,
    'POST',
    { params, body },
  )
  return { status: said.status, ...said.body }
}

const undone = (run: RunId) =>
  scene.house.book.read(run, (now) =>
    undoableCheckpoints(now, now.visits.get('move') as Visit).map(({ jti }) => jti),
  )

it('takes several checkpoints back, the latest first, grouped or not', async () => {
  const run = await claimed()
  const [one, two] = [await take(run), await take(run)]
  expect(await undone(run)).toEqual([two.checkpoint_id, one.checkpoint_id])
  const group = await take(run, [one.checkpoint_id, two.checkpoint_id])
  expect(group.status).toBe(201)
  expect(await undone(run)).toEqual([two.checkpoint_id, one.checkpoint_id])
  const kept = await scene.house.book.read(run, (now) => now.checkpoints.get(group.checkpoint_id)?.children)
  expect(kept).toEqual([one.checkpoint_id, two.checkpoint_id])
})

it('groups only checkpoints of its own step, and each once', async () => {
  const run = await claimed()
  const [one, other] = [await take(run), await take(await claimed())]
  const foreign = await take(run, [other.checkpoint_id])
  expect([foreign.status, foreign.code]).toEqual([400, 'bad_request'])
  expect(foreign.detail).toContain('is no checkpoint of move in visit 1 that a group can take')
  expect((await take(run, [one.checkpoint_id])).status).toBe(201)
  expect((await take(run, [one.checkpoint_id])).status).toBe(400)
})

it('are asked for one at a time under ATD: nothing is picked out of several', async () => {
  const run = await claimed()
  const [one, two] = [await take(run), await take(run)]
  const par = [one.checkpoint_id, two.checkpoint_id]
  const path = '/.well-known/atd/rollback'
  const ask = (agent: TestAgent) =>
    knock(postAgentRollback, { path, token: agent.token('atd:rollback_request', run, { par }), body: {} })
  const both = await ask(scene.a)
  expect([both.status, both.body.code]).toEqual([403, 'ect_claim_invalid'])
  expect(both.body.detail).toContain('names 2 checkpoints among its parents')
  // A stranger is not told even that.
  expect((await ask(scene.c)).body.code).toBe('rollback_outside_run')
  expect(await scene.house.book.read(run, (now) => now.rollbacks.size)).toBe(0)
})
