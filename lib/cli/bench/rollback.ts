/*
 * Taking back: what a plan of 10,000 checkpoints costs, and how near a rollback of 1,000 checkpoints over 20 agents comes
 * to its critical path. Store, keys, tokens, sealed checkpoints, votes and worker are the server's own; an agent is what
 * takes 10 ms to put its state back and takes one request at a time.
 *
 * The critical path is what the same undos take with the same bounds (one at a time of each agent, 32 at once) when
 * nothing but the agents costs time.
 */
import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { prefixed } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { type Plan, type PlanInput, planRollback, type StepNow } from '@/lib/rollback/plan'
import type { Runner } from '@/lib/runners/runner'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import type { WorkerPorts } from '@/lib/worker/ports'
import { startWorker } from '@/lib/worker/worker'
import { atMost, type Benchmark, type Figure, median, shown, took } from './figures'
import { openBenchHouse } from './house'

const agents = Array.from({ length: 20 }, (_, at) => `spiffe://bench.example/agent/${at + 1}`)
const undoMs = 10

export const rollback: Benchmark = {
  group: 'rollback',
  async measure(say, quick) {
    return [...(await plans(say, quick)), ...(await undos(say, quick))]
  },
}

/** The plan alone: every scope drafted, ordered and digested. */
async function plans(say: (line: string) => void, quick: boolean): Promise<Figure[]> {
  const count = quick ? 1000 : 10_000
  const input = planInput(count)
  const measured: number[] = []
  for (let round = 0; round <= (quick ? 2 : 7); round++) {
    const { ms } = await took(() => planRollback(input))
    if (round > 0) measured.push(ms)
  }
  say(`a plan of ${count} checkpoints: ${median(measured).toFixed(0)} ms`)
  return [atMost(200, `plan of ${count.toLocaleString('en')} checkpoints`, median(measured), 'ms')]
}

/** A hundred steps side by side, each followed by the one below it, and read by the one beside that. */
function planInput(count: number): PlanInput {
  const wide = 100
  const order = Array.from({ length: count }, (_, at) => `s${at}`)
  const above = (at: number) =>
    [at - wide, at - wide + 1].filter((from) => from >= 0).map((from) => `s${from}`)
  const parents = new Map(order.map((node, at) => [node, above(at)]))
  const children = new Map(order.map((node): [string, string[]] => [node, []]))
  for (const [node, from] of parents) for (const parent of from) children.get(parent)?.push(node)
  const now = 1_800_000_000_000
  const steps = new Map(
    order.map((node, at): [string, StepNow] => [
      node,
      {
        node,
        label: `Step ${at}`,
        visit: 1,
        status: 'done',
        reads: above(at),
        consequence: 'reversible',
        agent: agents[at % agents.length],
        checkpoint: {
          jti: `checkpoint-${at}`,
          snapshot: hashJson(at),
          undo: 'remote',
          reversible: true,
          at: now - count + at,
          ttlS: 86_400,
          target: `target ${at}`,
          description: '',
          verification: 'ok',
          stateHashNow: hashJson(`${at} now`),
        },
      },
    ]),
  )
  const role = { mayCoordinate: true }
  return {
    run: 'run_bench',
    seq: 3 * count,
    now,
    node: 's0',
    scope: 'sub_dag',
    role,
    graph: { order, parents, children },
    steps,
  }
}

interface Measured {
  prepareMs: number
  executeMs: number
}

async function undos(say: (line: string) => void, quick: boolean): Promise<Figure[]> {
  const count = quick ? 200 : 1000
  const figures: Figure[] = []
  for (const shape of ['side by side', 'in chains'] as const) {
    const measured: Measured[] = []
    const paths: number[] = []
    for (let round = 0; round <= (quick ? 1 : 5); round++) {
      const path = await took(() => bareUndos(count))
      const one = await undoOnce(count, shape)
      say(`${count} ${shape}: votes in ${one.prepareMs} ms, undone in ${one.executeMs} ms`)
      if (round === 0) continue
      measured.push(one)
      paths.push(path.ms)
    }
    const pathMs = median(paths)
    const ratio = median(measured.map(({ executeMs }) => executeMs)) / pathMs
    const name = `rollback of ${count.toLocaleString('en')} checkpoints ${shape}, ${agents.length} agents`
    figures.push(
      atMost(1.3, `${name}: beside its critical path of ${pathMs.toFixed(0)} ms`, ratio, 'times'),
      shown(`${name}: votes`, median(measured.map(({ prepareMs }) => prepareMs)), 'ms'),
    )
  }
  return figures
}

/**
 * The critical path, in the same minute on the same machine: one at a time of each agent, and the chains are as long as each
 * agent has steps, so it is the same for both shapes.
 */
async function bareUndos(count: number): Promise<void> {
  const inTurn = async () => {
    for (let left = count / agents.length; left > 0; left--) await takesItsTime()
  }
  await Promise.all(agents.map(inTurn))
}

function takesItsTime(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, undoMs))
}

async function undoOnce(count: number, shape: 'side by side' | 'in chains'): Promise<Measured> {
  // What holds back a flood of checkpoints is not what is measured.
  process.env.HOLDPOINT_CHECKPOINTS_PER_MINUTE = '1000000'
  const house = await openBenchHouse()
  const runner = slowAgent()
  const ports: WorkerPorts = {
    ...house.ports,
    runnerOf: (kind) => (kind === 'agent' ? runner : house.ports.runnerOf(kind)),
  }
  const worker = startWorker(ports, 'bench')
  try {
    const runId = await house.start(await house.version(workflow(count, shape)), 'x')
    await until(ports, runId, 'ended')
    const plan: Plan = await makePlan(ports, runId, {
      node: 'step-0',
      scope: 'full_workflow',
      mayCoordinate: true,
    })
    const id = prefixed('rb', ports.mint())
    await executePlan(ports, runId, plan, { by: 'person:bench', reason: 'bench', rollback: id })
    await until(ports, runId, 'rolled_back')
    return await ports.book.read(runId, (run) => {
      const rollback = run.rollbacks.get(id)
      if (rollback?.status !== 'completed') throw new Error(`The rollback is ${rollback?.status}`)
      const decidedAt = rollback.decided?.at ?? 0
      return { prepareMs: decidedAt - rollback.askedAt, executeMs: run.lastAt - decidedAt }
    })
  } finally {
    await worker.stop()
    await house.close()
  }
}

async function until(ports: WorkerPorts, runId: RunId, status: string): Promise<void> {
  for (;;) {
    const wake = new AbortController()
    const off = ports.onAppend((event) => event.runId === runId && wake.abort())
    const is = await ports.book.read(runId, (run) => run.state.status)
    if (is !== status) await ports.timer.waitUntil(ports.timer.now() + 1000, wake.signal)
    off()
    if (is === status) return
  }
}

function workflow(count: number, shape: 'side by side' | 'in chains'): JsonObject {
  const lane = (at: number) => at % agents.length
  const nodes = Array.from({ length: count }, (_, at) => ({
    id: `step-${at}`,
    label: `Step ${at}`,
    reversible: true,
    hitl_required: false,
    resource_hints: { priority: 'normal', timeout_s: 3600 },
    agent: agents[lane(at)] as string,
    operation: 'change',
  }))
  const edges = Array.from({ length: count - agents.length }, (_, at) => ({
    from: `step-${at}`,
    to: `step-${at + agents.length}`,
  }))
  return {
    wf_id: `bench-${shape.replaceAll(' ', '-')}`,
    description: 'Changes by many agents',
    nodes,
    edges: shape === 'in chains' ? edges : [],
  }
}

/** Takes its time to put a state back, and none to change it. */
function slowAgent(): Runner {
  return {
    resolve: async ({ node }) => ({ agent: String(node.config.agent), operation: 'change' }),
    async describe(action, { node, visit }) {
      const target = node.id
      return {
        action: {
          ...{ kind: 'agent', node: node.id, visit, do: action, consequence: 'reversible', target },
          ...{ sentence: `Change ${target}`, undo: 'remote', undoSentence: 'Put it back' },
        },
      }
    },
    async snapshot(action, _effects, checkpointId) {
      const state = { agent: String(action.do.agent), checkpoint_id: checkpointId, target: action.target }
      return { state, hash: hashJson(state), undo: 'remote' }
    },
    perform: async () => ({ output: {} }),
    async undo(_action, snapshot) {
      await takesItsTime()
      return { stateHashAfter: snapshot.hash, description: 'It is back' }
    },
  }
}
