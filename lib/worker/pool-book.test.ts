import { setMaxListeners } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PoolAsk, PoolUse } from '@/lib/pool/terms'
import { EffectFailed } from '@/lib/runners/runner'
import { fullPauseMs, openPools, type PoolBook, type PoolTerms, type PoolUseBook } from './pool-book'
import { poolOf } from './pools'
import type { Timer } from './timer'

/** Time that passes when the test says so. */
class Hours implements Timer {
  private readonly waits: { until: number; wake: () => void }[] = []
  private time = 1_000_000

  now = () => this.time

  waitUntil(until: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.waits.push({ until, wake: done })
      signal.addEventListener('abort', done)
    })
  }

  async pass(ms: number): Promise<void> {
    const end = this.time + ms
    for (;;) {
      await settled()
      this.waits.sort((one, other) => one.until - other.until)
      const next = this.waits[0]
      if (!next || next.until > end) break
      this.waits.shift()
      this.time = Math.max(this.time, next.until)
      next.wake()
    }
    this.time = end
  }
}

/** Everything that only waits for promises has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What the processes of one store know of one another. */
class Board implements PoolUseBook {
  readonly told = new Map<string, readonly PoolUse[]>()
  times = 0

  async tell(owner: string, use: readonly PoolUse[]): Promise<void> {
    this.times++
    this.told.set(owner, use)
  }

  async others(owner: string): Promise<PoolUse[]> {
    return [...this.told].flatMap(([by, use]) => (by === owner ? [] : use))
  }
}

const agent = 'spiffe://example.com/agent/router'
let hours: Hours
let board: Board
let terms: PoolTerms
let exhausted: PoolAsk[]
const never = new AbortController().signal
setMaxListeners(0, never)

beforeEach(() => {
  hours = new Hours()
  board = new Board()
  terms = { limits: { connections: 2, connectionsPerWorkflow: 2, queuePerWorkflow: 3 } }
  exhausted = []
})

function opened(owner = 'one'): PoolBook {
  const quiet = () => undefined
  return openPools({
    timer: hours,
    owner,
    termsOf: async () => terms,
    use: board,
    exhausted: (ask) => exhausted.push(ask),
    log: { info: quiet, warn: quiet, error: quiet },
  })
}

function ask(over: Partial<PoolAsk> = {}): PoolAsk {
  return {
    id: 'a',
    pool: agent,
    workflow: 'w',
    priority: 'normal',
    resources: {},
    since: hours.now(),
    ...over,
  }
}

/** Whether a promise has come to anything yet. */
async function pending(promise: Promise<unknown>): Promise<boolean> {
  let over = false
  promise.then(
    () => (over = true),
    () => (over = true),
  )
  await settled()
  return !over
}

describe('a pool', () => {
  it('lets in as many as there are places, and the next when one leaves', async () => {
    const pools = opened()
    const first = await pools.enter(ask(), never)
    await pools.enter(ask(), never)
    const third = pools.enter(ask(), never)
    expect(await pending(third)).toBe(true)
    first.leave()
    first.leave()
    expect((await third).degraded).toBe(false)
    expect(await pending(pools.enter(ask(), never))).toBe(true)
  })

  it('refuses a workflow whose queue is full, and says when to try again', async () => {
    const pools = opened()
    for (let at = 0; at < 5; at++) void pools.enter(ask(), never)
    const refused = await pools.enter(ask(), never).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(EffectFailed)
    expect(refused).toMatchObject({
      code: 'bulkhead_full',
      errorType: 'resource_exhausted',
      retriable: true,
      retryAt: hours.now() + fullPauseMs,
      message: `3 steps of w wait for ${agent} already, which is as many as may; raise the queue of that agent under Bulkheads, or run less at once`,
    })
    expect(await pending(pools.enter(ask({ workflow: 'other' }), never)), 'another waits').toBe(true)
  })

  it('forgets who stops waiting', async () => {
    const pools = opened()
    const first = await pools.enter(ask(), never)
    await pools.enter(ask(), never)
    const gone = new AbortController()
    const third = pools.enter(ask(), gone.signal)
    const fourth = pools.enter(ask({ since: hours.now() + 1 }), never)
    await settled()
    gone.abort(new Error('cancelled'))
    await expect(third).rejects.toThrow('cancelled')
    first.leave()
    expect(await pending(fourth)).toBe(false)
  })

  it('hands the place of work that has done nothing yet to critical work', async () => {
    const pools = opened()
    const first = await pools.enter(ask(), never)
    expect(first.effectBegins()).toBe(true)
    const second = await pools.enter(ask(), never)
    const urgent = pools.enter(ask({ priority: 'critical' }), never)
    expect(await pending(urgent)).toBe(true)
    expect([first.preempted.aborted, second.preempted.aborted]).toEqual([false, true])
    expect(second.effectBegins()).toBe(false)
    second.leave()
    expect(await pending(urgent)).toBe(false)
  })

  it('tells once of critical work that could not begin for a minute', async () => {
    const pools = opened()
    for (let at = 0; at < 2; at++) (await pools.enter(ask(), never)).effectBegins()
    const urgent = ask({ id: 'run_1 deploy 1', priority: 'critical' })
    void pools.enter(urgent, never)
    await hours.pass(59_000)
    expect(exhausted).toEqual([])
    await hours.pass(2_000)
    expect(exhausted).toEqual([urgent])
    await hours.pass(600_000)
    expect(exhausted).toHaveLength(1)
  })

  it('lets a workflow begin again when its minute is over', async () => {
    terms = { limits: { ...terms.limits, requestsPerMinute: 1 } }
    const pools = opened()
    ;(await pools.enter(ask(), never)).leave()
    const second = pools.enter(ask(), never)
    await hours.pass(59_000)
    expect(await pending(second)).toBe(true)
    await hours.pass(1_500)
    expect(await pending(second)).toBe(false)
  })

  it('gives the processor out, and lets on with less who has waited too long', async () => {
    terms = { ...terms, capacity: { cpu: 2 } }
    const pools = opened()
    const cpu = (amount: number) => ask({ pool: 'here', resources: { cpu: amount } })
    const first = await pools.enter(cpu(2), never)
    const second = pools.enter(cpu(2), never)
    await hours.pass(299_000)
    expect(await pending(second)).toBe(true)
    await hours.pass(2_000)
    expect(first.degraded).toBe(false)
    expect((await second).degraded).toBe(true)
  })

  it('takes new limits within a second', async () => {
    const pools = opened()
    for (let at = 0; at < 2; at++) await pools.enter(ask(), never)
    const third = pools.enter(ask(), never)
    terms = { limits: { ...terms.limits, connections: 3, connectionsPerWorkflow: 3 } }
    expect(await pending(third)).toBe(true)
    await hours.pass(1_100)
    expect(await pending(third)).toBe(false)
  })
})

describe('processes that share a store', () => {
  it('tell how full their part is when it changes, and that they have nothing when they stop', async () => {
    const pools = opened()
    const first = await pools.enter(ask(), never)
    for (let at = 0; at < 3; at++) void pools.enter(ask({ since: 7 }), never)
    await hours.pass(1_100)
    expect(board.told.get('one')).toEqual([
      { pool: agent, workflow: 'w', running: 2, queued: 2, requests: 2, oldestAt: 7 },
    ])
    await hours.pass(3_000)
    expect(board.times, 'nothing new').toBe(1)
    await hours.pass(3_000)
    expect(board.times, 'but still alive').toBe(2)
    first.leave()
    await hours.pass(1_000)
    expect(board.told.get('one')?.[0]).toMatchObject({ running: 2, queued: 1 })
    await pools.close()
    expect(board.told.get('one')).toEqual([])
  })

  it('count what the others have', async () => {
    const [one, other] = [opened('one'), opened('other')]
    const first = await one.enter(ask(), never)
    await one.enter(ask(), never)
    await hours.pass(1_100)
    // It has not heard yet: limits hold for all together but for the first second.
    await other.enter(ask(), never)
    await hours.pass(1_100)
    const waits = other.enter(ask(), never)
    expect(await pending(waits)).toBe(true)
    first.leave()
    await hours.pass(2_100)
    expect(await pending(waits), 'two are at work still').toBe(true)
  })
})

it('knows the pool of a step: its agent, or this machine where it names resources', () => {
  const node = { id: 'n', label: 'n', priority: 'normal', extra: {} } as const
  const resources = { cpu: 1 }
  expect(poolOf({ ...node, kind: 'agent', config: { agent } })).toBe(agent)
  expect(poolOf({ ...node, kind: 'shell_run', config: {}, resources })).toBe('here')
  expect(poolOf({ ...node, kind: 'shell_run', config: {} })).toBeUndefined()
  expect(poolOf({ ...node, kind: 'call', config: {}, resources }), 'its child is what works').toBeUndefined()
})
