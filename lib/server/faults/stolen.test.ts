/* Agents that present another agent's token: as an answer to a rollback, and as a request at this console's door. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { Browser } from '../testing/console'
import { LabScene, oneStep } from '../testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator', 'coordinator')
})
afterEach(() => scene.fail('dns-steering', { kind: 'none' }))
afterAll(() => scene.close())

it.each(['stolen', 'unsigned'] as const)(
  'does not believe a vote that is %s, and takes it back once the agent signs for itself',
  async (kind) => {
    const before = scene.stateOf('dns-steering', 'weights.json')
    const run = await scene.start(await scene.workflow(oneStep('steer', 'dns-steering', 'shift-weight')))
    await scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? true : undefined))
    await scene.fail('dns-steering', { kind })
    const changed = scene.stateOf('dns-steering', 'weights.json')
    const rollback = await scene.rollBack(otto, run, 'step', 'single')
    const vote = scene.untilFact(run, 'rollback_vote')
    // Long enough for many answers that nobody may believe.
    const early = await Promise.race([
      vote.then(() => 'voted'),
      new Promise((resolve) => setTimeout(resolve, 2_000, 'not yet')),
    ])
    expect(early).toBe('not yet')
    expect(scene.stateOf('dns-steering', 'weights.json')).toEqual(changed)
    await scene.fail('dns-steering', { kind: 'none' })
    expect(await vote).toMatchObject({ agent: labId('dns-steering'), vote: 'prepared', how: 'asked' })
    expect(await scene.until(run, 'The result', ({ rollbacks }) => rollbacks.get(rollback)?.status)).toBe(
      'completed',
    )
    expect(scene.stateOf('dns-steering', 'weights.json')).toEqual(before)
  },
)
