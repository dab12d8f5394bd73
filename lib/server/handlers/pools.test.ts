import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPoolUse } from '@/lib/store/pool-use'
import type { PoolList } from '@/lib/view/pool-wire'
import { termsOf } from '../pools'
import { type Browser, TestConsole } from '../testing/console'
import { listPools, putPool } from './pools'

const router = 'spiffe://example.com/agent/router'
let at: TestConsole
let ada: Browser
let vera: Browser

beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'administrator')
  vera = await at.person('vera', 'viewer')
  await at.house.agents.put({
    id: router,
    name: 'Router',
    baseUrl: 'http://127.0.0.1:7007',
    jwks: '{"keys":[]}',
    addedAt: 1,
    addedBy: 'ada',
  })
})
afterAll(() => at.close())

const list = async () => (await vera.ask<PoolList>(listPools, 'GET')).body
const set = (name: string, body: object, who = ada) =>
  who.ask<PoolList & { code?: string; detail?: string }>(putPool, 'PUT', {
    query: `?name=${encodeURIComponent(name)}`,
    body,
  })

it('shows every agent and this machine, with who is in it on any process', async () => {
  const { items, starveAfterS } = await list()
  expect(items.map(({ name, label }) => [name, label])).toEqual([
    [router, 'Router'],
    ['here', ''],
  ])
  expect(items[0]?.limits).toEqual({ connections: 64, connectionsPerWorkflow: 32, queuePerWorkflow: 1000 })
  expect(items[1]?.capacity?.cpu).toBeGreaterThan(0)
  expect(starveAfterS).toBe(300)

  const use = openPoolUse(at.house.store)
  const now = at.house.auth.clock.now()
  const one = {
    pool: router,
    workflow: 'failover',
    running: 2,
    queued: 3,
    requests: 9,
    oldestAt: now - 4_000,
  }
  await use.tell('one', [one, { ...one, workflow: 'audit', running: 1, queued: 0 }], now)
  await use.tell('other', [{ ...one, running: 4, queued: 0, requests: 1, oldestAt: now - 9_000 }], now)
  await use.tell('dead', [{ ...one, running: 50 }], now - 15_001)
  expect((await list()).items[0]?.workflows).toEqual([
    { workflow: 'failover', running: 6, queued: 3, requests: 10, oldestAt: now - 9_000 },
    { workflow: 'audit', running: 1, queued: 0, requests: 9, oldestAt: now - 4_000 },
  ])
  await use.tell('one', [], now)
  await use.tell('other', [], now)
  expect((await list()).items[0]?.workflows).toEqual([])
})

it('takes bounds from administrators, and keeps who the agent is', async () => {
  const wish = {
    connections: 8,
    connections_per_workflow: 3,
    queue_per_workflow: 20,
    requests_per_minute: 60,
  }
  const refused = await set(router, wish, vera)
  expect([refused.status, refused.body.code]).toEqual([403, 'role_missing'])
  const limits = { connections: 8, connectionsPerWorkflow: 3, queuePerWorkflow: 20, requestsPerMinute: 60 }
  expect((await set(router, wish)).body.items[0]).toMatchObject({ label: 'Router', limits })
  const { settings, agents } = at.house
  expect((await termsOf(settings, agents, router)).limits).toEqual(limits)
  const { requests_per_minute: _, ...unbounded } = wish
  expect((await set(router, unbounded)).body.items[0]?.limits.requestsPerMinute).toBeUndefined()
})

it('says which bound does not fit', async () => {
  const wish = { connections: 2, connections_per_workflow: 3, queue_per_workflow: 20 }
  expect(await set(router, wish)).toMatchObject({
    status: 400,
    body: {
      code: 'bad_request',
      detail: 'One workflow cannot have more than all together.',
      field: 'connections_per_workflow',
    },
  })
  expect(await set('spiffe://example.com/nobody', { ...wish, connections: 9 })).toMatchObject({
    status: 404,
    body: { detail: 'No agent "spiffe://example.com/nobody" is registered.' },
  })
})

it('hands out what an administrator says of this machine', async () => {
  const { body } = await set('here', { cpu: 2, memory_mb: 4096, starve_after_s: 60 })
  expect(body.starveAfterS).toBe(60)
  expect(body.items.at(-1)?.capacity).toMatchObject({ cpu: 2, memoryMb: 4096 })
  const { settings, agents } = at.house
  expect(await termsOf(settings, agents, 'here')).toMatchObject({ rules: { starveAfterS: 60 } })
  expect((await set('here', { cpu: -1 })).status).toBe(400)
})
