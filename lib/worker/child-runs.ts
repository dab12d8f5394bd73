/*
 * Child runs: runs that a step begins and waits for. Each is a run of its own, with its own ledger; its first token
 * follows the step's task token, and the step's completion follows its last one. Its id is made from the step's place
 * and attempt, so whoever takes the step up after a crash finds the children that were begun and begins no second ones.
 *
 *   the step's attempt ─▶ begin (once) ─▶ wait ─▶ how it ended
 *                             ▲             ╰─▶ the parent is cancelled, or the step out of time: so is the child
 *                             ╰── the same id after a crash
 */
import { type RunId, runIdOf, uuidOfText, widOf } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { endsAt } from '@/lib/engine/due'
import type { Actor } from '@/lib/engine/facts'
import { isHeld, workLeftMs } from '@/lib/engine/limits'
import { endingOf } from '@/lib/engine/outcome'
import type { Keeper, RunHeader } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { visitOf } from '@/lib/engine/visit-states'
import { type ChildOutcome, type ChildRuns, EffectFailed } from '@/lib/runners/runner'
import { withMargin } from '@/lib/runners/time-left'
import { triggerInput } from '@/lib/workflow/trigger-input'
import { cancelRun } from './cancel-run'
import { finalValueOf } from './final-value'
import { HandedOver, handedOverOr } from './handed-over'
import type { ReachingStep, WorkerPorts } from './ports'
import { RunWatch } from './run-watch'
import { takeChildrenBack } from './take-children-back'
import { jsonValue } from './values'

/** agentd section 1.45. */
export const maxCallDepth = 8

/** Where the workflows of children come from: `load` and `loop` of ChildRuns, for the step's own run. */
export interface ChildWorkflows {
  load(workflow: string, parent: RunHeader): ReturnType<ChildRuns['load']>
  loop(config: JsonObject, parent: RunHeader, node: string): ReturnType<ChildRuns['loop']>
  turn(node: string, parent: RunHeader): ReturnType<ChildRuns['turn']>
}

/** What a child is begun with. */
type Child = Parameters<ChildRuns['run']>[0]

/** The child runs of one attempt of one step. */
export function childRunsOf(ports: WorkerPorts, workflows: ChildWorkflows, step: ReachingStep): ChildRuns {
  return {
    load: (workflow) => workflows.load(workflow, step.header),
    loop: (config) => workflows.loop(config, step.header, step.node),
    turn: (node) => workflows.turn(node, step.header),
    async run(child, signal) {
      const runId = childId(step, child.index)
      // Counted before the child begins: its own place may be the one that this step leaves.
      const release = ports.childWaits.begin()
      try {
        return (await begin(ports, step, runId, child, signal)) ?? (await outcome(ports, step, runId, signal))
      } catch (error) {
        throw handedOverOr(error, step.node)
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

/** Begins the child, unless it was begun before. Gives an outcome when there is no point in beginning it any more. */
async function begin(
  ports: WorkerPorts,
  step: ReachingStep,
  runId: RunId,
  child: Child,
  signal: AbortSignal,
): Promise<ChildOutcome | undefined> {
  const { book, ledger } = ports
  if (await ledger.header(runId)) return undefined
  const stop = await stopOf(ports, step, signal)
  if (stop) return neverBegun(step, runId, stop)
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
  const keptFor = await keeperOf(ports, step)
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
        deadlineAt: childDeadline(ports, step),
        workMs: await childWorkMs(ports, step),
      },
      {
        create: {
          runId,
          wid: widOf(runId),
          version: child.version,
          workflowName: graph.graph.name,
          startedBy: header.startedBy,
          parent: { runId: header.runId, node, visit, index: child.index },
          ...(keptFor && { keptFor }),
        },
        values: [input],
        lease: step.lease,
        lost: step.lost,
      },
    )
  } catch (error) {
    // Somebody who had the step before began it after we looked.
    if (!isProblem(error, 'run_moved_on')) throw error
  }
  return undefined
}

/** A child is out of its time before the step that waits for it is, so that the step can say whose time it was. */
function childDeadline({ timer }: WorkerPorts, { run, until }: ReachingStep): number | undefined {
  if (until === undefined) return endsAt(run)
  const now = timer.now()
  return Math.floor(now + withMargin(until - now))
}

/**
 * The same of time to work, which does not pass while people are waited for: a margin less than the step has, which has a
 * margin less than its run has left.
 */
async function childWorkMs(
  { book, timer }: WorkerPorts,
  { header }: ReachingStep,
): Promise<number | undefined> {
  const leftMs = await book.read(header.runId, (run) => workLeftMs(run, timer.now()))
  return leftMs === undefined ? undefined : Math.max(1, Math.floor(withMargin(withMargin(leftMs))))
}

/** What a worker keeps for itself it keeps with all that follows from it. The header is read anew: it may be kept since. */
async function keeperOf(ports: WorkerPorts, { header, lease }: ReachingStep): Promise<Keeper | undefined> {
  const { keptFor } = (await ports.ledger.header(header.runId)) ?? header
  return keptFor?.owner === lease?.owner ? keptFor : undefined
}

function neverBegun(step: ReachingStep, runId: RunId, { by, reason, isOver }: Stop): ChildOutcome {
  if (isOver) throw new HandedOver(step.node)
  const status = by === 'engine' ? 'timed_out' : 'failed'
  return { runId, status, finalValue: null, reason, modelTokens: 0, writtenBytes: 0, toolCalls: 0 }
}

async function outcome(
  ports: WorkerPorts,
  step: ReachingStep,
  runId: RunId,
  signal: AbortSignal,
): Promise<ChildOutcome> {
  const { draining, lost, node } = step
  const watch = new RunWatch(ports, [runId, step.header.runId], [signal, draining, lost])
  try {
    for (;;) {
      watch.look()
      const { over, held } = await ports.book.read(runId, seen)
      if (over) return { runId, ...over.told, finalValue: await finalValueOf(ports.ledger, over.ending) }
      if (draining.aborted || lost.aborted) throw new HandedOver(node)
      const stop = await stopOf(ports, step, signal)
      if (stop) await cancelRun(ports, runId, stop, step.lease)
      if (stop?.isOver) throw new HandedOver(node)
      if (!stop) await tellHeld(ports, step, held)
      await watch.wait()
    }
  } finally {
    watch.close()
  }
}

/** How it ended, and whether only people can move it on. */
function seen(run: Run) {
  return { over: noted(run), held: isHeld(run) }
}

/** A step whose child only people can move on is held, and says so in its own run: that time is not its work. */
async function tellHeld(ports: WorkerPorts, step: ReachingStep, held: boolean): Promise<void> {
  const { header, node, visit, attempt, lease, lost } = step
  const differs = await ports.book.read(header.runId, (run) => {
    const state = visitOf(run, node, visit)?.state
    if (state?.status !== 'running' || state.attempt !== attempt) return false
    return (state.heldSince !== undefined) !== held
  })
  if (!differs) return
  try {
    await ports.book.execute(header.runId, { type: 'held', node, visit, attempt, held }, { lease, lost })
  } catch (error) {
    // The step moved on while it was looked at; whoever has it now looks for itself.
    if (!isProblem(error, 'run_moved_on') && !isProblem(error, 'run_ended')) throw error
  }
}

function noted(run: Run) {
  const ending = endingOf(run)
  if (!ending) return undefined
  const { status, lastNode, reason, exhausted } = ending
  const { modelTokens, writtenBytes, toolCalls } = run
  const endJti = run.state.status === 'ended' ? run.state.jti : undefined
  const last = lastNode === undefined ? undefined : run.visits.get(lastNode)?.state
  const error = last?.status === 'failed' || last?.status === 'escalated' ? last.error : undefined
  const told = {
    status,
    lastNode,
    reason,
    ...(exhausted && { exhausted }),
    modelTokens,
    writtenBytes,
    toolCalls,
    endJti,
    errorJti: error?.jti,
  }
  return { ending, told }
}

/** Why a child has to stop, or is not begun at all. */
interface Stop {
  by: Actor
  reason: string
  /** The attempt that began it is over: nobody waits for it. */
  isOver?: true
}

/** A cancelled parent cancels what it waits for; so does a step that is out of time, and one that is over. */
async function stopOf(
  ports: WorkerPorts,
  { header, node, visit, attempt, draining, lost }: ReachingStep,
  signal: AbortSignal,
): Promise<Stop | undefined> {
  const { runId } = header
  return ports.book.read(runId, (run): Stop | undefined => {
    const current = visitOf(run, node, visit)?.state
    if (current?.status !== 'running' || current.attempt !== attempt) {
      return { by: 'engine', reason: `${node} of ${runId} does not wait for it any more`, isOver: true }
    }
    if (run.state.status === 'cancelling') {
      return { by: run.state.by, reason: `${runId} was cancelled: ${run.state.reason}` }
    }
    // A worker that stops, or lost the run, says nothing about the step's time.
    if (!signal.aborted || draining.aborted || lost.aborted) return undefined
    return { by: 'engine', reason: `${node} of ${runId} was out of time` }
  })
}
