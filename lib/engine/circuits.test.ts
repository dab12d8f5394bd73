import { describe, expect, it } from 'vitest'
import type { CallRefusal } from '@/lib/breaker/terms'
import { graphOf } from '@/lib/workflow/graph-fixture'
import type { Command } from './commands'
import { decide } from './decide'
import { due } from './due'
import { evolve } from './evolve'
import { actionOf, begun, checkpointed, done, ended, momentAfter, runOf, started, uuidOf } from './histories'
import { projectionOf } from './projection'
import type { Run } from './run'

const pair = graphOf({ a: {}, b: {} }, ['a>b'])
const change = uuidOf(900)

function granted(run: Run, wish: Command) {
  const { facts } = decide(run, wish, momentAfter(run))
  for (const fact of facts) evolve(run, fact)
  return facts
}

function refusal(run: Run, more: Partial<CallRefusal> = {}): CallRefusal {
  return {
    circuit: 'c1',
    caller: 'workflow:w',
    downstream: 'spiffe://example.com/agent/b',
    because: 'open',
    errorRate: 0.75,
    windowS: 60,
    cooldownS: 30,
    retryAt: run.lastAt + 22_000,
    change,
    ...more,
  }
}

const rejected = (run: Run, more: { attempt?: number } = {}): Command => ({
  type: 'rejected',
  node: 'a',
  visit: 1,
  refusal: refusal(run),
  ...more,
})

const action = {
  hash: actionOf('a'),
  consequence: 'read_only',
  target: 'a',
  sentence: 'Does a',
  reads: [],
} as const

describe('a call that a breaker refuses', () => {
  it('before the step began leaves it waiting, and it is due again when the circuit may be asked', () => {
    const run = runOf(pair, [begun()])
    const facts = granted(run, rejected(run))
    expect(facts.map(({ type }) => type)).toEqual(['call_rejected'])
    const until = run.lastAt - 1000 + 22_000
    expect(run.visits.get('a')?.state).toMatchObject({
      status: 'waiting',
      for: 'breaker',
      circuit: 'c1',
      until,
    })
    expect(due(run, until - 1)).toMatchObject({ now: [], nextAt: until })
    expect(due(run, until).now).toEqual([{ do: 'prepare', node: 'a', visit: 1 }])
  })

  it('in the middle of an attempt ends it, uses up no retry, and the next one does exactly the same', () => {
    const graph = graphOf({ a: { retry: { maxAttempts: 2, baseMs: 0, factor: 1, maxMs: 0, jitter: 0 } } }, [])
    const run = runOf(graph, [begun(), started('a')])
    granted(run, rejected(run, { attempt: 1 }))
    const until = run.lastAt - 1000 + 22_000
    expect(due(run, until).now).toEqual([{ do: 'begin', node: 'a', visit: 1, action: actionOf('a') }])
    granted(run, { type: 'begin', node: 'a', visit: 1, action: { ...action, reads: [] } })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'running', attempt: 2 })
    const failure = {
      severity: 'error',
      errorType: 'action_failed',
      code: 'x',
      description: 'x',
      retriable: true,
    } as const
    const [error] = granted(run, { type: 'failed', node: 'a', visit: 1, attempt: 2, failure })
    expect(error).toMatchObject({ type: 'error', severity: 'warning' })
  })

  it('lets the step go at once when the circuit closes, and only those behind that circuit', () => {
    const run = runOf(pair, [begun()])
    granted(run, rejected(run))
    expect(() =>
      granted(run, { type: 'release', circuit: 'c2', downstream: 'x', by: 'engine' }),
    ).toThrowError(/Nothing in this run waits behind x any more/)
    granted(run, { type: 'release', circuit: 'c1', downstream: 'x', by: 'engine' })
    expect(due(run, run.lastAt).now).toEqual([{ do: 'prepare', node: 'a', visit: 1 }])
  })

  it('fails the step whose author wants that, naming the breaker as its cause', () => {
    const run = runOf(graphOf({ a: { whenOpen: 'fail' }, b: {} }, ['a>b']), [begun()])
    const facts = granted(run, rejected(run))
    expect(facts[1]).toMatchObject({
      type: 'error',
      severity: 'error',
      errorType: 'upstream_cascade',
      upstream: [change],
    })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'failed' })
  })

  it('lets the run go on without a step that is not critical, with a warning', () => {
    const run = runOf(graphOf({ a: { whenOpen: 'degrade' }, b: {} }, ['a>b']), [begun()])
    const facts = granted(run, rejected(run))
    expect(facts.map(({ type }) => type)).toEqual(['call_rejected', 'error', 'task_complete'])
    expect(facts[1]).toMatchObject({ severity: 'warning', code: 'circuit_open' })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'done' })
    expect(due(run, run.lastAt).now).toEqual([{ do: 'prepare', node: 'b', visit: 1 }])
  })
})

describe('a step that people find wrong', () => {
  const flag: Command = { type: 'flag', node: 'a', visit: 1, by: 'person:ada', reason: 'Wrong peer' }

  it('counts as failed from then on, and nothing more begins after it', () => {
    const run = runOf(pair, [begun(), started('a'), checkpointed('a'), done('a')])
    const [error] = granted(run, flag)
    expect(error).toMatchObject({ type: 'error', code: 'semantic_failure', par: [uuidOf(4)] })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'failed' })
    expect(due(run, run.lastAt).now.map((item) => item.do)).toEqual(['finish'])
  })

  it('can be found wrong after the run has ended', () => {
    const run = runOf(graphOf({ a: {} }, []), [begun(), started('a'), done('a'), ended()])
    granted(run, flag)
    expect(run.state).toMatchObject({ status: 'ended' })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'failed' })
  })

  it('took as long as its work did, however late it is flagged, and the run’s row says that it was', () => {
    const run = runOf(graphOf({ a: {} }, []), [begun(), started('a'), done('a'), ended()])
    const before = run.visits.get('a')?.state as { tookMs: number }
    for (const fact of decide(run, flag, momentAfter(run, 3_600_000)).facts) evolve(run, fact)
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'failed', tookMs: before.tookMs })
    expect(projectionOf(run, run.lastAt)).toMatchObject({ terminal: 'success', stopped: 'flagged' })
  })

  it('is refused where nothing is finished', () => {
    const run = runOf(pair, [begun(), started('a')])
    expect(() => granted(run, flag)).toThrowError(
      /a is running; only what a finished step gave can be called wrong/,
    )
  })
})

describe('a signal of an agent', () => {
  const signal = (checkpointId: string): Command => ({
    type: 'signal',
    errorId: 'urn:uuid:e1',
    agent: 'spiffe://example.com/agent/b',
    severity: 'critical',
    errorType: 'action_failed',
    checkpointId,
    description: 'BGP session did not establish',
    upstream: [],
  })

  it('is kept once, under the checkpoint it names', () => {
    const run = runOf(pair, [begun(), started('a'), checkpointed('a')])
    const [fact] = granted(run, signal(uuidOf(3)))
    expect(fact).toMatchObject({ type: 'signal_received', node: 'a', par: [uuidOf(3)] })
    expect(() => granted(run, signal(uuidOf(3)))).toThrowError(/told of already/)
  })

  it('that names no checkpoint of the run is refused', () => {
    const run = runOf(pair, [begun(), started('a'), checkpointed('a')])
    expect(() => granted(run, signal(uuidOf(77)))).toThrowError(/none of this run/)
  })
})

describe('sealed states that were destroyed', () => {
  it('are said once each, also of a run that has ended', () => {
    const run = runOf(graphOf({ a: {} }, []), [begun(), started('a'), checkpointed('a'), done('a'), ended()])
    const facts = granted(run, { type: 'purged', checkpoints: [uuidOf(3), uuidOf(99)] })
    expect(facts).toMatchObject([{ type: 'checkpoint_purged', checkpointId: uuidOf(3), par: [uuidOf(3)] }])
    expect(run.checkpoints.get(uuidOf(3))?.purged).toBe(true)
    expect(() => granted(run, { type: 'purged', checkpoints: [uuidOf(3)] })).toThrowError(/says already/)
  })
})
