/*
 * Looking whether somebody else changed a step's target since (lib/rollback/changed-since.ts): the target is asked what
 * state it is in, and what the run's own steps made of it is folded from the ledger. The runs above and below count as
 * the run's own; they are read only where nothing in the run itself explains the state.
 */
import { type RunId, runIdOf } from '@/lib/base/ids'
import { type Comparable, comparable, type Touching, touching } from '@/lib/engine/own-steps'
import type { RunHeader } from '@/lib/engine/ports'
import type { CheckpointRef, Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import { isChangedSince, type OtherStep } from '@/lib/rollback/changed-since'
import type { Action, SeenState, Snapshot } from '@/lib/runners/runner'
import { effectsFor } from './effects'
import type { WorkerPorts } from './ports'
import { readJson } from './run-book'

/** How long a target may take to say what state it is in before the plan goes on without. */
const lookMs = 5000
/** A family of more runs is not read to its end: then nothing is claimed. */
const mostRuns = 500

/** Whom to ask for the state of what a step acted on. */
export interface StateAsked {
  /** Its graph and its start. */
  run: Run
  header: RunHeader
  kind: string
  actionHash: string | undefined
}

/** The target's state now; `silent` when it was asked and gave none, undefined when it cannot be asked. */
export async function stateNow(
  ports: WorkerPorts,
  { run, header, kind, actionHash }: StateAsked,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<SeenState | 'silent' | undefined> {
  const runner = ports.runnerOf(kind)
  const action = actionHash && ((await readJson(ports.ledger, actionHash)) as unknown as Action)
  if (!runner?.stateHash || !action) return undefined
  const over = new AbortController()
  const late = new AbortController()
  void ports.timer.waitUntil(ports.timer.now() + lookMs, over.signal).then(() => late.abort())
  const step = { node: ref.node, visit: ref.visit, attempt: 0, signal: late.signal, follows: [ref.jti] }
  try {
    return await runner.stateHash(action, snapshot, effectsFor(ports, run, header, step))
  } catch {
    // It cannot be looked at now; the plan says so, and the undo itself will tell.
    return 'silent'
  } finally {
    over.abort()
  }
}

/** Did something else than the run's own steps change a target that is in this state now? */
export async function isChangedByOthers(
  ports: WorkerPorts,
  runId: RunId,
  ref: CheckpointRef,
  snapshot: Snapshot,
  now: SeenState,
): Promise<boolean> {
  if (now.hash === snapshot.hash) return false
  const { of, own } = await ports.book.read(runId, (run) => {
    const of = comparable(run, ref)
    return { of, own: of && now.raw !== of.step.change.left ? besides(run, of) : undefined }
  })
  if (!of || !own) return false
  const verdict = isChangedSince(of.step, own.steps, now.raw)
  if (verdict !== true) return false
  const family = await stepsOfFamily(ports, runId, of).catch(() => undefined)
  return family !== undefined && isChangedSince(of.step, family, now.raw) === true
}

function besides(run: Run, of: Comparable): Touching {
  return touching(run, of, ({ node, visit }) => node === of.node && visit === of.visit)
}

/** The steps of the runs above, below and beside; undefined where there are too many of them. */
async function stepsOfFamily(
  ports: WorkerPorts,
  runId: RunId,
  of: Comparable,
): Promise<OtherStep[] | undefined> {
  const steps: OtherStep[] = []
  const runs = [await topOf(ports, runId)]
  for (const id of runs) {
    if (runs.length > mostRuns) return undefined
    const found = await ports.book.read(id, (run) =>
      id === runId ? besides(run, of) : touching(run, of, () => false),
    )
    steps.push(...found.steps)
    for (const { node, visit } of found.below) runs.push(...(await ports.childrenOf(id, node, visit)))
  }
  return steps
}

async function topOf(ports: WorkerPorts, runId: RunId): Promise<RunId> {
  const above = await ports.book.read(runId, (run) => run.start?.parentWid)
  return above === undefined ? runId : topOf(ports, runIdOf(above))
}

/**
 * Whether a checkpoint's target was changed by somebody else since its step, looked at now. Undefined when that cannot be
 * told, or the target does not say what state it is in.
 */
export async function changedByNow(
  ports: WorkerPorts,
  runId: RunId,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<boolean | undefined> {
  const asked = await ports.book.read(runId, (run, header): StateAsked | undefined => {
    if (!comparable(run, ref)) return undefined
    const kind = run.graph.nodes.get(ref.node)?.kind ?? ''
    const actionHash = anyVisitOf(run, ref.node, ref.visit)?.action
    return { run: { graph: run.graph, start: run.start } as Run, header, kind, actionHash }
  })
  const seen = asked && (await stateNow(ports, asked, ref, snapshot))
  if (seen === 'silent') return undefined
  return seen && (await isChangedByOthers(ports, runId, ref, snapshot, seen))
}
