/*
 * The run that carries the one question about a failing agent is taken back, or ends, before anybody answered. The question
 * is about the agent: while another run waits behind it, its probes stay held and that run asks.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RunId } from '@/lib/base/ids'
import type { Downstream } from '@/lib/breaker/terms'
import { askShared } from '@/lib/worker/circuit-questions'
import type { Browser } from '../testing/console'
import { LabScene } from '../testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator', 'coordinator')
})
afterAll(() => scene.close())

const monitor = labId('traffic-monitor') as Downstream
const holds = async () => (await scene.at.house.store.circuits.news(0)).holds
const openQuestions = async (runs: readonly RunId[]) =>
  (await scene.questions(runs)).filter(({ kind }) => kind === 'circuit')

it('asks in another run that waits when the asking one is taken back, and holds nothing when the last one ends', async () => {
  await scene.fail('traffic-monitor', { kind: 'errors' })
  const started: RunId[] = []
  // The last of the three is the one whose call is the last straw.
  for (const name of ['storm-watch', 'storm-hourly', 'storm-failover']) {
    const run = await scene.start(await scene.example(name))
    await scene.untilFact(run, 'circuit_open')
    started.push(run)
  }
  const [watch, , failover] = started as [RunId, RunId, RunId]
  const first = await scene.question(failover, 'circuit')
  await scene.untilFact(watch, 'call_rejected')

  await scene.rollBack(otto, failover, 'move-traffic', 'sub_dag')
  const second = await scene.question(watch, 'circuit')
  expect(second).toMatchObject({ sentence: first.sentence, node: 'own-flows', role: 'operator' })
  expect(second.reason).toContain('the run that asked before was taken back or ended')
  expect(await openQuestions(started)).toEqual([second])
  await expect.poll(holds).toMatchObject([{ downstream: monitor, runId: watch, approval: second.id }])
  expect((await scene.facts(watch)).map(({ type }) => type)).not.toContain('circuit_released')
  const circuits = await scene.at.house.store.circuits.ofDownstream(monitor)
  expect(circuits.map(({ state }) => state.calculated.status)).toEqual(['open', 'open', 'open'])

  // A process that dies after it asked, and before it said so, leaves a question that the next one finds.
  const { ports, store } = scene.at.house
  const shared = { downstream: monitor, runId: failover, visit: 1, because: 'unanswered' } as const
  const found = await askShared(ports, store.circuits, { ...shared, callers: [], reopened: 0, sentence: '' })
  expect(found).toEqual({ runId: watch, approval: second.id })
  expect(await openQuestions(started)).toEqual([second])

  await scene.at.house.book.execute(watch, { type: 'cancel', by: 'person:otto', reason: 'Enough.' })
  await expect.poll(holds).toEqual([])
  expect(await openQuestions(started)).toEqual([])
})
