/*
 * Making a rollback plan of a run as it is now: folds what each step did, opens and verifies each checkpoint, asks
 * targets for the hash of their state, and lets lib/rollback plan. Changes nothing anywhere.
 */
import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { verifyCheckpoint } from '@/lib/checkpoint/verify'
import { visitsInScope } from '@/lib/engine/evolve-rollback'
import { beginsRuns } from '@/lib/engine/own-steps'
import type { RunHeader } from '@/lib/engine/ports'
import type { CheckpointRef, Run, Visit } from '@/lib/engine/run'
import { readsOf, undoableCheckpoints } from '@/lib/engine/undoable'
import {
  type Plan,
  type PlanGraph,
  planRollback,
  type StepCheckpoint,
  type StepNow,
} from '@/lib/rollback/plan'
import type { RollbackOnly, RollbackScope } from '@/lib/rollback/terms'
import type { Snapshot } from '@/lib/runners/runner'
import { agentOf, labelOf } from '@/lib/workflow/graph-index'
import { boundedMap } from './bounded'
import { changedByOthers, stateNow } from './changed-since'
import { criticalBelow } from './critical-below'
import type { WorkerPorts } from './ports'
import { runsBelow } from './runs-below'

export type PlanWish = ({ node: string } | { checkpoint: string }) & {
  scope?: RollbackScope
  /** Of a sub-DAG only what was made from the step's output. */
  only?: RollbackOnly
  mayCoordinate: boolean
}

/** Steps whose checkpoints and targets are looked at at once. */
const looksAtOnce = 16

/** Everything the plan needs of one step, taken from the run in one turn of the book. */
interface Noted {
  step: Omit<StepNow, 'checkpoint'>
  kind: string
  /** In the order they are undone; more than one where it left a group. */
  refs: CheckpointRef[]
  actionHash?: string
  beginsRuns: boolean
}

/**
 * The plan of a rollback to before a node, or to a checkpoint of one. Throws Problem `not_found` for a node or a
 * checkpoint the run does not have, `rollback_nothing` for one of a visit that is past.
 */
export async function makePlan(ports: WorkerPorts, runId: RunId, wish: PlanWish): Promise<Plan> {
  const noted = await ports.book.read(runId, (run, header) => ({
    header,
    node: 'node' in wish ? wish.node : nodeOfCheckpoint(run, wish.checkpoint),
    seq: run.seq,
    graph: run.graph,
    start: run.start,
    walked: run.walk !== undefined,
    agreed: agreedTo(run),
    ...unrolled(run),
  }))
  const { header, seq, graph, start, drawn, walked, agreed } = noted
  const frozen = { graph, start } as Run
  const steps = new Map<string, StepNow>()
  const looked = await boundedMap(
    [...noted.steps],
    looksAtOnce,
    async ([key, { step, kind, refs, actionHash, beginsRuns }]) => {
      const checkpoints: StepCheckpoint[] = []
      for (const ref of refs) checkpoints.push(await lookAt(ports, frozen, header, ref, kind, actionHash))
      const seen = withCheckpoints(step, checkpoints)
      if (!beginsRuns || refs.length === 0) return [key, seen] as const
      const critical = await criticalBelow(ports, runId, step)
      const runs = await runsBelow(ports, runId, step)
      const below = {
        ...(critical.length > 0 && { criticalBelow: critical }),
        ...(runs && { runsBelow: runs }),
      }
      return [key, { ...seen, ...below }] as const
    },
  )
  for (const [key, step] of looked) steps.set(key, step)
  const plan = planRollback({
    run: runId,
    seq,
    now: ports.timer.now(),
    node: noted.node,
    ...(wish.only && { only: wish.only }),
    // Where one step leads to the next, taking one back leaves what it led to without its ground.
    scope: wish.scope ?? (walked || wish.only ? 'sub_dag' : undefined),
    role: { mayCoordinate: wish.mayCoordinate },
    graph: drawn,
    steps,
    ...(agreed && { agreed }),
  })
  const touched = new Set(plan.steps.map((step) => step.node))
  return { ...plan, untouched: graph.order.filter((node) => !touched.has(node)) }
}

/**
 * What was done, as the plan is made of it: the graph as it is drawn; or, of a walk, the chain of its visits, each
 * following the one before. There the latest visit of a node stands under the node's own name.
 */
function unrolled(run: Run): { drawn: PlanGraph; steps: Map<string, Noted> } {
  const inFlight = undoneNow(run)
  const began = (visit: Visit) => hasBegun(visit) && !inFlight.has(`${visit.node}/${visit.visit}`)
  if (!run.walk) {
    const visits = [...run.visits.values()].filter((visit) => began(visit))
    return { drawn: run.graph, steps: new Map(visits.map((visit) => [visit.node, noteStep(run, visit)])) }
  }
  const latest = new Map<string, string>()
  const steps = new Map<string, Noted>()
  const visits = run.walk.path.map((step) => step.visit)
  const last = new Map(visits.map((visit) => [visit.node, visit]))
  const keyOf = (visit: Visit) =>
    last.get(visit.node) === visit ? visit.node : `${visit.node} ${visit.visit}`
  for (const visit of visits) {
    const noted = noteStep(run, visit)
    const reads = visit.reads.includes('*') ? [...latest.keys()] : visit.reads
    noted.step = { ...noted.step, reads: reads.map((node) => latest.get(node) ?? node) }
    if (began(visit)) steps.set(keyOf(visit), noted)
    latest.set(visit.node, keyOf(visit))
  }
  return { drawn: chainOf(visits.map(keyOf), run.graph.order), steps }
}

/** A chain, and beside it the nodes the walk never came to. */
function chainOf(chain: readonly string[], all: readonly string[]): PlanGraph {
  const order = [...chain, ...all.filter((node) => !chain.includes(node))]
  const parents = new Map(order.map((key): [string, string[]] => [key, []]))
  const children = new Map(order.map((key): [string, string[]] => [key, []]))
  for (const [at, key] of chain.entries()) {
    const before = chain[at - 1]
    if (before === undefined) continue
    parents.set(key, [before])
    children.set(before, [key])
  }
  return { order, parents, children }
}

/** What the rollback under way reaches; undefined where there is none. */
function agreedTo(run: Run): ReadonlySet<string> | undefined {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  return rollback && new Set(visitsInScope(run, rollback).map(({ node, visit }) => `${node}/${visit}`))
}

/** Steps that a rollback under way is undoing right now: that ends first, and leaves nothing to do for a broader one. */
function undoneNow(run: Run): ReadonlySet<string> {
  const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
  const steps = new Set<string>()
  for (const [checkpoint, { node, status }] of rollback?.acts ?? []) {
    const visit = run.checkpoints.get(checkpoint)?.visit
    if (status === undefined && visit !== undefined) steps.add(`${node}/${visit}`)
  }
  return steps
}

function hasBegun(visit: Visit): boolean {
  return visit.state.status !== 'pending' || visit.checkpoint !== undefined
}

function noteStep(run: Run, visit: Visit): Noted {
  const node = run.graph.nodes.get(visit.node)
  const refs = undoableCheckpoints(run, visit)
  // A step put back to pending after a tried attempt has a checkpoint to take back; it counts as failed.
  const status = visit.state.status === 'pending' ? 'failed' : visit.state.status
  return {
    step: {
      node: visit.node,
      label: labelOf(run.graph, visit.node),
      visit: visit.visit,
      status,
      reads: readsOf(run, visit),
      agent: agentOf(run.graph, visit.node),
      consequence: run.start?.dryRun ? 'read_only' : visit.consequence,
      ...(visit.carriedFrom !== undefined && { carried: true }),
    },
    kind: node?.kind ?? '',
    refs,
    actionHash: visit.action,
    beginsRuns: beginsRuns(run, visit.node),
  }
}

/** Its checkpoints, the first to be undone among them. */
function withCheckpoints(step: Noted['step'], checkpoints: readonly StepCheckpoint[]): StepNow {
  const [checkpoint] = checkpoints
  if (!checkpoint) return step
  return checkpoints.length === 1 ? { ...step, checkpoint } : { ...step, checkpoint, group: checkpoints }
}

/** The step a checkpoint was taken of: rolling back to it is rolling back to before that step. */
function nodeOfCheckpoint(run: Run, jti: string): string {
  const ref = run.checkpoints.get(jti)
  if (!ref) throw new Problem('not_found', `This run has no checkpoint "${jti.slice(0, 60)}"`)
  const current = run.visits.get(ref.node)
  if (current?.visit === ref.visit) return ref.node
  throw new Problem(
    'rollback_nothing',
    `The checkpoint is of visit ${ref.visit} of "${labelOf(run.graph, ref.node)}", which is in visit ${current?.visit ?? 0} now; roll back to before that one`,
  )
}

async function lookAt(
  ports: WorkerPorts,
  run: Run,
  header: RunHeader,
  ref: CheckpointRef,
  kind: string,
  actionHash: string | undefined,
): Promise<StepCheckpoint> {
  const { state, verification } = await verified(ports, header.runId, ref)
  const { jti, snapshot, undo, reversible, at, ttlS, target, description } = ref
  const known = { jti, snapshot, undo, reversible, at, ttlS, target, description, verification }
  if (state === undefined || verification !== 'ok') return known
  const sealed = snapshotOf(ref, state)
  const seen = await stateNow(ports, { run, header, kind, actionHash }, ref, sealed)
  if (!seen) return known
  if (seen === 'silent') return { ...known, stateUnread: true }
  const changed = await changedByOthers(ports, header.runId, ref, sealed, seen)
  if (!changed) return { ...known, stateHashNow: seen.hash }
  return {
    ...{ ...known, stateHashNow: seen.hash, changedSince: true },
    ...(changed.by && { changedBy: changed.by }),
  }
}

async function sealedState(
  ports: WorkerPorts,
  ref: CheckpointRef,
): Promise<JsonObject | 'unopened' | undefined> {
  const sealed = await ports.ledger.checkpoint(ref.jti)
  try {
    return sealed && ports.vault.open(sealed)
  } catch {
    return 'unopened'
  }
}

/** What stands for a state that an agent holds by a token of its own: nothing of it was ever here. */
function receiptOf({ agent, jti, snapshot, rollbackUri }: CheckpointRef): JsonObject | undefined {
  return agent === undefined
    ? undefined
    : { agent, checkpoint_id: jti, out_hash: snapshot, rollback_uri: rollbackUri }
}

/** The hash of what is sealed here; of what an agent holds, of the receipt for it. */
function snapshotHash(ref: CheckpointRef): string {
  const receipt = receiptOf(ref)
  return receipt ? hashJson(receipt) : ref.snapshot
}

/** Opens a checkpoint and says what it is worth now. */
export async function verified(ports: WorkerPorts, runId: RunId, ref: CheckpointRef) {
  const state = receiptOf(ref) ?? (await sealedState(ports, ref))
  const signatureValid = await ports.tokenHolds(runId, ref.jti)
  const verdict = verifyCheckpoint({
    jti: ref.jti,
    node: ref.node,
    at: ref.at,
    ttlS: ref.ttlS,
    outHash: snapshotHash(ref),
    signatureValid,
    state,
    now: ports.timer.now(),
  })
  const { verification, problem } = verdict
  return { state: typeof state === 'object' ? state : undefined, verification, problem }
}

/** The snapshot a checkpoint sealed. */
export function snapshotOf(ref: CheckpointRef, state: JsonObject): Snapshot {
  return { state, hash: snapshotHash(ref), undo: ref.undo, rollbackUri: ref.rollbackUri, ttlS: ref.ttlS }
}
