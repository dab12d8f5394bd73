/*
 * The storm that `npm start` brings along (examples/workflows/storm-*): the monitor that three workflows share is made to
 * fail, their breakers open, people are asked once, and what one of the workflows did is taken back over four agents.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RunId } from '@/lib/base/ids'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { getApproval } from '../handlers/approvals'
import type { Browser } from '../testing/console'
import { type LabName, LabScene, oneStep } from '../testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator', 'coordinator')
})
afterAll(() => scene.close())

const stateFiles: [LabName, string][] = [
  ['edge-router-07', 'running-config'],
  ['edge-router-08', 'running-config'],
  ['dns-steering', 'weights.json'],
]
const states = () => stateFiles.map(([name, file]) => scene.stateOf(name, file).toString())
const monitor = labId('traffic-monitor')

/** The failover, up to where it waits behind the breaker to the monitor. */
async function heldUp(): Promise<RunId> {
  await scene.fail('traffic-monitor', { kind: 'errors' })
  const run = await scene.start(await scene.example('storm-failover'))
  await scene.untilFact(run, 'call_rejected')
  return run
}

async function acted(run: RunId) {
  const facts = await scene.facts(run)
  const agentOf = new Map(
    (await scene.look(run, ({ graph }) => [...graph.nodes])).map(([id, { config }]) => [id, config.agent]),
  )
  const rows = facts.flatMap((fact) =>
    fact.type === 'rollback_act_result'
      ? [[agentOf.get(fact.node), fact.status, fact.evidence !== undefined] as const]
      : [],
  )
  return { facts, acts: new Map(rows.map(([agent, ...rest]) => [String(agent).split('/').at(-1), rest])) }
}

it('opens three breakers on one monitor, asks once, and takes the failover back byte for byte', async () => {
  const before = states()
  const failover = await heldUp()
  expect(states()).not.toEqual(before)
  const runs = [failover]
  for (const name of ['storm-watch', 'storm-hourly']) runs.push(await scene.start(await scene.example(name)))
  for (const run of runs) await scene.untilFact(run, 'circuit_open')
  const circuits = await scene.at.house.store.circuits.ofDownstream(monitor)
  expect(circuits.map(({ caller, state }) => [caller, state.calculated.status]).sort()).toEqual([
    ['workflow:storm-failover', 'open'],
    ['workflow:storm-hourly', 'open'],
    ['workflow:storm-watch', 'open'],
  ])
  // The run whose call was the last straw is the one that asks.
  const asked = await Promise.any(runs.map((run) => scene.question(run, 'circuit')))
  expect(asked.sentence).toContain('3 breakers')
  expect((await scene.questions(runs)).filter(({ kind }) => kind === 'circuit')).toHaveLength(1)

  const rollback = await scene.rollBack(otto, failover, 'move-traffic', 'sub_dag')
  const status = await scene.until(failover, 'The result', ({ rollbacks }) => rollbacks.get(rollback)?.status)
  const votes = (await scene.facts(failover)).flatMap((fact) => (fact.type === 'rollback_vote' ? [fact] : []))
  expect(votes.map(({ agent, vote, how, reason }) => [agent, vote, how, reason]).sort()).toEqual([
    [labId('dns-steering'), 'prepared', 'asked', undefined],
    [labId('edge-router-07'), 'prepared', 'asked', undefined],
    [labId('edge-router-08'), 'prepared', 'asked', undefined],
    [labId('mailer'), 'cannot_prepare', 'derived', 'irreversible'],
  ])
  const { acts } = await acted(failover)
  expect(Object.fromEntries(acts)).toMatchObject({
    'edge-router-07': ['completed', true],
    'edge-router-08': ['completed', true],
    'dns-steering': ['completed', true],
  })
  expect(acts.get('mailer')?.[0]).toBe('escalated')
  expect(status).toBe('partial')
  expect(states()).toEqual(before)
  const escalated = await scene.question(failover, 'rollback_escalated')
  expect(escalated).toMatchObject({
    node: 'tell-noc',
    sentence: '"Mail the operators on call" cannot be undone: see what it did to noc@example.com',
  })
  const card = await otto.ask<ApprovalCard>(getApproval, 'GET', { params: { approval: escalated.id } })
  expect(card.body.did).toEqual({
    action: await scene.look(failover, ({ visits }) => visits.get('tell-noc')?.action),
    preview: {
      show: 'text',
      title: expect.stringContaining('noc@example.com: Traffic moves to transit-b'),
      text: expect.stringContaining('"operation": "send-mail"'),
    },
  })
})

describe('an agent that dies between prepare and execute', () => {
  beforeEach(() => scene.fail('traffic-monitor', { kind: 'none' }))
  afterEach(() => scene.fail('dns-steering', { kind: 'none' }))

  it('is asked again when it is back, and restores once', async () => {
    const before = states()
    const version = await scene.workflow(oneStep('steer', 'dns-steering', 'shift-weight'))
    const run = await scene.start(version)
    await scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? true : undefined))
    await scene.fail('dns-steering', { kind: 'dies' })
    const rollback = await scene.rollBack(otto, run, 'step', 'single')
    const status = await scene.until(
      run,
      'The result',
      ({ rollbacks }) => rollbacks.get(rollback)?.status,
      60_000,
    )
    expect(status).toBe('completed')
    expect(states().at(2)).toEqual(before.at(2))
    const { facts } = await acted(run)
    expect(facts.filter((fact) => fact.type === 'rollback_vote')).toHaveLength(1)
  })
})
