import { describe, expect, it } from 'vitest'
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { verifyLedger } from '@/lib/ect/ledger-verify'
import { signClaims, signHead } from '@/lib/ect/sign'
import { testKey } from '@/lib/ect/testing/ledgers'
import type { Command } from '@/lib/engine/commands'
import { endingOf } from '@/lib/engine/outcome'
import type { RunHeader } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { noReach } from '@/lib/runners/no-reach'
import { resolverOf } from '@/lib/runners/registry'
import { EffectFailed, type Runner } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { childRunsOf, maxCallDepth } from './child-runs'
import { ChildWaits } from './child-waits'
import { makePlan } from './plan'
import { openPlaces } from './pools'
import type { WorkerPorts } from './ports'
import { RunBook, type Signer } from './run-book'
import { Dice } from './simulation/dice'
import { signer as paper, vault } from './simulation/paper'
import { type Process, Schedule, settled } from './simulation/schedule'
import { jsonValue } from './values'
import { maxRuns, startWorker } from './worker'

const begins = 1_700_000_000_000
const noGraph = () => Promise.reject(new Error('No loops and no turns'))
const versionOf = (workflow: string) => jsonValue(workflow).hash

type Perform = (effects: Parameters<Runner['perform']>[1], node: string) => ReturnType<Runner['perform']>

/** Processes on one store in memory, and workflows that run one another: steps of the kind `bench` do as they are told. */
class Bench {
  readonly schedule = new Schedule(new Dice(1), begins)
  readonly store = memoryStore(this.schedule)
  readonly faults: string[] = []
  readonly undone: string[] = []
  perform: Perform = async () => ({ output: {} })
  private readonly graphs = new Map<string, ReturnType<typeof indexGraph>>()

  constructor(
    workflows: Record<string, WorkflowGraph>,
    private readonly signer: Signer = paper,
  ) {
    for (const [name, graph] of Object.entries(workflows))
      this.graphs.set(versionOf(name), indexGraph({ ...graph, name }))
  }

  /** The ports of a process of its own. */
  process(name: string): WorkerPorts {
    const process: Process = { name, alive: true }
    const timer = this.schedule.timerOf(process)
    const { ledger, leases } = this.store
    const { signer } = this
    const graphOf = async (version: string) => {
      const graph = this.graphs.get(version)
      if (!graph) throw new Problem('not_found', 'No such workflow')
      return graph
    }
    const book = new RunBook({ ledger, signer, timer, mint: mintUuid, chance: () => 0, graphOf })
    const load = async (workflow: string) => ({
      version: versionOf(workflow),
      consequence: 'reversible' as const,
    })
    const ports: WorkerPorts = {
      book,
      ledger,
      leases,
      vault,
      signer,
      timer,
      mint: mintUuid,
      tokenHolds: async () => true,
      runnerOf: (kind) => (kind === 'bench' ? this.runner : resolverOf(kind)),
      agents: () => ({ find: async () => undefined, requestToken: async () => '' }),
      reach: (step) => ({
        ...noReach,
        children: childRunsOf(ports, { load, loop: noGraph, turn: noGraph }, step),
      }),
      graphOf,
      childWaits: new ChildWaits(),
      pools: openPlaces,
      childrenOf: async (parent, node, visit) => {
        const { items } = await this.store.runs.list({ parent }, { limit: 500 })
        return items
          .filter((run) => run.parent?.node === node && run.parent.visit === visit)
          .sort((a, b) => (a.parent?.index ?? 0) - (b.parent?.index ?? 0))
          .map(({ runId }) => runId)
      },
      installationRoots: [],
      rollbackUri: 'https://holdpoint.example/rollback',
      onAppend: (listener) => this.store.onAppend(listener),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (data, sentence) => void this.faults.push(`${sentence} ${JSON.stringify(data)}`),
      },
    }
    return ports
  }

  private readonly runner: Runner = {
    resolve: async () => ({}),
    describe: async (action, { node, visit }) => ({
      action: {
        kind: 'bench',
        node: node.id,
        visit,
        do: action,
        consequence: 'reversible',
        target: node.id,
        sentence: `Does ${node.id}`,
        undo: 'restore',
      },
    }),
    perform: (action, effects) => this.perform(effects, action.node),
    undo: async (action) => {
      this.undone.push(action.node)
      return { description: 'Put back' }
    },
  }

  async begin(
    { book }: WorkerPorts,
    workflow: string,
    input: object = {},
    more: Pick<RunHeader, 'keptFor'> = {},
  ): Promise<RunId> {
    const wid = mintUuid()
    const runId = runIdOf(wid)
    const version = versionOf(workflow)
    const value = jsonValue(input)
    await book.execute(
      runId,
      { type: 'start', version, input: value.hash, by: 'person:ada', dryRun: false },
      {
        create: { runId, wid, version, workflowName: workflow, startedBy: 'person:ada', ...more },
        values: [value],
      },
    )
    return runId
  }

  /** Lets time pass until it holds; at most so long. */
  async pass(forMs: number, holds?: () => boolean | Promise<boolean>): Promise<void> {
    const until = this.schedule.now() + forMs
    for (;;) {
      await settled()
      if (holds && (await holds())) return
      if (this.schedule.now() > until || !this.schedule.next()) return
    }
  }

  /** Waits in simulated time; rejects when the signal fires. */
  takes(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      this.schedule.at(this.schedule.now() + ms, 'done', resolve)
    })
  }

  async children(parent: RunId): Promise<RunId[]> {
    const { items } = await this.store.runs.list({ parent }, { limit: 500 })
    return items.map(({ runId }) => runId).sort()
  }
}

const step = (more: Partial<GraphNode> = {}): Partial<GraphNode> => ({
  kind: 'bench',
  timeoutS: 3600,
  ...more,
})
const call = (workflow: string, more: Partial<GraphNode> = {}): Partial<GraphNode> => ({
  kind: 'call',
  config: { workflow },
  ...more,
})
const map = (more: object = {}): Partial<GraphNode> => ({
  kind: 'map',
  config: { workflow: 'child', items_from: 'trigger.items', max_items: 100, max_concurrent: 2, ...more },
})
const calling = { parent: graphOf({ a: call('child') }), child: graphOf({ c: step() }) }
const look = <T>(ports: WorkerPorts, runId: RunId, reader: (run: Run) => T) => ports.book.read(runId, reader)
const status = (ports: WorkerPorts, runId: RunId) => look(ports, runId, (run) => run.state.status)
const ended = (ports: WorkerPorts, runId: RunId) => async () => (await status(ports, runId)) === 'ended'
const terminal = (ports: WorkerPorts, runId: RunId) =>
  look(ports, runId, ({ state }) => (state.status === 'ended' ? state.terminal : state.status))

describe('child runs', () => {
  it('are begun once for their place, whoever takes the step up', async () => {
    const bench = new Bench(calling)
    bench.perform = async () => {
      await bench.takes(20_000)
      return { output: {} }
    }
    const one = bench.process('one')
    const runId = await bench.begin(one, 'parent')
    const worker = startWorker(one, 'one')
    await bench.pass(10_000, async () => (await bench.children(runId)).length > 0)
    const [child] = await bench.children(runId)
    void worker.stop()
    const two = bench.process('two')
    startWorker(two, 'two')
    await bench.pass(400_000, ended(two, runId))
    expect(await terminal(two, runId)).toBe('success')
    expect(await bench.children(runId)).toEqual([child])
  })

  it('are kept, with their parent, for the worker that began it while it lives; then any may have them', async () => {
    const bench = new Bench(calling)
    const did: string[] = []
    const processes = ['own', 'other'].map((name) => {
      const ports = bench.process(name)
      const runner = {
        ...(ports.runnerOf('bench') as Runner),
        perform: async () => {
          did.push(name)
          await bench.takes(100_000)
          return { output: {} }
        },
      }
      return { ...ports, runnerOf: (kind: string) => (kind === 'bench' ? runner : ports.runnerOf(kind)) }
    })
    const [own, other] = processes as [WorkerPorts, WorkerPorts]
    startWorker(other, 'other')
    const keptFor = { owner: 'own', until: bench.schedule.now() + 30_000 }
    const runId = await bench.begin(own, 'parent', {}, { keptFor })
    const waiting = await bench.begin(other, 'parent', {}, { keptFor })
    await bench.pass(20_000)
    expect(did).toEqual([])
    const worker = startWorker(own, 'own')
    await bench.pass(80_000)
    expect(did).toEqual(['own', 'own'])
    const [child] = await bench.children(runId)
    for (const id of [runId, waiting, child as RunId]) {
      const until = (await own.ledger.header(id))?.keptFor?.until
      expect(until).toBeGreaterThan(bench.schedule.now())
    }
    void worker.stop()
    await bench.pass(400_000, async () => (await ended(other, runId)()) && (await ended(other, waiting)()))
    expect(await own.ledger.header(runId)).not.toHaveProperty('keptFor')
    const unkept = await bench.begin(own, 'parent')
    await bench.pass(400_000, ended(other, unkept))
    expect(did.at(-1)).toBe('other')
  })

  it('have the same id for the same run, node, visit, attempt and index', async () => {
    const bench = new Bench(calling)
    const ports = bench.process('one')
    const header = { runId: runIdOf('7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1') } as const
    const never = new AbortController().signal
    const place = {
      node: 'a',
      visit: 2,
      attempt: 3,
      follows: [],
      signal: never,
      draining: never,
      lost: never,
    }
    const asked: RunId[] = []
    const read = ports.ledger.header
    ports.ledger.header = async (runId) => {
      asked.push(runId)
      return read(runId)
    }
    const children = childRunsOf(ports, {} as never, { ...place, header, run: {} } as never)
    await children.run({ version: '', input: null, index: 4 }, never).catch(() => undefined)
    // What is in ledgers does not change: neither may this.
    expect(asked[0]).toBe('run_6449b43f979f8de9a7f68ca0e07e987d')
  })

  it('do not hold up a worker that stops: it hands the waiting step over at once', async () => {
    const asked = { role: 'operator', reason: '', onSilence: 'hold' } as const
    const held = new Bench({ ...calling, child: graphOf({ c: step({ approval: asked }) }) })
    const ports = held.process('one')
    const runId = await held.begin(ports, 'parent')
    const worker = startWorker(ports, 'one')
    await held.pass(10_000, async () => {
      const [child] = await held.children(runId)
      return child !== undefined && (await look(ports, child, (run) => run.openApprovals.size)) === 1
    })
    const from = held.schedule.now()
    let stopped = false
    void worker.stop().then(() => {
      stopped = true
    })
    await held.pass(60_000, () => stopped)
    expect(stopped).toBe(true)
    expect(held.schedule.now() - from).toBeLessThan(1000)
    expect(await look(ports, runId, (run) => run.visits.get('a')?.state.status)).toBe('running')
    expect(held.faults).toEqual([])
  })

  it('take nobody’s place: more parents than a worker drives at once come to their ends', async () => {
    const bench = new Bench(calling)
    const ports = bench.process('one')
    const runs: RunId[] = []
    for (let at = 0; at < maxRuns + 20; at++) runs.push(await bench.begin(ports, 'parent'))
    startWorker(ports, 'one')
    await bench.pass(20_000)
    const last = await Promise.all(runs.map((runId) => terminal(ports, runId)))
    expect(new Set(last)).toEqual(new Set(['success']))
  })

  it('are cancelled with their parent, and no more of them are begun', async () => {
    const bench = new Bench({
      parent: graphOf({ a: map() }),
      child: graphOf({ c: step(), d: step() }, ['c>d']),
    })
    bench.perform = async () => {
      await bench.takes(20_000)
      return { output: {} }
    }
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent', { items: [1, 2, 3, 4, 5, 6] })
    startWorker(ports, 'one')
    await bench.pass(10_000, async () => (await bench.children(runId)).length === 2)
    await bench.pass(2000)
    await ports.book.execute(runId, { type: 'cancel', by: 'person:ada', reason: 'Enough' })
    await bench.pass(60_000, ended(ports, runId))
    const children = await bench.children(runId)
    expect(children).toHaveLength(2)
    for (const child of children) {
      const state = await look(ports, child, (run) => run.state)
      expect(state).toMatchObject({ status: 'ended', cancelled: { by: 'person:ada' } })
      expect(state).toMatchObject({ reason: expect.stringContaining(`${runId} was cancelled: Enough`) })
    }
  })

  it('are out of time before their step is, which is what the step then gives', async () => {
    const bench = new Bench({
      parent: { ...graphOf({ a: call('child', { timeoutS: 10 }) }), order: 'stepwise' },
      child: graphOf({ c: step(), d: step() }, ['c>d']),
    })
    bench.perform = async () => {
      await bench.takes(15_000)
      return { output: {} }
    }
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    const [child] = await bench.children(runId)
    expect(await look(ports, child as RunId, (run) => run.state)).toMatchObject({
      outOfTime: true,
      reason: 'The run is out of its time budget',
    })
    expect(
      await look(ports, child as RunId, (run) => (run.start?.deadlineAt ?? 0) - (run.start?.at ?? 0)),
    ).toBe(9_000)
    expect(await look(ports, runId, (run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'done',
      label: 'error',
    })
  })

  it('have less time than whoever waits for them, down to the request, and each says whose time it was', async () => {
    const bench = new Bench({
      parent: { ...graphOf({ a: call('child') }), order: 'stepwise', budget: { maxRunS: 40 } },
      child: graphOf({ c: step() }),
    })
    const began = bench.schedule.now()
    const givenUp: Record<string, number> = {}
    const noted = (name: string, signal?: AbortSignal) =>
      signal?.addEventListener('abort', () => (givenUp[name] = bench.schedule.now() - began), { once: true })
    bench.perform = async ({ signal, request }) => {
      noted('request', request?.signal)
      noted('step', signal)
      return bench.takes(3_600_000, signal).catch(() => {
        throw new EffectFailed('unreachable', 'It could not be reached.', { retriable: true })
      }) as never
    }
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    const [child] = (await bench.children(runId)) as [RunId]
    const { deadlineAt = 0 } = (await look(ports, child, (run) => run.start)) ?? {}
    // 40 s of the run, 36 of its step, 32.4 of the child; then the child's step, and what that asks of others.
    const times = [givenUp.request, givenUp.step, deadlineAt - began, 36_000, 40_000].map(Number)
    for (const [at, limit] of times.slice(1).entries()) expect(times[at], `link ${at}`).toBeLessThan(limit)
    expect(deadlineAt - began).toBe(32_400)
    expect(await look(ports, child, (run) => run.visits.get('c')?.state)).toMatchObject({
      error: { code: 'run_out_of_time', description: 'c was not finished in the time that its run had left' },
    })
    expect(await look(ports, child, (run) => endingOf(run)?.status)).toBe('timed_out')
    // The step that waited still had time to say so.
    expect(await look(ports, runId, (run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'done',
      label: 'error',
    })
    expect(bench.schedule.now() - began).toBeLessThan(36_000)
  })

  it('have less time to work than whoever waits for them has left, and none of it passes while people are waited for', async () => {
    const asked = { role: 'operator', reason: '', onSilence: 'hold' } as const
    const budget = { maxActiveS: 100 }
    const bench = new Bench({
      parent: { ...graphOf({ a: call('child') }), order: 'stepwise', budget },
      child: graphOf({ b: step({ approval: asked }), c: step() }, ['b>c']),
    })
    const givenUp: Record<string, number> = {}
    let from = 0
    bench.perform = async ({ signal, request }, node) => {
      if (node === 'b') return { output: {} }
      from = bench.schedule.now()
      const noted = (name: string) => () => {
        givenUp[name] = bench.schedule.now() - from
      }
      request?.signal.addEventListener('abort', noted('request'), { once: true })
      signal.addEventListener('abort', noted('step'), { once: true })
      await bench.takes(3_600_000, signal)
      return { output: {} }
    }
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(1000_000)
    const [child] = (await bench.children(runId)) as [RunId]
    // 100 s of the run, 95 of its step, 90 of the child, as far as they work.
    const workMs = (await look(ports, child, (run) => run.start?.workMs)) ?? 0
    expect(workMs).toBeGreaterThan(89_000)
    expect(workMs).toBeLessThanOrEqual(90_000)
    const question = await look(ports, child, ({ approvals }) => [...approvals.values()][0])
    if (!question) throw new Error('Nobody is asked')
    const { id: approval, action } = question
    const yes = { verdict: 'approve', by: 'person:bo', comment: '' } as const
    await ports.book.execute(child, { type: 'decide', approval, action, ...yes })
    await bench.pass(200_000, ended(ports, child))
    const { request = 0, step: stopped = 0 } = givenUp
    expect(request).toBeGreaterThan(75_000)
    expect(request).toBeLessThan(stopped)
    expect(stopped).toBeLessThan(workMs - 4_000)
    expect(await look(ports, child, endingOf)).toMatchObject({ exhausted: 'max_wall_time_sec' })
    await bench.pass(10_000, ended(ports, runId))
    expect(await look(ports, runId, (run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'done',
      label: 'error',
    })
  })

  it('go on unharmed while the store does not answer whoever waits for them', async () => {
    const bench = new Bench(calling)
    bench.perform = async () => {
      await bench.takes(30_000)
      return { output: {} }
    }
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(10_000, async () => (await bench.children(runId)).length > 0)
    await bench.pass(2000)
    const { rows } = ports.ledger
    const busyUntil = bench.schedule.now() + 20_000
    ports.ledger.rows = async (...asked) => {
      if (bench.schedule.now() < busyUntil) throw new Problem('store_busy', 'Another process holds the file')
      return rows(...asked)
    }
    await bench.pass(100_000, async () => bench.schedule.now() > busyUntil && ended(ports, runId)())
    expect(await terminal(ports, runId)).toBe('success')
    expect(await bench.children(runId)).toHaveLength(1)
  })

  it('stand in one another so deep and no deeper', async () => {
    const bench = new Bench({ again: graphOf({ a: call('again') }) })
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'again')
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    const all = await bench.store.runs.list({}, { limit: 100 })
    expect(all.items).toHaveLength(1 + maxCallDepth)
    const depths = await Promise.all(
      all.items.map((run) => look(ports, run.runId, ({ start }) => start?.depth ?? 0)),
    )
    const deepest = all.items[depths.indexOf(maxCallDepth)]?.runId as RunId
    expect(await look(ports, deepest, (run) => run.visits.get('a')?.state)).toMatchObject({
      status: 'failed',
      error: { code: 'call_too_deep' },
    })
  })

  it('are begun anew by another attempt, with ids of their own', async () => {
    const retry = { maxAttempts: 2, baseMs: 0, factor: 1, maxMs: 0, jitter: 0 }
    const bench = new Bench({ ...calling, parent: graphOf({ a: call('child', { retry }) }) })
    const ports = bench.process('one')
    const { runnerOf } = ports
    let attempts = 0
    ports.runnerOf = (kind) => {
      const runner = runnerOf(kind)
      if (kind !== 'call' || !runner?.perform) return runner
      const { perform } = runner
      return {
        ...runner,
        perform: async (...asked) => {
          const performed = await perform(...asked)
          attempts += 1
          if (attempts === 1) throw new EffectFailed('flaky', 'Once more', { retriable: true })
          return performed
        },
      }
    }
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    expect(await terminal(ports, runId)).toBe('success')
    expect(await bench.children(runId)).toHaveLength(2)
  })

  it('link their ledgers to their parent’s: each verifies alone, with the other’s tokens as its parents', async () => {
    const key = testKey('EdDSA')
    const signer: Signer = {
      ...paper,
      sign: (claims) => signClaims(claims, key.signing),
      signHead: (head) => signHead(head, key.signing),
    }
    const bench = new Bench({ ...calling, parent: graphOf({ a: map() }) }, signer)
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent', { items: [1, 2, 3] })
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    const children = await bench.children(runId)
    expect(children).toHaveLength(3)
    for (const run of [runId, ...children]) {
      const rows = await ports.ledger.rows(run, 0, 1000)
      const heads = await ports.ledger.heads(run)
      const { wid } = (await ports.ledger.header(run)) ?? { wid: '' }
      expect(await verifyLedger({ wid, rows, heads, keys: key.keys })).toMatchObject({ holds: true })
    }
    const ends = await Promise.all(children.map((child) => look(ports, child, (run) => run.lastJti)))
    const parentToken = await look(ports, runId, (run) => run.visits.get('a')?.taskJti)
    const starts = await Promise.all(children.map((child) => look(ports, child, (run) => run.start)))
    for (const start of starts) expect(start).toMatchObject({ par: [parentToken], depth: 1 })
    const rows = await ports.ledger.rows(runId, 0, 1000)
    const complete = rows.map(({ token }) =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()),
    )
    const done = complete.find((claims) => claims.ext?.['hp.linked'])
    expect(new Set(done.ext['hp.linked'])).toEqual(new Set(ends))
    expect(done.par).toEqual(expect.arrayContaining(ends as string[]))
  })
})

describe('a rollback of a step with child runs', () => {
  async function rollBack(
    bench: Bench,
    ports: WorkerPorts,
    runId: RunId,
    node: string,
    by = 'person:ada',
  ): Promise<void> {
    const plan = await makePlan(ports, runId, { node, scope: 'sub_dag', mayCoordinate: true })
    const command: Command = {
      type: 'roll_back',
      rollback: 'rb_1',
      scope: plan.scope,
      node,
      checkpoints: plan.steps.flatMap(({ checkpointId }) => checkpointId ?? []),
      plan: jsonValue(plan).hash,
      seq: plan.seq,
      reason: 'It was wrong',
      by,
      deadlineS: 600,
    }
    await ports.book.execute(runId, command, { values: [jsonValue(plan)] })
    await bench.pass(60_000, async () => (await status(ports, runId)) === 'rolled_back')
  }

  it('takes each of them back, the last one first, and ends them', async () => {
    const bench = new Bench({
      parent: graphOf({ a: map({ max_concurrent: 1 }) }),
      child: graphOf({ c: step(), d: step() }, ['c>d']),
    })
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent', { items: [1, 2] })
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    await rollBack(bench, ports, runId, 'a')
    expect(await look(ports, runId, (run) => run.rollbacks.get('rb_1')?.status)).toBe('completed')
    expect(bench.undone).toEqual(['d', 'c', 'd', 'c'])
    for (const child of await bench.children(runId)) expect(await terminal(ports, child)).toBe('rolled_back')
  })

  it('gives it the time that the rollback above has left, and no more', async () => {
    const bench = new Bench({ parent: graphOf({ a: call('child') }), child: graphOf({ c: step() }) })
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(10_000, ended(ports, runId))
    await rollBack(bench, ports, runId, 'a')
    const [above] = await look(ports, runId, ({ rollbacks }) => [...rollbacks.values()])
    const [child] = await bench.children(runId)
    const [below] = await look(ports, child as RunId, ({ rollbacks }) => [...rollbacks.values()])
    expect((above?.deadlineAt ?? 0) - (above?.askedAt ?? 0)).toBe(600_000)
    expect(below?.deadlineAt).toBe(above?.deadlineAt)
  })

  it('cancels one that still waits for a person, and takes it back', async () => {
    const asked = { role: 'operator', reason: '', onSilence: 'hold' } as const
    const bench = new Bench({
      parent: graphOf({ a: call('child') }),
      child: graphOf({ c: step(), d: step({ approval: asked }) }, ['c>d']),
    })
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    let child: RunId | undefined
    await bench.pass(10_000, async () => {
      child = (await bench.children(runId))[0]
      return child !== undefined && (await look(ports, child, (run) => run.openApprovals.size)) === 1
    })
    // The step is over although its child is not: what took it up said so.
    const failure = {
      severity: 'error',
      errorType: 'unknown',
      code: 'internal',
      description: 'It stopped',
      retriable: false,
    } as const
    await ports.book.execute(runId, { type: 'failed', node: 'a', visit: 1, attempt: 1, failure })
    await bench.pass(1000)
    await rollBack(bench, ports, runId, 'a')
    expect(await look(ports, runId, (run) => run.rollbacks.get('rb_1')?.status)).toBe('completed')
    expect(bench.undone).toEqual(['c'])
    expect(await terminal(ports, child as RunId)).toBe('rolled_back')
  })

  /** A finished parent whose child, two runs down, has a critical step. */
  async function withCritical() {
    const bench = new Bench({
      parent: graphOf({ z: step(), a: call('child') }, ['z>a']),
      child: graphOf({ b: call('leaf') }),
      leaf: graphOf({ c: step({ label: 'Charge', priority: 'critical' }), d: step() }, ['c>d']),
    })
    const ports = bench.process('one')
    const runId = await bench.begin(ports, 'parent')
    startWorker(ports, 'one')
    await bench.pass(60_000, ended(ports, runId))
    const [child] = (await bench.children(runId)) as [RunId]
    const [leaf] = (await bench.children(child)) as [RunId]
    return { bench, ports, runId, child, leaf }
  }
  const rollback = (ports: WorkerPorts, runId: RunId) =>
    look(ports, runId, ({ rollbacks }) => [...rollbacks.values()].at(-1))
  const asked = (ports: WorkerPorts, runId: RunId) =>
    look(ports, runId, (run) => [...run.openApprovals].map((id) => run.approvals.get(id)))
  async function answer(ports: WorkerPorts, runId: RunId, verdict: 'approve' | 'refuse') {
    const [question] = await asked(ports, runId)
    if (!question) throw new Error('Nobody is asked')
    const { id: approval, action } = question
    await ports.book.execute(runId, {
      ...{ type: 'decide', approval, action, verdict, by: 'person:bo', comment: 'Looked' },
    })
  }

  it('asks once, in its own run, before a critical step of a run below goes back with it; then all of it does', async () => {
    const { bench, ports, runId, child, leaf } = await withCritical()
    await rollBack(bench, ports, runId, 'a', 'engine')
    expect(await asked(ports, runId)).toMatchObject([
      {
        kind: 'rollback_critical',
        node: 'a',
        sentence: `Take back "Charge" of leaf in ${leaf.slice(0, 8)}…${leaf.slice(-4)}, a critical step: asked for by the run itself`,
      },
    ])
    expect(bench.undone).toEqual([])
    await answer(ports, runId, 'approve')
    await bench.pass(60_000, async () => (await status(ports, runId)) === 'rolled_back')
    expect(bench.undone).toEqual(['d', 'c'])
    expect(await rollback(ports, runId)).toMatchObject({ status: 'completed' })
    for (const run of [child, leaf]) {
      expect(await terminal(ports, run)).toBe('rolled_back')
      expect(await look(ports, run, (one) => one.approvals.size)).toBe(0)
    }
  })

  it('takes nothing back, here or below, where a person refuses that', async () => {
    const { bench, ports, runId, child, leaf } = await withCritical()
    await rollBack(bench, ports, runId, 'a', 'engine')
    await answer(ports, runId, 'refuse')
    await bench.pass(60_000, ended(ports, runId))
    expect(await rollback(ports, runId)).toMatchObject({
      status: 'escalated',
      decided: { decision: 'abort' },
    })
    expect(bench.undone).toEqual([])
    for (const run of [runId, child, leaf]) expect(await terminal(ports, run)).toBe('success')
  })

  it('asks nobody where a person saw in the plan which critical steps go back', async () => {
    const { bench, ports, runId, child, leaf } = await withCritical()
    const plan = await makePlan(ports, runId, { node: 'a', mayCoordinate: true })
    expect(plan.steps.map(({ criticalBelow }) => criticalBelow)).toEqual([
      [{ run: leaf, workflow: 'leaf', node: 'c', visit: 1, label: 'Charge' }],
    ])
    expect(plan.steps.map(({ runsBelow }) => runsBelow)).toEqual([
      { count: 1, first: [{ run: child, workflow: 'child', agents: [] }] },
    ])
    await rollBack(bench, ports, runId, 'a')
    expect(await rollback(ports, runId)).toMatchObject({ status: 'completed' })
    expect(bench.undone).toEqual(['d', 'c'])
  })

  it('names a critical step below however many runs stand before it', async () => {
    const { ports, runId, leaf } = await withCritical()
    // Long gone, like most of what a map of years began.
    const others = Array.from({ length: 2_500 }, () => runIdOf(mintUuid()))
    const childrenOf: WorkerPorts['childrenOf'] = async (...step) => [
      ...others,
      ...(await ports.childrenOf(...step)),
    ]
    const plan = await makePlan({ ...ports, childrenOf }, runId, { node: 'a', mayCoordinate: true })
    expect(plan.steps.map(({ criticalBelow }) => criticalBelow)).toEqual([
      [{ run: leaf, workflow: 'leaf', node: 'c', visit: 1, label: 'Charge' }],
    ])
  })

  it('leaves a run whole whose critical step nobody was asked about, and tells a person', async () => {
    const { bench, ports, runId, child, leaf } = await withCritical()
    await rollBack(bench, ports, runId, 'a', 'engine')
    // While they are asked, somebody has the run below do its part once more: that is another visit.
    await rollBack(bench, ports, leaf, 'c')
    const again = await rollback(ports, leaf)
    const choose = { type: 'choose', choice: 'go_on', by: 'person:ada' } as const
    await ports.book.execute(leaf, { ...choose, rollback: again?.id ?? 'rb_1' })
    await bench.pass(60_000, ended(ports, leaf))
    bench.undone.length = 0
    await answer(ports, runId, 'approve')
    await bench.pass(60_000, async () => (await status(ports, runId)) === 'rolled_back')
    expect(bench.undone).toEqual([])
    const why = `Charge of ${leaf} is critical and nobody was asked about it, so ${child} is left as it is`
    const { status: came, acts } = (await rollback(ports, runId)) ?? {}
    expect([came, [...(acts?.values() ?? [])].map(({ status }) => status)]).toEqual([
      'escalated',
      ['escalated'],
    ])
    expect(await asked(ports, runId)).toMatchObject([
      {
        kind: 'rollback_escalated',
        sentence: `a was not undone: Rolled back 0 of 1 child run; ${why}`,
      },
    ])
    for (const run of [child, leaf]) expect(await terminal(ports, run)).toBe('success')
  })

  it('does not let a run below go on once it was taken back with the step that began it', async () => {
    const { bench, ports, runId, leaf } = await withCritical()
    // Somebody chooses as soon as there is something to choose.
    let refused: unknown
    bench.store.onAppend(async ({ runId: of }) => {
      const state = await look(ports, leaf, (run) => run.state)
      if (of !== leaf || state.status !== 'rolled_back' || refused !== undefined) return
      const wish = { type: 'choose', choice: 'go_on', by: 'person:ada', rollback: state.rollback } as const
      await ports.book.execute(leaf, wish).catch((error: unknown) => {
        refused = error
      })
    })
    await rollBack(bench, ports, runId, 'a')
    expect(refused).toMatchObject({
      code: 'rollback_forbidden',
      message: 'This run was taken back with the step that began it; go on in the run of that step',
    })
    expect(await terminal(ports, leaf)).toBe('rolled_back')
  })
})
