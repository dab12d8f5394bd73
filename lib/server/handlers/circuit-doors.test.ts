/** Circuits over the AERR and cascade endpoints, as AERR section 6 and NOTES section 4 print them. */
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent } from '@/lib/auth/agents'
import type { RunId } from '@/lib/base/ids'
import { mintUuid } from '@/lib/base/ids'
import { defaultPolicy } from '@/lib/breaker/circuit'
import type { Downstream } from '@/lib/breaker/terms'
import { aerrAgentId } from '@/lib/ect/aerr-words'
import { openKeyRing } from '@/lib/ect/keys-file'
import { EffectFailed } from '@/lib/runners/runner'
import type { CircuitDetail, CircuitList } from '@/lib/view/circuit-wire'
import { DoorsScene, knock, TestAgent } from '../testing/doors-scene'
import { getAerrCircuits } from './aerr'
import { getCascadeCircuits } from './cascade'
import { getCircuit, getCircuits, postForce } from './circuits'

let scene: DoorsScene
let open: string
beforeAll(async () => {
  scene = await DoorsScene.open()
  open = scene.b.id
  for (const [agent, domain] of [
    [scene.a, 'north'],
    [scene.b, 'north'],
    [scene.c, 'south'],
  ] as const) {
    const { id, keys } = agent
    const entry = { id, name: id, baseUrl: 'http://127.0.0.1:1', jwks: keys.jwks(), domain }
    await registerAgent(scene.house.auth, entry, 'person:ada')
  }
  await failing(scene.b.id as Downstream, 'workflow:failover')
  await failing('backend:default', 'workflow:failover')
})
afterAll(() => scene.close())

/** Three of four calls fail, and the circuit opens. */
async function failing(downstream: Downstream, caller: `workflow:${string}`) {
  const { circuits } = scene.house
  const who = { runId: `run_${mintUuid().replaceAll('-', '')}` as RunId, node: 'ask' }
  for (let call = 0; call < 8; call++) {
    const answer = async () => {
      if (call % 4 !== 0) throw new EffectFailed('unreachable', 'could not connect')
    }
    await circuits
      .through(caller, downstream, { ...defaultPolicy, minCalls: 8 }, who, answer)
      .catch(() => undefined)
  }
  await circuits.flush()
}

const token = (agent: TestAgent) => agent.token('hp:look', `run_${'0'.repeat(32)}`)
const aerr = (agent: TestAgent) => knock(getAerrCircuits, { path: '/aerr/circuits', token: token(agent) })

describe('circuits', () => {
  it('are answered to an agent of the same domain as AERR prints them', async () => {
    const { status, body } = await aerr(scene.a)
    expect(status).toBe(200)
    expect(body).toEqual({
      circuits: [
        {
          downstream_agent: aerrAgentId(open),
          state: 'open',
          error_rate: 0.75,
          last_failure: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          cooldown_remaining_s: expect.any(Number),
        },
      ],
    })
    const [{ cooldown_remaining_s: left }] = body.circuits as [{ cooldown_remaining_s: number }]
    expect(left).toBeGreaterThan(20)
    expect(left).toBeLessThanOrEqual(30)
  })

  it('and as the cascade draft has them', async () => {
    const path = '/.well-known/cascade/circuits'
    const { body } = await knock(getCascadeCircuits, { path, token: token(scene.a) })
    expect(body).toEqual({
      circuits: [
        {
          downstream_agent: open,
          state: 'open',
          error_rate: 0.75,
          window_s: 60,
          last_failure: expect.stringMatching(/Z$/),
          cooldown_remaining_s: expect.any(Number),
          forced: false,
        },
      ],
    })
  })

  it('of another domain are not shown, and nobody sees any who proves nothing', async () => {
    expect((await aerr(scene.c)).body).toEqual({ circuits: [] })
    const nobody = await knock(getAerrCircuits, { path: '/aerr/circuits' })
    expect([nobody.status, nobody.body.code]).toEqual([401, 'not_signed_in'])
    const vi = await scene.console.person('vi', 'viewer')
    const viewer = await knock(getAerrCircuits, { path: '/aerr/circuits', headers: { cookie: vi.cookie } })
    expect([viewer.status, viewer.body.code]).toEqual([403, 'role_missing'])
  })

  it('are all shown to an operator, and say what a person forced', async () => {
    const ada = await scene.console.person('ada', 'operator')
    const { items } = (await ada.ask<CircuitList>(getCircuits, 'GET')).body
    const id = items.find(({ downstream }) => downstream.id === open)?.id ?? ''
    const body = { to: 'open', reason: 'known to be down', minutes: 10 }
    const headers = { 'idempotency-key': mintUuid() }
    expect((await ada.ask(postForce, 'POST', { params: { circuit: id }, body, headers })).status).toBe(200)
    const path = '/.well-known/cascade/circuits'
    const seen = await knock(getCascadeCircuits, { path, headers: { cookie: ada.cookie } })
    expect(seen.body.circuits).toMatchObject([
      { downstream_agent: 'backend:default', state: 'open', forced: false },
      { downstream_agent: open, state: 'open', forced: true, cooldown_remaining_s: 600 },
    ])
  })

  it('are of the trust domain of agents that were given none', async () => {
    const added = async (id: string) => {
      const keys = openKeyRing(path.join(scene.folder, id.replaceAll(/\W/g, '-')), Date.now())
      const entry = { id, name: id, baseUrl: 'http://127.0.0.1:1', jwks: keys.jwks() }
      await registerAgent(scene.house.auth, entry, 'person:ada')
      return new TestAgent(id, keys, scene.house)
    }
    const failed = await added('spiffe://west.example/agent/failed')
    await failing(failed.id as Downstream, 'workflow:failover')
    const seen = async (agent: TestAgent) =>
      ((await aerr(agent)).body.circuits as { downstream_agent: string }[]).map(
        ({ downstream_agent }) => downstream_agent,
      )
    expect(await seen(await added('spiffe://west.example/agent/peer'))).toEqual([aerrAgentId(failed.id)])
    expect(await seen(await added('spiffe://east.example/agent/other'))).toEqual([])
    expect(await seen(scene.c)).toEqual([])
  })
})

describe('circuits that agents keep themselves', () => {
  const path = '/.well-known/cascade/circuits'
  /** Agent A tells of its breaker on a database, `agoS` seconds ago, in a run it has a part in. */
  const tells = async (runId: RunId, checkpoint: string, act: string, agoS = 0) => {
    const iat = Math.floor(Date.now() / 1000) - agoS
    const ext = {
      'atd.downstream_agent': 'spiffe://elsewhere.org/db',
      'atd.error_rate': 0.75,
      'atd.cooldown_s': 60,
    }
    const said = scene.a.token(act, runId, { par: [checkpoint], iat, ext })
    const { status } = await knock(getCascadeCircuits, { path, token: said })
    return { status, said, iat }
  }

  it('are shown as their agent told of them, and decided there alone', async () => {
    const ada = await scene.console.person('otto', 'operator')
    const reported = async () =>
      (await ada.ask<CircuitList>(getCircuits, 'GET')).body.items.filter((row) => row.reported)
    const { runId, checkpoint } = await scene.written()
    // Tokens are of whole seconds: what came first has to be a second older.
    const opened = await tells(runId, checkpoint, 'atd:circuit_open')
    expect(opened.status).toBe(200)
    const [row, ...more] = await reported()
    expect(more).toEqual([])
    expect(row).toMatchObject({
      caller: { id: scene.a.id, kind: 'agent' },
      downstream: { id: 'spiffe://elsewhere.org/db', kind: 'agent', name: 'db' },
      ...{ status: 'open', shown: 'open', errorRate: 0.75, cooldownS: 60, since: opened.iat * 1000 },
      reported: { at: opened.iat * 1000, run: runId, token: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })

    const id = row?.id ?? ''
    const detail = (await ada.ask<CircuitDetail>(getCircuit, 'GET', { params: { circuit: id } })).body
    expect(detail).toMatchObject({ row: { id, reported: { run: runId } }, history: [{ what: 'opened' }] })
    expect(detail.history[0]?.token).toBe(opened.said)

    const body = { to: 'open', reason: 'known to be down', minutes: 10 }
    const headers = { 'idempotency-key': mintUuid() }
    const force = await ada.ask<{ code: string; detail: string }>(postForce, 'POST', {
      ...{ params: { circuit: id }, body, headers },
    })
    expect([force.status, force.body.code]).toEqual([400, 'bad_request'])
    expect(force.body.detail).toContain('keeps this breaker itself and only tells of it')

    // Our own circuits alone are told to others.
    const seen = await knock(getCascadeCircuits, { path, headers: { cookie: ada.cookie } })
    const named = (seen.body.circuits as { downstream_agent: string }[]).map((one) => one.downstream_agent)
    expect(named).not.toContain('spiffe://elsewhere.org/db')

    await tells(runId, checkpoint, 'atd:circuit_close')
    expect(await reported()).toMatchObject([{ id, status: 'closed', reported: { run: runId } }])
  })
})
