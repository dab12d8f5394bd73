/*
 * The storm that `npm start` brings along (examples/workflows/storm-*): the monitor that three workflows share is made to
 * fail, their breakers open, people are asked once, and what one of the workflows did is taken back over four agents.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { LabScene } from '../testing/lab-scene'

let scene: LabScene
beforeAll(async () => {
  scene = await LabScene.open()
})
afterAll(() => scene.close())

const stateFiles = [
  ['edge-router-07', 'running-config'],
  ['edge-router-08', 'running-config'],
  ['dns-steering', 'weights.json'],
] as const

const openQuestions = async (runs: RunId[]) => {
  const found = await Promise.all(
    runs.map((run) =>
      scene.look(run, ({ approvals }) =>
        [...approvals.values()].filter(({ state }) => state.status === 'open').map(({ kind }) => kind),
      ),
    ),
  )
  return found.flat()
}

it('opens three breakers on one monitor and asks once', async () => {
  const before = stateFiles.map(([name, file]) => scene.stateOf(name, file))
  await scene.fail('traffic-monitor', { kind: 'errors' })
  const runs: RunId[] = []
  for (const name of ['storm-failover', 'storm-watch', 'storm-hourly'])
    runs.push(await scene.start(await scene.example(name)))
  for (const run of runs) await scene.untilFact(run, 'circuit_open')
  const [failover] = runs as [RunId, RunId, RunId]
  await new Promise((resolve) => setTimeout(resolve, 3000))
  for (const run of runs)
    console.log(
      (await scene.facts(run)).map((fact) => `${fact.type} ${'node' in fact ? fact.node : ''}`).join('\n'),
      '\n',
    )
  console.log(await openQuestions(runs))
  console.log(
    (await scene.at.house.store.circuits.ofDownstream('spiffe://holdpoint.local/agent/traffic-monitor')).map(
      (c) => JSON.stringify(c.state),
    ),
  )
  expect(before.length).toBe(3)
  expect(failover).toBeDefined()
})
