import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintUuid, type RunId } from '@/lib/base/ids'
import { defaultPolicy } from '@/lib/breaker/circuit'
import type { Caller, Downstream } from '@/lib/breaker/terms'
import { EffectFailed } from '@/lib/runners/runner'
import type { CircuitDetail, CircuitList, CircuitRow } from '@/lib/view/circuit-wire'
import { circuitId } from '@/lib/worker/circuit-entry'
import { type Browser, TestConsole } from '../testing/console'
import { getCircuit, getCircuits, postForce, postLift } from './circuits'

let at: TestConsole
let ada: Browser
let vi: Browser
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'operator')
  vi = await at.person('vi', 'viewer')
})
afterAll(() => at.close())

const b: Downstream = 'spiffe://example.com/agent/b'
const run = 'run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1' as RunId

/** Calls from a workflow, of which so many fail. */
async function calls(caller: Caller, well: number, broken: number, downstream: Downstream = b) {
  const call = (ok: boolean) => async () => {
    if (!ok) throw new EffectFailed('unreachable', 'could not connect')
  }
  for (let n = 0; n < well + broken; n++) {
    const who = { runId: run, node: 'ask' }
    const done = at.house.circuits.through(caller, downstream, defaultPolicy, who, call(n < well))
    await done.catch((error) => expect(error).toBeInstanceOf(EffectFailed))
  }
  await at.house.circuits.flush()
}

const list = async (by = vi) => (await by.ask<CircuitList>(getCircuits, 'GET')).body
const rowOf = async (caller: Caller, downstream = b) =>
  (await list()).items.find(({ id }) => id === circuitId(caller, downstream)) as CircuitRow
const key = () => ({ 'idempotency-key': mintUuid() })

describe('breakers', () => {
  it('are listed with what they count, those first that need somebody', async () => {
    await calls('workflow:calm', 9, 1)
    await calls('workflow:failover', 1, 7)
    const { items, holds, openedIn24h } = await list()
    expect(items.map(({ caller }) => caller.name)).toEqual(['failover', 'calm'])
    expect(openedIn24h).toBe(1)
    expect(holds).toEqual([])
    const [failover, calm] = items as [CircuitRow, CircuitRow]
    expect(failover).toMatchObject({
      caller: { kind: 'workflow', id: 'workflow:failover' },
      downstream: { kind: 'agent', id: b, name: 'b' },
      status: 'open',
      shown: 'open',
      errorRate: 0.8,
      opened: { calls: 5, failures: 4 },
      threshold: 0.5,
      windowS: 60,
      minCalls: 5,
      cooldownS: 30,
      reopened: 0,
      waiting: { count: 0, runs: [] },
      held: false,
    })
    expect(failover.cooldownRemainingS).toBeGreaterThan(25)
    expect(calm).toMatchObject({
      status: 'closed',
      counts: { calls: 10, failures: 1, rejected: 0 },
      errorRate: 0.1,
    })
    expect(calm.series).toHaveLength(30)
    expect(calm.series.reduce((sum, bucket) => sum + bucket.calls, 0)).toBe(10)
    expect(failover.series.reduce((sum, bucket) => sum + bucket.rejected, 0)).toBe(3)
  })

  it('are held by a question only where a probe would be next, not where calls pass', async () => {
    const asked: Downstream = 'spiffe://example.com/agent/asked'
    const { circuits } = at.house.store
    const person = { by: 'person:ada', reason: 'seen working', until: Date.now() + 60_000 } as const
    for (const caller of ['workflow:stopped', 'workflow:let'] as const) await calls(caller, 0, 5, asked)
    await calls('workflow:passing', 2, 0, asked)
    await circuits.hold({ downstream: asked, runId: run, approval: 'appr_1', heldAt: Date.now() })
    await at.house.circuits.force(circuitId('workflow:let', asked), { ...person, to: 'closed' })
    const held = async (caller: Caller) => {
      const { shown, held } = await rowOf(caller, asked)
      return [shown, held]
    }
    expect(await held('workflow:stopped')).toEqual(['open', true])
    expect(await held('workflow:passing')).toEqual(['closed', false])
    expect(await held('workflow:let')).toEqual(['forced_closed', false])
    await circuits.letProbesGo(asked, 'appr_1', Date.now())
    expect(await held('workflow:stopped')).toEqual(['open', false])
  })

  it('are named as what they are', async () => {
    await calls('workflow:calm', 1, 0, 'backend:default')
    await calls('workflow:calm', 1, 0, 'mcp:github')
    await calls('workflow:calm', 1, 0, 'host:10.0.0.2:443')
    const named = (await list()).items.map(({ downstream: { kind, name } }) => `${kind} ${name}`)
    expect(named).toEqual(expect.arrayContaining(['backend default', 'mcp github', 'host 10.0.0.2:443']))
  })

  it('have a history, page by page', async () => {
    const id = circuitId('workflow:paged', b)
    await calls('workflow:paged', 0, 5)
    for (let n = 0; n < 26; n++) {
      const forced = { to: 'open', by: 'person:ada', reason: `no. ${n}`, until: Date.now() + 60_000 } as const
      await at.house.circuits.force(id, forced)
      await at.house.circuits.lift(id, { by: 'person:ada', reason: 'tried' })
    }
    const first = await vi.ask<CircuitDetail>(getCircuit, 'GET', { params: { circuit: id } })
    expect(first.body.history).toHaveLength(50)
    expect(first.body.history[1]).toMatchObject({
      seq: 52,
      what: 'forced',
      to: 'open',
      by: 'person:ada',
      reason: 'no. 25',
    })
    const rest = await vi.ask<CircuitDetail>(getCircuit, 'GET', {
      params: { circuit: id },
      query: `?cursor=${first.body.next}`,
    })
    expect(rest.body.history.map(({ seq }) => seq)).toEqual([3, 2, 1])
    expect(rest.body.history[2]).toMatchObject({
      what: 'opened',
      errorRate: 1,
      calls: 5,
      failures: 5,
      run,
      node: 'ask',
    })
    expect(rest.body.next).toBeUndefined()
    const wrong = await vi.ask(getCircuit, 'GET', { params: { circuit: id }, query: '?cursor=nonsense' })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'cursor_invalid'])
    const none = await vi.ask(getCircuit, 'GET', { params: { circuit: 'none' } })
    expect([none.status, none.body.code, none.body.detail]).toEqual([
      404,
      'not_found',
      'There is no breaker "none" here.',
    ])
  })
})

describe('forcing a breaker', () => {
  const caller: Caller = 'workflow:forced'
  const params = { circuit: circuitId(caller, b) }
  const body = { to: 'open', reason: 'INC-2214', minutes: 75 }

  it('is for operators, with a reason and an end', async () => {
    await calls(caller, 1, 0)
    const denied = await vi.ask(postForce, 'POST', { params, body, headers: key() })
    expect([denied.status, denied.body.code]).toEqual([403, 'role_missing'])
    for (const wrong of [
      { ...body, reason: ' ' },
      { ...body, minutes: 0 },
      { ...body, minutes: 10_081 },
      { ...body, to: 'half_open' },
    ]) {
      const { status } = await ada.ask(postForce, 'POST', { params, body: wrong, headers: key() })
      expect(status).toBe(400)
    }
    const from = Date.now()
    const forced = await ada.ask<CircuitRow>(postForce, 'POST', { params, body, headers: key() })
    expect(forced.body).toMatchObject({
      status: 'closed',
      shown: 'forced_open',
      forced: { by: 'person:ada', reason: 'INC-2214', to: 'open' },
    })
    expect(forced.body.forced?.until).toBeGreaterThanOrEqual(from + 75 * 60_000)
    await calls(caller, 1, 0)
    expect((await rowOf(caller)).counts).toMatchObject({ calls: 1, rejected: 1 })
  })

  it('is lifted by an operator, once', async () => {
    const lifted = await ada.ask<CircuitRow>(postLift, 'POST', {
      params,
      body: { reason: 'mended' },
      headers: key(),
    })
    expect(lifted.body).toMatchObject({ shown: 'closed' })
    const again = await ada.ask(postLift, 'POST', { params, body: { reason: 'mended' }, headers: key() })
    expect([again.status, again.body.code]).toEqual([409, 'run_moved_on'])
  })

  it('is done once for one key', async () => {
    const headers = key()
    const once = await ada.ask<CircuitRow>(postForce, 'POST', { params, body, headers })
    const twice = await ada.ask<CircuitRow>(postForce, 'POST', { params, body, headers })
    expect(twice.body.forced?.since).toBe(once.body.forced?.since)
    const { body: detail } = await ada.ask<CircuitDetail>(getCircuit, 'GET', { params })
    expect(detail.history.filter(({ what }) => what === 'forced')).toHaveLength(2)
  })
})
