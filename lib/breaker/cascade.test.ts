import { describe, expect, it } from 'vitest'
import { type CascadeInput, CascadeWatch } from './cascade'
import { LatencyWatch, roundCalls } from './latency'

const t0 = 1_000_000
const run = 'run_1'

function opened(at: number, caller: number, downstream = 'spiffe://example.com/agent/b'): CascadeInput {
  return {
    kind: 'circuit',
    token: `open-${caller}-${at}`,
    at,
    circuit: `c${caller}-${downstream}`,
    caller: `workflow:w${caller}`,
    downstream,
    status: 'open',
  }
}

function token(
  id: string,
  par: string[],
  says: 'began' | 'failed' | 'done' | 'other',
  node?: string,
  at = t0,
): CascadeInput {
  return {
    kind: 'token',
    run,
    token: id,
    at,
    par,
    says,
    node,
    ...(node !== undefined && { agent: `spiffe://example.com/agent/${node}` }),
  }
}

function tellAll(watch: CascadeWatch, inputs: CascadeInput[]) {
  return inputs.flatMap((input) => watch.add(input))
}

describe('error clustering', () => {
  it('is three circuits on one downstream within a minute', () => {
    const watch = new CascadeWatch()
    expect(tellAll(watch, [opened(t0, 1), opened(t0 + 20_000, 2)])).toEqual([])
    expect(watch.add(opened(t0 + 59_000, 3))).toEqual([
      {
        pattern: 'error_clustering',
        origin: 'spiffe://example.com/agent/b',
        affected: ['spiffe://example.com/agent/b', 'workflow:w1', 'workflow:w2', 'workflow:w3'],
        affectedCount: 4,
        restsOn: [`open-1-${t0}`, `open-2-${t0 + 20_000}`, `open-3-${t0 + 59_000}`],
        description: '3 breakers on b opened within 60 s: it is what w1, w2, w3 share',
        at: t0 + 59_000,
      },
    ])
  })

  it('is none when they are further apart, on other downstreams, or closed again', () => {
    const watch = new CascadeWatch()
    const apart = [opened(t0, 1), opened(t0 + 40_000, 2), opened(t0 + 70_000, 3)]
    expect(tellAll(watch, apart)).toEqual([])
    const other = new CascadeWatch()
    expect(tellAll(other, [opened(t0, 1), opened(t0, 2, 'host:a:1'), opened(t0, 3, 'host:b:1')])).toEqual([])
    const closed = new CascadeWatch()
    const again = { ...opened(t0, 1), status: 'closed' } as CascadeInput
    expect(tellAll(closed, [opened(t0, 1), opened(t0, 2), again, opened(t0, 3)])).toEqual([])
  })

  it('counts one circuit that opens again and again once', () => {
    const watch = new CascadeWatch()
    expect(tellAll(watch, [opened(t0, 1), opened(t0 + 1, 1), opened(t0 + 2, 1), opened(t0 + 3, 1)])).toEqual(
      [],
    )
  })

  it('is said once, and again only when twice as many are affected: fifty workflows, five words', () => {
    const watch = new CascadeWatch()
    const said = tellAll(
      watch,
      Array.from({ length: 50 }, (_, at) => opened(t0 + at, at)),
    )
    expect(said.map(({ affectedCount }) => affectedCount)).toEqual([4, 8, 16, 32])
  })
})

describe('depth-first propagation', () => {
  it('is told when the caller of a failed step fails too, along par', () => {
    const watch = new CascadeWatch()
    const [seen, ...more] = tellAll(watch, [
      token('a', [], 'began', 'router'),
      token('b', ['a'], 'failed', 'router'),
      token('c', ['b'], 'other'),
      token('d', ['c'], 'failed', 'planner'),
    ])
    expect(more).toEqual([])
    expect(seen).toMatchObject({
      pattern: 'depth_first',
      origin: 'spiffe://example.com/agent/router',
      node: 'router',
      affected: ['spiffe://example.com/agent/router', 'spiffe://example.com/agent/planner'],
      restsOn: ['b', 'd'],
      description: 'A failure of router went up a chain of 2: router, planner',
    })
  })

  it('is no retry of one step, and ends at a success', () => {
    const watch = new CascadeWatch()
    const retried = [
      token('a', [], 'failed', 'x'),
      token('b', ['a'], 'failed', 'x'),
      token('c', ['b'], 'failed', 'x'),
    ]
    expect(tellAll(watch, retried)).toEqual([])
    const mended = [token('d', ['c'], 'done', 'x'), token('e', ['d'], 'failed', 'y')]
    expect(tellAll(watch, mended)).toEqual([])
  })

  it('is said again when the chain has doubled, or reaches a fourth', () => {
    const watch = new CascadeWatch()
    const chain = Array.from({ length: 9 }, (_, at) =>
      token(`t${at}`, at === 0 ? [] : [`t${at - 1}`], 'failed', `n${at}`),
    )
    expect(tellAll(watch, chain).map(({ affectedCount }) => affectedCount)).toEqual([2, 4, 8])
  })

  it('keeps no chain without end', () => {
    const watch = new CascadeWatch()
    for (let at = 0; at < 100_000; at++) watch.add(token(`t${at}`, [`t${at - 1}`], 'failed', `n${at}`))
    const [seen] = watch.add(token('last', ['t99999'], 'failed', 'last'))
    expect(seen?.affected.length ?? 0).toBeLessThanOrEqual(200)
  })
})

describe('breadth-first propagation', () => {
  it('is three siblings that fail within a minute', () => {
    const watch = new CascadeWatch()
    const begun = ['x', 'y', 'z'].map((node) => token(`began-${node}`, ['start'], 'began', node))
    const failed = ['x', 'y', 'z'].map((node, at) =>
      token(`failed-${node}`, [`began-${node}`], 'failed', node, t0 + at * 1000),
    )
    const [seen] = tellAll(watch, [...begun, ...failed])
    expect(seen).toMatchObject({
      pattern: 'breadth_first',
      run,
      affected: ['x', 'y', 'z'],
      restsOn: ['failed-x', 'failed-y', 'failed-z'],
      description: '3 steps that began together failed together: x, y, z',
    })
  })

  it('is none when they fail minutes apart', () => {
    const watch = new CascadeWatch()
    const inputs = ['x', 'y', 'z'].flatMap((node, at) => [
      token(`began-${node}`, ['start'], 'began', node),
      token(`failed-${node}`, [`began-${node}`], 'failed', node, t0 + at * 70_000),
    ])
    expect(tellAll(watch, inputs)).toEqual([])
  })
})

describe('latency', () => {
  function round(watch: LatencyWatch, ms: number) {
    let told: ReturnType<LatencyWatch['add']>
    for (let call = 0; call < roundCalls; call++) told = watch.add(ms + (call % 7)) ?? told
    return told
  }

  it('spikes over three times the usual, is told once, and does not become the usual at once', () => {
    const watch = new LatencyWatch()
    expect([round(watch, 100), round(watch, 110), round(watch, 320)]).toEqual([
      undefined,
      undefined,
      expect.anything(),
    ])
    expect(round(watch, 900)).toBeUndefined()
    expect(watch.latest?.usualMs).toBeLessThan(120)
    expect(round(watch, 100)).toBeUndefined()
    expect(round(watch, 900)).toMatchObject({ p99Ms: 906 })
  })

  it('is got used to in the end', () => {
    const watch = new LatencyWatch()
    for (let at = 0; at < 3; at++) round(watch, 100)
    for (let at = 0; at < 20; at++) round(watch, 900)
    expect(watch.latest?.usualMs).toBeGreaterThan(900)
  })

  it('becomes a pattern that names the downstream', () => {
    const [seen] = new CascadeWatch().add({
      kind: 'latency',
      at: t0,
      downstream: 'backend:large',
      p99Ms: 906.2,
      usualMs: 101.4,
    })
    expect(seen).toMatchObject({
      pattern: 'latency_spike',
      origin: 'backend:large',
      description: 'large answers in 906 ms, where 101 ms are usual (99th percentile)',
    })
  })
})

describe('exhaustion', () => {
  it('is told once for each pool', () => {
    const watch = new CascadeWatch()
    const full = {
      kind: 'exhausted',
      at: t0,
      name: 'spiffe://example.com/agent/b',
      affected: ['workflow:w1'],
      token: 'e',
    } as const
    expect(watch.add(full)).toMatchObject([
      { pattern: 'resource_exhaustion', affectedCount: 2, restsOn: ['e'] },
    ])
    expect(watch.add(full)).toEqual([])
  })
})
