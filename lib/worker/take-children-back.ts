/*
 * Rolling back the runs a step began: each gets a plan of its own and is taken back whole, the last one begun first.
 * The rollback's id is made from the request and the child, so that asking again goes on with the same rollback.
 */
import { prefixed, type RollbackId, type RunId, uuidOfText } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { DEFAULT_ROLLBACK_S, rollbackDeadline } from '@/lib/rollback/deadline'
import { overallStatus } from '@/lib/rollback/outcome'
import type { RollbackStatus } from '@/lib/rollback/terms'
import type { Undone, UndoRequest } from '@/lib/runners/runner'
import { HandedOver } from './handed-over'
import { makePlan } from './plan'
import type { ReachingStep, WorkerPorts } from './ports'
import { jsonValue } from './values'

const lookMs = 5000

/** What became of the children of one visit of a step. `step.node` may be the node's undo: `node/undo`. */
export async function takeChildrenBack(
  ports: WorkerPorts,
  step: ReachingStep,
  request: UndoRequest,
  signal: AbortSignal,
): Promise<Undone> {
  const node = step.node.replace(/\/undo$/, '')
  const children = await ports.childrenOf(step.header.runId, node, step.visit)
  const statuses: RollbackStatus[] = []
  for (const child of children.toReversed()) {
    statuses.push(await takeBack(ports, child, request, step, signal))
  }
  const taken = statuses.filter((status) => status === 'completed').length
  const runs = statuses.length === 1 ? 'run' : 'runs'
  return {
    status: statuses.length === 0 ? 'completed' : overallStatus(statuses),
    description: `Rolled back ${taken} of ${statuses.length} child ${runs}`,
  }
}

async function takeBack(
  ports: WorkerPorts,
  child: RunId,
  request: UndoRequest,
  step: ReachingStep,
  signal: AbortSignal,
): Promise<RollbackStatus> {
  const rollback = prefixed('rb', uuidOfText(`${request.id}/${child}`))
  const asked = await ports.book.read(child, (run) => run.rollbacks.has(rollback))
  if (!asked && !(await ask(ports, child, rollback, request))) return 'completed'
  return settled(ports, child, rollback, step, signal)
}

/** Asks for the rollback; false when the run did nothing that could be taken back. */
async function ask(
  ports: WorkerPorts,
  child: RunId,
  rollback: RollbackId,
  request: UndoRequest,
): Promise<boolean> {
  const { book, timer } = ports
  const first = await book.read(child, (run) => run.walk?.path[0]?.visit.node ?? run.graph.order[0] ?? '')
  const plan = await makePlan(ports, child, { node: first, scope: 'full_workflow', mayCoordinate: true })
  if (plan.forbidden?.code === 'rollback_nothing') return false
  const checkpoints = plan.steps.flatMap((step) => step.checkpointId ?? [])
  const ttlsS = await book.read(child, (run) => checkpoints.map((jti) => run.checkpoints.get(jti)?.ttlS ?? 0))
  const now = timer.now()
  const stored = jsonValue(plan)
  await book.execute(
    child,
    {
      type: 'roll_back',
      rollback,
      scope: plan.scope,
      node: first,
      checkpoints: checkpoints.slice(0, 100),
      plan: stored.hash,
      seq: plan.seq,
      reason: request.reason,
      by: 'engine',
      deadlineS: Math.max(1, (rollbackDeadline(now, ttlsS, DEFAULT_ROLLBACK_S) - now) / 1000),
    },
    { values: [stored] },
  )
  return true
}

/** Waits for the rollback's result, and ends the child: going on is decided above, for the whole run. */
async function settled(
  ports: WorkerPorts,
  child: RunId,
  rollback: RollbackId,
  step: ReachingStep,
  signal: AbortSignal,
): Promise<RollbackStatus> {
  const { book, timer } = ports
  let changed = new AbortController()
  const off = ports.onAppend((event) => event.runId === child && changed.abort())
  const release = ports.childWaits.begin()
  try {
    for (;;) {
      const again = new AbortController()
      changed = again
      const status = await book.read(child, (run) => run.rollbacks.get(rollback)?.status)
      if (status !== undefined) {
        await book
          .execute(child, { type: 'choose', rollback, choice: 'end', by: 'engine' })
          .catch((error) => {
            // Chosen already, by a worker before us or by a person.
            if (!isProblem(error, 'run_moved_on')) throw error
          })
        return status
      }
      if (signal.aborted || step.draining.aborted) throw new HandedOver(step.node)
      await timer.waitUntil(timer.now() + lookMs, AbortSignal.any([again.signal, signal, step.draining]))
    }
  } finally {
    off()
    release()
  }
}
