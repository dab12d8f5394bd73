import { describe, expect, it } from 'vitest'
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { endingOf } from '@/lib/engine/outcome'
import type { Run } from '@/lib/engine/run'
import type { Consequence } from '@/lib/nodes/node-kind'
import { noReach } from '@/lib/runners/no-reach'
import { EffectFailed, type Runner } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import type { GraphNode } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { ChildWaits } from './child-waits'
import { openPlaces } from './pools'
import type { WorkerPorts } from './ports'
import { busyRetryMs, RunBook } from './run-book'
import { Dice } from './simulation/dice'
import { signer, vault } from './simulation/paper'
import { type Process, Schedule, settled } from './simulation/schedule'
import { jsonValue } from './values'
import { graceMs, heartbeatMs, leaseMs, startWorker } from './worker'

const begins = 1_700_000_000_000

/** A worker on a store in memory and a clock that jumps from one thing to the next. */
class Bench {
  readonly schedule = new Schedule(new Dice(1), begins)
  readonly store = memoryStore(this.schedule)
  readonly process: Process = { name: 'bench', alive: true }
  readonly faults: string[] = []
  readonly runId: RunId
  readonly ports: WorkerPorts
  private readonly wid = mintUuid()

  constructor(graph: GraphIndex, runner: Runner, readable = () => true) {
    const timer = this.schedule.timerOf(this.process)
    const fault = (_data: object, sentence: string) => void this.faults.push(sentence)
    this.runId = runIdOf(this.wid)
    const graphOf = async () => {
      if (readable()) return graph
      throw new Error('The graph cannot be read')
    }
    const { ledger, leases } = this.store
    const book = new RunBook({ ledger, signer, timer, mint: mintUuid, chance: () => 0, graphOf })
    this.ports = {
      book,
      ledger,
      leases,
      vault,
      signer,
      timer,
      mint: mintUuid,
      tokenHolds: async () => true,
      runnerOf: () => runner,
      agents: () => ({ find: async () => undefined, requestToken: async () => '' }),
      reach: () => noReach,
      graphOf: async () => graph,
      childWaits: new ChildWaits(),
      pools: openPlaces,
      childrenOf: async () => [],
      installationRoots: [],
      rollbackUri: 'https://holdpoint.example/rollback',
      onAppend: (listener) => this.store.onAppend(listener),
      log: { info: () => undefined, warn: () => undefined, error: fault },
    }
  }

  /** From then on the store is too busy to take a commit, until it is told to be free. Returns the times it was asked. */
  busyUntil(free: () => boolean): number[] {
    const asked: number[] = []
    const { commit } = this.ports.ledger
    this.ports.ledger.commit = async (one) => {
      if (free()) return commit(one)
      asked.push(this.schedule.now())
      throw new Problem('store_busy', 'Another process holds the file')
    }
    return asked
  }

  async begin(): Promise<void> {
    const version = jsonValue('version').hash
    await this.ports.book.execute(
      this.runId,
      { type: 'start', version, input: jsonValue({}).hash, by: 'person:ada', dryRun: false },
      {
        create: { runId: this.runId, wid: this.wid, version, workflowName: 'bench', startedBy: 'person:ada' },
      },
    )
  }

  /** Lets time pass until then, or until it holds. */
  async pass(untilMs: number, holds?: (run: Run) => boolean): Promise<void> {
    for (;;) {
      await settled()
      if (holds && (await this.look(holds))) return
      if (this.schedule.now() > begins + untilMs || !this.schedule.next()) return
    }
  }

  look<T>(look: (run: Run) => T): Promise<T> {
    return this.ports.book.read(this.runId, look)
  }

  /** Waits in simulated time; rejects when the signal fires. */
  takes(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      this.schedule.tell(this.process, this.schedule.now() + ms, 'done', resolve)
    })
  }
}

/** A kind whose effect is `perform`. */
function kind(consequence: Consequence, perform: Runner['perform'], more: Partial<Runner> = {}): Runner {
  return {
    resolve: async () => ({}),
    describe: async (action, { node, visit }) => ({
      action: {
        kind: 'bench',
        node: node.id,
        visit,
        do: action,
        consequence,
        target: node.id,
        sentence: `Does ${node.id}`,
      },
    }),
    perform,
    ...more,
  }
}

const ofNodes = (nodes: Record<string, Partial<GraphNode>>) =>
  indexGraph(
    graphOf(
      Object.fromEntries(
        Object.entries(nodes).map(([id, node]) => [id, { kind: 'bench', timeoutS: 300, ...node }]),
      ),
    ),
  )
const statusOf = (node: string) => (run: Run) => run.visits.get(node)?.state.status

describe('the time of a step', () => {
  const ofRun = (nodes: Record<string, Partial<GraphNode>>, maxRunS?: number) =>
    indexGraph({
      ...graphOf(
        Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, { kind: 'bench', ...node }])),
      ),
      budget: maxRunS === undefined ? {} : { maxRunS },
    })
  /** When the request of the step was given up, and when the step was, in ms from the run's beginning. */
  async function givenUp(graph: GraphIndex) {
    const at: { request?: number; step?: number } = {}
    const bench: Bench = new Bench(
      graph,
      kind('read_only', async (_action, { signal, request }) => {
        request?.signal.addEventListener('abort', () => (at.request = bench.schedule.now() - begins), {
          once: true,
        })
        signal.addEventListener('abort', () => (at.step = bench.schedule.now() - begins), { once: true })
        expect(request?.until).toBeLessThan(Number.POSITIVE_INFINITY)
        await bench.takes(3_600_000, signal)
        return { output: {} }
      }),
    )
    await bench.begin()
    startWorker(bench.ports, 'one')
    await bench.pass(400_000, (run) => run.state.status === 'ended')
    return { at, bench }
  }

  it('ends a margin before that of its run, which says that it was the run’s', async () => {
    const { at, bench } = await givenUp(ofRun({ a: { timeoutS: 300 } }, 100))
    expect(at.step).toBe(95_000)
    expect(at.request).toBe(90_000)
    expect(await bench.look((run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'failed',
      error: { code: 'run_out_of_time', errorType: 'timeout' },
    })
    // It ended by itself: nobody had to stop it.
    expect(await bench.look((run) => endingOf(run))).toMatchObject({ status: 'timed_out' })
    expect(await bench.look(({ state }) => state)).not.toHaveProperty('outOfTime')
    expect(bench.schedule.now() - begins).toBeLessThan(100_000)
  })

  it('asks what a step did only once its run has said that it is out of time, however late that is', async () => {
    const bench: Bench = new Bench(
      ofRun({ a: { timeoutS: 300 } }, 100),
      kind('reversible', async (_action, { signal }) => {
        await bench.takes(3_600_000, signal)
        return { output: {} }
      }),
    )
    const { book } = bench.ports
    const { execute } = book
    book.execute = async (runId, command, along) => {
      const isLate = bench.schedule.now() >= begins + 120_000
      if (command.type !== 'cancel' || isLate) return execute.call(book, runId, command, along)
      throw new Problem('store_busy', 'Another process holds the file')
    }
    const seen: string[] = []
    bench.store.onAppend(async () => {
      seen.push(await bench.look(({ state, approvals }) => `${state.status} ${approvals.size}`))
    })
    await bench.begin()
    startWorker(bench.ports, 'one')
    await bench.pass(400_000, (run) => run.state.status === 'ended')
    expect(seen).toContain('cancelling 1')
    expect(seen).not.toContain('running 1')
    expect(await bench.look((run) => endingOf(run))).toMatchObject({ status: 'timed_out' })
    expect(await bench.look(statusOf('a'))).toBe('escalated')
  })

  it('is the run’s, too, where a request of it was given up for that', async () => {
    const bench: Bench = new Bench(
      ofRun({ a: { timeoutS: 300 } }, 100),
      kind(
        'read_only',
        (_action, { request }) =>
          bench.takes(3_600_000, request?.signal as AbortSignal).catch(() => {
            throw new EffectFailed('no_answer', 'No answer came', { errorType: 'timeout', retriable: true })
          }) as never,
      ),
    )
    await bench.begin()
    startWorker(bench.ports, 'one')
    await bench.pass(400_000, (run) => run.state.status === 'ended')
    expect(bench.schedule.now() - begins).toBeLessThan(91_000)
    expect(await bench.look((run) => run.visits.get('a')?.state)).toMatchObject({
      error: { code: 'run_out_of_time' },
    })
    expect(await bench.look((run) => endingOf(run))).toMatchObject({ status: 'timed_out' })
  })

  it('is its own where the run has more, and its requests end before it', async () => {
    const { at, bench } = await givenUp(ofRun({ a: { timeoutS: 20 } }, 100))
    expect(at).toEqual({ request: 18_000, step: 20_000 })
    expect(await bench.look((run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'failed',
      error: { code: 'effect_timeout', description: 'a was not finished in time' },
    })
    expect(await bench.look((run) => endingOf(run))).toMatchObject({ status: 'failed' })
  })

  it('is not armed for requests that nobody makes', async () => {
    const waits: number[] = []
    const bench: Bench = new Bench(
      ofRun({ a: { timeoutS: 20 } }),
      kind('read_only', async () => ({ output: {} })),
    )
    const { timer } = bench.ports
    const { waitUntil } = timer
    timer.waitUntil = (until, signal) => {
      waits.push(until - begins)
      return waitUntil.call(timer, until, signal)
    }
    await bench.begin()
    startWorker(bench.ports, 'one')
    await bench.pass(400_000, (run) => run.state.status === 'ended')
    expect(waits).toContain(20_000)
    expect(waits).not.toContain(18_000)
  })
})

describe('a worker', () => {
  it('keeps a deadline while another step is at work', async () => {
    const graph = ofNodes({
      slow: {},
      asked: { approval: { role: 'operator', reason: '', deadlineS: 5, onSilence: 'deny' } },
    })
    const bench: Bench = new Bench(
      graph,
      kind('read_only', async (_action, { signal }) => {
        await bench.takes(60_000, signal)
        return { output: {} }
      }),
    )
    await bench.begin()
    startWorker(bench.ports, 'one')
    await bench.pass(20_000, (run) => statusOf('asked')(run) === 'failed')
    expect(bench.schedule.now() - begins).toBeLessThan(6000)
    expect(await bench.look(statusOf('slow'))).toBe('running')
  })

  it('whose lease ran out and who is given the run again ends what it had in hand first', async () => {
    let atOnce = 0
    let most = 0
    const bench: Bench = new Bench(
      ofNodes({ a: {} }),
      kind('read_only', async (_action, { signal }) => {
        atOnce += 1
        most = Math.max(most, atOnce)
        try {
          await bench.takes(90_000, signal)
          return { output: {} }
        } finally {
          // It takes its time even to stop.
          await bench.takes(3000, new AbortController().signal)
          atOnce -= 1
        }
      }),
    )
    await bench.begin()
    const { heartbeat } = bench.ports.leases
    bench.ports.leases.heartbeat = async (...asked) => {
      if (bench.schedule.now() < begins + leaseMs + 10_000) throw new Error('The store is out of reach')
      return heartbeat(...asked)
    }
    startWorker(bench.ports, 'one')
    await bench.pass(300_000, (run) => run.state.status === 'ended')
    expect(await bench.look(statusOf('a'))).toBe('done')
    expect(most).toBe(1)
  })

  it('does not begin an effect when it may have lost the run since', async () => {
    const performed: string[] = []
    const bench: Bench = new Bench(
      ofNodes({ a: {} }),
      kind('reversible', async () => {
        performed.push('a')
        return { output: {} }
      }),
    )
    await bench.begin()
    // It stands still in the very moment in which the beginning of the step is durable.
    const commit = bench.ports.ledger.commit
    bench.ports.ledger.commit = async (one) => {
      await commit(one)
      const begun = one.checkpoints.length > 0 && performed.length === 0
      if (begun)
        await new Promise<void>((resolve) => bench.schedule.at(begins + leaseMs + 60_000, 'wakes', resolve))
    }
    bench.ports.leases.heartbeat = () => new Promise(() => undefined)
    startWorker(bench.ports, 'one')
    await bench.pass(leaseMs + 61_000)
    expect(performed).toEqual([])
  })

  it('that is stopped lets effects finish, aborts those that do not, and blames no step for it', async () => {
    const bench: Bench = new Bench(
      ofNodes({ a: {} }),
      kind('read_only', async (_action, { signal }) => {
        await bench.takes(3_600_000, signal)
        throw new EffectFailed('unreachable', 'It never comes here')
      }),
    )
    await bench.begin()
    const worker = startWorker(bench.ports, 'one')
    await bench.pass(1000)
    let stopped = false
    const stopping = worker.stop().then(() => {
      stopped = true
    })
    await bench.pass(graceMs - 1000)
    expect(stopped).toBe(false)
    await bench.pass(graceMs + 10_000)
    await stopping
    expect(await bench.look(statusOf('a'))).toBe('running')
    expect(await bench.store.runs.get(bench.runId)).not.toHaveProperty('lease')
  })

  /** One effect that nobody can look at afterwards; from its end on the store is busy until `freeMs` from the start. */
  async function endsIntoBusyStore(freeMs: number) {
    const performed: number[] = []
    let asked: number[] = []
    const bench: Bench = new Bench(
      ofNodes({ a: {} }),
      kind('reversible', async () => {
        performed.push(bench.schedule.now())
        asked = bench.busyUntil(() => bench.schedule.now() >= begins + freeMs)
        return { output: {} }
      }),
    )
    await bench.begin()
    startWorker(bench.ports, 'one')
    return { bench, performed, asked: () => asked }
  }

  it('records the end of an effect when a busy store is free again, and asks nobody', async () => {
    const { bench, performed, asked } = await endsIntoBusyStore(15_000)
    await bench.pass(60_000, (run) => run.state.status === 'ended')
    expect(await bench.look((run) => [run.state, run.approvals.size])).toMatchObject([
      { terminal: 'success' },
      0,
    ])
    expect(performed).toHaveLength(1)
    expect(asked().length).toBeGreaterThan(5)
    expect(asked().length).toBeLessThan(20)
    expect(bench.faults).toEqual([])
  })

  it('gives a store that stays busy up after a while, and then asks whether the effect happened', async () => {
    const { bench, performed } = await endsIntoBusyStore(busyRetryMs + 10_000)
    await bench.pass(60_000, (run) => run.openApprovals.size > 0)
    expect(await bench.look((run) => [...run.approvals.values()].map(({ kind }) => kind))).toEqual([
      'outcome_unknown',
    ])
    expect(performed).toHaveLength(1)
    expect(bench.faults).toEqual([expect.stringContaining('Could not prepare in')])
  })

  it('that lost its lease does not wait for a busy store', async () => {
    const { bench, asked } = await endsIntoBusyStore(Number.POSITIVE_INFINITY)
    bench.ports.leases.heartbeat = async () => {
      Object.assign(bench.ports.leases, { claimDue: async () => [], nextDue: async () => undefined })
      return []
    }
    await bench.pass(60_000)
    expect(asked().length).toBeGreaterThan(5)
    expect(Math.max(...asked())).toBeLessThan(begins + heartbeatMs)
  })

  it('does not spin on a run that it cannot read', async () => {
    let readable = true
    const bench = new Bench(
      ofNodes({ a: {} }),
      kind('read_only', async () => ({ output: {} })),
      () => readable,
    )
    await bench.begin()
    readable = false
    bench.ports.book.forget(bench.runId)
    startWorker(bench.ports, 'one')
    await bench.pass(20_000)
    expect(bench.faults.length).toBeGreaterThan(2)
    expect(bench.faults.length).toBeLessThan(15)
  })
})
