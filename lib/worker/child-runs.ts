/*
 * Child runs: runs that a step begins and waits for. Each is a run of its own, with its own ledger; its first token
 * follows the step's task token, and the step's completion follows its last one. Its id is made from the step's place
 * and attempt, so whoever takes the step up after a crash finds the children that were begun and begins no second ones.
 *
 *   the step's attempt ─▶ begin (once) ─▶ wait ─▶ how it ended
 *                             ▲             ╰─▶ the parent is cancelled: so is the child
 *                             ╰── the same id after a crash
 */
import { type RunId, runIdOf, uuidOfText, widOf } from '@/lib/base/ids'
import type { Json, JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { endingOf } from '@/lib/engine/outcome'
import type { RunHeader } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { type ChildOutcome, type ChildRuns, EffectFailed } from '@/lib/runners/runner'
import { triggerInput } from '@/lib/workflow/trigger-input'
import { HandedOver } from './handed-over'
import type { ReachingStep, WorkerPorts } from './ports'
import { readJson } from './run-book'
import { takeChildrenBack } from './take-children-back'
import { jsonValue } from './values'

/** agentd section 1.45. */
export const maxCallDepth = 8
/** Another process may have ended the child: it is looked for at least this often. */
const lookMs = 5000

/** Where the workflows of children come from: `load` and `loop` of ChildRuns, for the step's own run. */
export interface ChildWorkflows {
  load(workflow: string, parent: RunHeader): ReturnType<ChildRuns['load']>
  loop(config: JsonObject, parent: RunHeader): ReturnType<ChildRuns['loop']>
}

/** What a child is begun with. */
type Child = Parameters<ChildRuns['run']>[0]

/** The child runs of one attempt of one step. */
export function childRunsOf(ports: WorkerPorts, workflows: ChildWorkflows, step: ReachingStep): ChildRuns {
  return {
    load: (workflow) => workflows.load(workflow, step.header),
    loop: (config) => workflows.loop(config, step.header),
    async run(child, signal) {
      const runId = childId(step, child.index)
      await begin(ports, step, runId, child)
      const release = ports.childWaits.begin()
      try {
        return await outcome(ports, step, runId, signal)
      } finally {
        release()
      }
    },
    takeBack: (request, signal) => takeChildrenBack(ports, step, request, signal),
  }
}

function childId({ header, node, visit, attempt }: ReachingStep, index: number): RunId {
  return runIdOf(uuidOfText(`${header.runId}/${node}/${visit}/${attempt}/${index}`))
}

async function begin(ports: WorkerPorts, step: ReachingStep, runId: RunId, child: Child): Promise<void> {
  const { book, ledger } = ports
  if (await ledger.header(runId)) return
  const { run, header, node, visit } = step
  const depth = (run.start?.depth ?? 0) + 1
  if (depth > maxCallDepth) {
    throw new EffectFailed(
      'call_too_deep',
      `${node} would begin a run ${depth} deep; at most ${maxCallDepth} runs may stand in one another`,
      { errorType: 'constraint_violation' },
    )
  }
  const graph = await ports.graphOf(child.version)
  const input = jsonValue(triggerInput(graph.graph, 'manual', child.input))
  const jti = step.follows[0] ?? run.start?.jti ?? ''
  try {
    await book.execute(
      runId,
      {
        type: 'start',
        version: child.version,
        input: input.hash,
        by: header.startedBy,
        dryRun: run.start?.dryRun ?? false,
        start: child.start,
        parent: { wid: header.wid, jti, depth },
        deadlineAt: deadlineOf(run),
      },
      {
        create: {
          runId,
          wid: widOf(runId),
          version: child.version,
          workflowName: graph.graph.name,
          startedBy: header.startedBy,
          parent: { runId: header.runId, node, visit, index: child.index },
        },
        values: [input],
      },
    )
  } catch (error) {
    // Somebody who had the step before began it after we looked.
    if (!isProblem(error, 'run_moved_on')) throw error
  }
}

/** Children have what is left of their parent's time, and no more. */
function deadlineOf({ graph, start }: ReachingStep['run']): number | undefined {
  const { maxRunS } = graph.graph.budget
  const own = maxRunS === undefined || !start ? Number.POSITIVE_INFINITY : start.at + maxRunS * 1000
  const until = Math.min(own, start?.deadlineAt ?? Number.POSITIVE_INFINITY)
  return until === Number.POSITIVE_INFINITY ? undefined : until
}

async function outcome(
  ports: WorkerPorts,
  step: ReachingStep,
  runId: RunId,
  signal: AbortSignal,
): Promise<ChildOutcome> {
  const { book, timer } = ports
  const parentId = step.header.runId
  let changed = new AbortController()
  const off = ports.onAppend((event) => {
    if (event.runId === runId || event.runId === parentId) changed.abort()
  })
  try {
    for (;;) {
      const again = new AbortController()
      changed = again
      const over = await book.read(runId, noted)
      if (over) return { runId, ...over.told, finalValue: await storedValue(ports, over.output) }
      if (signal.aborted || step.draining.aborted) throw new HandedOver(step.node)
      await passOnCancel(ports, parentId, runId)
      const wake = AbortSignal.any([again.signal, signal, step.draining])
      await timer.waitUntil(timer.now() + lookMs, wake)
    }
  } finally {
    off()
  }
}

function noted(run: Run) {
  const ending = endingOf(run)
  if (!ending) return undefined
  const { output, ...told } = ending
  const { modelTokens, writtenBytes } = run
  return { output, told: { ...told, modelTokens, writtenBytes, endJti: run.lastJti } }
}

async function storedValue(ports: WorkerPorts, hash: string | undefined): Promise<Json> {
  return hash === undefined ? null : ((await readJson(ports.ledger, hash)) ?? null)
}

/** A cancelled parent cancels what it waits for. */
async function passOnCancel(ports: WorkerPorts, parentId: RunId, runId: RunId): Promise<void> {
  const asked = await ports.book.read(parentId, ({ state }) =>
    state.status === 'cancelling' ? state : undefined,
  )
  if (!asked) return
  const reason = `${parentId} was cancelled: ${asked.reason}`
  await ports.book.execute(runId, { type: 'cancel', by: asked.by, reason }).catch((error) => {
    // It is being cancelled already, or has ended meanwhile.
    if (!isProblem(error, 'run_moved_on') && !isProblem(error, 'run_ended')) throw error
  })
}
