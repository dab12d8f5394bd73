/*
 * Rolling back the runs a step began: each gets a plan of its own and is taken back whole, the last one begun first. One
 * that still goes on is cancelled and comes to its end before that.
 *
 * Nobody is asked on the way: the plan above named every critical step that goes back with the step, and a person agreed to
 * it, or none is critical. A run with a critical step that was not named is left as it ended, whole, and a person is told.
 *
 * The rollback's id is made from the request and the child, so that asking again goes on with the same rollback.
 */
import { prefixed, type RollbackId, type RunId, uuidOfText } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Run } from '@/lib/engine/run'
import { overallStatus } from '@/lib/rollback/outcome'
import type { Plan } from '@/lib/rollback/plan'
import type { RollbackStatus, StepBelow } from '@/lib/rollback/terms'
import type { Undone, UndoRequest } from '@/lib/runners/runner'
import { cancelRun } from './cancel-run'
import { belowKey } from './critical-below'
import { executePlan } from './execute-plan'
import { HandedOver, handedOverOr } from './handed-over'
import { makePlan } from './plan'
import type { ReachingStep, WorkerPorts } from './ports'
import { RunWatch } from './run-watch'

/** What became of the children of one visit of a step. `step.node` may be the node's undo: `node/undo`. */
export async function takeChildrenBack(
  ports: WorkerPorts,
  step: ReachingStep,
  request: UndoRequest,
  signal: AbortSignal,
): Promise<Undone> {
  const node = step.node.replace(/\/undo$/, '')
  const release = ports.childWaits.begin()
  try {
    const children = await ports.childrenOf(step.header.runId, node, step.visit)
    const parts: Part[] = []
    for (const child of children.toReversed()) {
      parts.push(await new ChildRollback(ports, step, request, child).run(signal))
    }
    const statuses = parts.map(({ status }) => status)
    const whys = parts.flatMap(({ why }) => why ?? [])
    const taken = statuses.filter((status) => status === 'completed').length
    const runs = statuses.length === 1 ? 'run' : 'runs'
    return {
      status: statuses.length === 0 ? 'completed' : overallStatus(statuses),
      description: [`Rolled back ${taken} of ${statuses.length} child ${runs}`, ...whys].join('; '),
    }
  } catch (error) {
    throw handedOverOr(error, node)
  } finally {
    release()
  }
}

/** What became of one child; `why` it was left, where it was not asked to be rolled back. */
interface Part {
  status: RollbackStatus
  why?: string
}

/** What a child run is, as far as taking it back goes. */
type Standing =
  | { is: 'going_on' }
  /** Somebody else's rollback, a cancel, or a step at work: it comes to an end by itself. */
  | { is: 'busy' }
  | { is: 'over'; choosing?: RollbackId }
  | { is: 'taken_back'; status: RollbackStatus; choosing?: RollbackId }

class ChildRollback {
  private readonly rollback: RollbackId

  constructor(
    private readonly ports: WorkerPorts,
    private readonly step: ReachingStep,
    private readonly request: UndoRequest,
    private readonly child: RunId,
  ) {
    this.rollback = prefixed('rb', uuidOfText(`${request.id}/${child}`))
  }

  /** One look after another: whatever a worker before this one did, and whatever people do meanwhile. */
  async run(signal: AbortSignal): Promise<Part> {
    const { draining, lost } = this.step
    const watch = new RunWatch(this.ports, [this.child], [signal, draining, lost])
    try {
      for (;;) {
        watch.look()
        const part = await this.onward()
        if (part !== undefined) return part
        if (signal.aborted || draining.aborted || lost.aborted) throw new HandedOver(this.step.node)
        await watch.wait()
      }
    } finally {
      watch.close()
    }
  }

  /** Does what comes next; what became of it once the child has ended. */
  private async onward(): Promise<Part | undefined> {
    const now = await this.ports.book.read(this.child, (run) => standingOf(run, this.rollback))
    switch (now.is) {
      case 'taken_back':
        if (now.choosing === undefined) return { status: now.status }
        await this.end(now.choosing)
        return undefined
      case 'going_on':
        // Nobody waits for it any more, and what it did is only known once it is over.
        await cancelRun(
          this.ports,
          this.child,
          { by: 'engine', reason: this.request.reason },
          this.step.lease,
        )
        return undefined
      case 'over': {
        const part = await this.ask()
        if (part === undefined || now.choosing === undefined) return part
        // Somebody may go on from it before it is ended: then it is looked at anew.
        await this.end(now.choosing)
        return undefined
      }
      case 'busy':
        return undefined
      default:
        return now satisfies never
    }
  }

  /** Asks for the rollback; what becomes of the run at once where it did nothing that could be taken back, or may not be. */
  private async ask(): Promise<Part | undefined> {
    const { child } = this
    const first = await this.ports.book.read(
      child,
      (run) => run.walk?.path[0]?.visit.node ?? run.graph.order[0] ?? '',
    )
    const plan = await makePlan(this.ports, child, {
      node: first,
      scope: 'full_workflow',
      mayCoordinate: true,
    })
    if (plan.forbidden?.code === 'rollback_nothing') return { status: 'completed' }
    if (plan.forbidden?.code === 'rollback_busy') return undefined
    const unnamed = await this.unnamed(plan)
    if (unnamed) {
      const { label, run } = unnamed
      return {
        status: 'escalated',
        why: `${label} of ${run} is critical and nobody was asked about it, so ${child} is left as it is`,
      }
    }
    const { reason, overwrite, deadlineAt } = this.request
    const withinS = Math.max(1, (deadlineAt - this.ports.timer.now()) / 1000)
    const wish = { rollback: this.rollback, reason, by: 'engine', overwrite, withinS }
    try {
      await executePlan(this.ports, child, plan, wish, { lease: this.step.lease, lost: this.step.lost })
    } catch (error) {
      // It moved between the plan and the request: what it is now is looked at anew.
      const moved = ['rollback_plan_changed', 'rollback_busy', 'rollback_conflict', 'run_moved_on'] as const
      if (!moved.some((code) => isProblem(error, code))) throw error
    }
    return undefined
  }

  /** A critical step that would go back and was not agreed to above; here, or in a run further below. */
  private async unnamed({ steps }: Plan): Promise<StepBelow | undefined> {
    const named = new Set((this.request.criticalBelow ?? []).map(belowKey))
    const own = await this.ports.book.read(this.child, (run) =>
      steps.filter(
        ({ node, fate }) =>
          (fate === 'restored' || fate === 'compensated') &&
          run.graph.nodes.get(node)?.priority === 'critical',
      ),
    )
    const critical = [
      ...own.map((step) => ({ ...step, run: this.child })),
      ...steps.flatMap(({ criticalBelow = [] }) => criticalBelow),
    ]
    return critical.find((step) => !named.has(belowKey(step)))
  }

  /** Ends the child: going on is decided above, for the whole run. */
  private async end(choosing: RollbackId | undefined): Promise<void> {
    if (choosing === undefined) return
    const wish = { type: 'choose', rollback: choosing, choice: 'end', by: 'engine' } as const
    await this.ports.book.execute(this.child, wish, { lease: this.step.lease }).catch((error) => {
      // Chosen already, by a worker before us or by a person.
      if (!isProblem(error, 'run_moved_on')) throw error
    })
  }
}

function standingOf(run: Run, rollback: RollbackId): Standing {
  const { state } = run
  const choosing = state.status === 'rolled_back' ? state.rollback : undefined
  const mine = run.rollbacks.get(rollback)
  if (mine)
    return mine.status === undefined ? { is: 'busy' } : { is: 'taken_back', status: mine.status, choosing }
  if (state.status === 'running' || state.status === 'paused') return { is: 'going_on' }
  const isOver = state.status === 'ended' || state.status === 'rolled_back'
  return isOver ? { is: 'over', choosing } : { is: 'busy' }
}
