/* How long a rollback may take: what its operator says, and not a second past half the life of a checkpoint. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RunId } from '@/lib/base/ids'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { postPlan, postRollback } from './handlers/rollbacks'
import type { Browser } from './testing/console'
import { LabScene } from './testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator')
})
afterAll(() => scene.close())

async function steered(constraints: Record<string, unknown> = {}): Promise<RunId> {
  const node = {
    ...{ id: 'steer', label: 'Steer', hitl_required: false, agent: labId('dns-steering'), constraints },
    agent_config: { operation: 'shift-weight', input: { transit_b: 60 } },
  }
  const text = JSON.stringify({ wf_id: 'steers', description: 'Steers', nodes: [node], edges: [] })
  const run = await scene.start(await scene.workflow(text))
  await scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? state : undefined))
  return run
}

async function asked(run: RunId, more: object) {
  const wish = { node: 'steer', scope: 'single' }
  const plan = await otto.ask<RollbackPlanView>(postPlan, 'POST', { params: { run }, body: wish })
  const body = { ...wish, digest: plan.body.digest, ...more }
  return otto.ask<RollbackView & { code?: string; detail?: string }>(postRollback, 'POST', {
    params: { run },
    body,
  })
}

it.each([
  ['60 s where nobody says', {}, 60],
  ['what the operator says', { deadline_s: 300 }, 300],
])('is %s', async (_name, more, seconds) => {
  const { status, body } = await asked(await steered(), more)
  expect(status, JSON.stringify(body)).toBe(202)
  expect(body.deadlineAt - body.askedAt).toBe(seconds * 1000)
})

it.each([0, 1.5, 86_401, '60'])('is refused as %j, and nothing is done', async (deadline_s) => {
  const run = await steered()
  const { status, body } = await asked(run, { deadline_s })
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain('deadline_s')
  expect(await scene.until(run, 'The run', (it) => it)).toMatchObject({ rollbacks: new Map() })
})
