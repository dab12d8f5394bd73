/*
 * Rolling back the runs a step began: each gets a plan of its own and is taken back whole, the last one begun first. One
 * that still goes on is cancelled and comes to its end before that.
 * The rollback's id is made from the request and the child, so that asking again goes on with the same rollback.
 */
import { prefixed, type RollbackId, type RunId, uuidOfText } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Run } from '@/lib/engine/run'
import { overallStatus } from '@/lib/rollback/outcome'
import type { RollbackStatus } from '@/lib/rollback/terms'
import type { Undone, UndoRequest } from '@/lib/runners/runner'
import { cancelRun } from './cancel-run'
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
    const statuses: RollbackStatus[] = []
    for (const child of children.toReversed()) {
      statuses.push(await new ChildRollback(ports, step, request, child).run(signal))
    }
    const taken = statuses.filter((status) => status === 'completed').length
    const runs = statuses.length === 1 ? 'run' : 'runs'
    return {
      status: statuses.length === 0 ? 'completed' : overallStatus(statuses),
      description: `Rolled back ${taken} of ${statuses.length} child ${runs}`,
    }
  } catch (error) {
    throw handedOverOr(error, node)
  } finally {
    release()
  }
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
  async run(signal: AbortSignal): Promise<RollbackStatus> {
    const { draining, lost } = this.step
    const watch = new RunWatch(this.ports, [this.child], [signal, draining, lost])
    try {
      for (;;) {
        watch.look()
        const status = await this.onward()
        if (status !== undefined) return status
        if (signal.aborted || draining.aborted || lost.aborted) throw new HandedOver(this.step.node)
        await watch.wait()
      }
    } finally {
      watch.close()
    }
  }

  /** Does what comes next; the status once the child is taken back and ended. */
  private async onward(): Promise<RollbackStatus | undefined> {
    const now = await this.ports.book.read(this.child, (run) => standingOf(run, this.rollback))
    switch (now.is) {
      case 'taken_back':
        await this.end(now.choosing)
        return now.status
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
        const asked = await this.ask()
        if (asked === 'nothing') await this.end(now.choosing)
        return asked === 'nothing' ? 'completed' : undefined
      }
      case 'busy':
        return undefined
      default:
        return now satisfies never
    }
  }

  /** Asks for the rollback; `nothing` when the run did nothing that could be taken back. */
  private async ask(): Promise<'asked' | 'nothing' | 'moved_on'> {
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
    if (plan.forbidden?.code === 'rollback_nothing') return 'nothing'
    if (plan.forbidden?.code === 'rollback_busy') return 'moved_on'
    const { reason, overwrite } = this.request
    const wish = { rollback: this.rollback, reason, by: 'engine', overwrite }
    try {
      await executePlan(this.ports, child, plan, wish, { lease: this.step.lease, lost: this.step.lost })
      return 'asked'
    } catch (error) {
      // It moved between the plan and the request: what it is now is looked at anew.
      const moved = ['rollback_plan_changed', 'rollback_busy', 'rollback_conflict', 'run_moved_on'] as const
      if (moved.some((code) => isProblem(error, code))) return 'moved_on'
      throw error
    }
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
