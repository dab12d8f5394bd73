/*
 * Rollback: taking back what a run did, as far as it can be taken back, and not one step further than was agreed to.
 *
 * A rollback always has a plan first. The plan names every step that would be touched and what would happen to it, in
 * the order it would happen, and it has a digest. Whoever executes names the digest; the plan is made again at that
 * moment, and when the digests differ the world moved, nothing is done, and the new plan is shown. So the previewed
 * set is the executed set, always.
 *
 *   scope            what is in the set                      smallest first; the smallest that may be chosen is
 *   single           the step                                preselected
 *   sub_dag          the step and all that follows it; `only: dependents`: of these what was made from its output
 *   full_workflow    every step; for coordinators only
 *
 *   a step in the set                                        fate
 *   never began, or is rolled back already                   untouched
 *   was carried over from another run by a fork              untouched
 *   a finished step outside the set used its output          locked (the scope is forbidden)
 *   declared irreversible                                    irreversible: a person is told
 *   its checkpoint expired, is gone or does not verify       refused
 *   its undo is a compensating action                        compensated
 *   its snapshot can be put back, here or by its agent       restored
 *   had no effect on the world                               reset
 *
 * A scope is forbidden when a finished step outside it used an output of a step inside it (ATD "Partial Rollback",
 * NOTES 3.9), when a step of it is at work right now, when it begins with a step that was carried over from another run,
 * or when there is nothing in it to take back. What was read
 * decides, not what is drawn: an edge alone forbids nothing.
 *
 * The plan is a pure function of what it is given. It restores nothing, asks no agent, and reads no clock; whether a
 * checkpoint verifies is looked up before and passed in. The room does not know the engine: steps arrive as plain data.
 */
import { type Hash, hashJson } from '@/lib/base/hash'
import { Problem, type ProblemCode } from '@/lib/base/problem'
import { expiresAt } from '@/lib/checkpoint/due'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { Verification } from '@/lib/checkpoint/verify'
import { countFates, overwriting, type PlanCounts } from './counts'
import { dependentsOf, isInScope, rollbackScopes, scopeNodes } from './scope'
import { changedSentence, planSentence, stepSentence } from './sentence'
import type { ChangedBy, PlanFate, RollbackOnly, RollbackScope, RunsBelow, StepBelow } from './terms'
import { undoOrder } from './undo-order'

/** The current visit of a node, as the planner needs it. Build it for every node that ever began. */
export interface StepNow {
  node: string
  /** The node's name for people. */
  label: string
  visit: number
  status: 'pending' | 'waiting' | 'approved' | 'running' | 'done' | 'failed' | 'rolled_back' | 'escalated'
  /** Nodes whose output this visit used. */
  reads: readonly string[]
  /** SPIFFE id of the agent that did it, when that was not this installation. */
  agent?: string
  /** `read_only` in a dry run, whatever the kind. */
  consequence?: 'read_only' | 'reversible' | 'irreversible'
  /** The visit's latest checkpoint that no rollback has used. */
  checkpoint?: StepCheckpoint
  /** Where it left a group: all that are left of it, in the order they are undone; `checkpoint` is the first of them. */
  group?: readonly StepCheckpoint[]
  /** It was done in the run this one was forked from, which alone can take it back. */
  carried?: true
  /** Of a step that began runs. */
  criticalBelow?: readonly StepBelow[]
  runsBelow?: RunsBelow
}

export interface StepCheckpoint {
  jti: string
  /** `out_hash` of the token. */
  snapshot: Hash
  undo: UndoMethod
  reversible: boolean
  /** When it was taken, ms. */
  at: number
  ttlS: number
  target: string
  description: string
  verification: Verification
  /** Hash of the target's state at this moment, when it can be read. */
  stateHashNow?: Hash
  /** The target was asked what state it is in, and gave no answer. */
  stateUnread?: true
  /** Something else than this run's steps changed the target since; and which other run did, where one says so. */
  changedSince?: true
  changedBy?: ChangedBy
}

export interface PlanGraph {
  /** Every node, parents first; nodes on a loop last. */
  order: readonly string[]
  parents: ReadonlyMap<string, readonly string[]>
  children: ReadonlyMap<string, readonly string[]>
}

export interface PlanInput {
  run: string
  /** Tokens the run has. */
  seq: number
  /** ms since the epoch. */
  now: number
  /** The node before which the run is put back. */
  node: string
  /** Absent: the smallest scope that may be chosen. */
  scope?: RollbackScope
  /** Of a sub-DAG only what was made from the node's output. */
  only?: RollbackOnly
  role: { mayCoordinate: boolean }
  graph: PlanGraph
  /** By the name the step has in the graph. */
  steps: ReadonlyMap<string, StepNow>
  /** What a rollback under way reaches, as `node/visit`: taking that back was agreed to with it. */
  agreed?: ReadonlySet<string>
}

export interface PlannedStep {
  node: string
  label: string
  visit: number
  fate: PlanFate
  checkpointId?: string
  undo?: UndoMethod
  agent?: string
  target?: string
  /** One sentence: what returns, or why not. */
  sentence: string
  /** Sealed state and state now, when they can be read. */
  sealedHash?: Hash
  stateHashNow?: Hash
  /** The target was asked what state it is in, and gave no answer. */
  stateUnread?: true
  /** Somebody else changed the target since, and putting it back would undo that, too. Not done unless it is wanted. */
  changedSince?: true
  /** The step of another run that did. Absent: no run here says that it did. */
  changedBy?: ChangedBy
  /** What goes back with it in the runs that it began is all that may: of their critical steps these, and no other. */
  criticalBelow?: readonly StepBelow[]
  /** The runs that it began, which hold what goes back with it. */
  runsBelow?: RunsBelow
}

export interface PlanRefusal {
  code: Extract<ProblemCode, 'rollback_forbidden' | 'rollback_busy' | 'rollback_nothing' | 'role_missing'>
  sentence: string
  /** The step that stands in the way. */
  node?: string
  /** The node whose output it used. */
  output?: string
}

export interface PlanScope {
  scope: RollbackScope
  sentence: string
  /** The same where what somebody else changed since is put back, too. Absent: nothing was. */
  overwriting?: string
  forbidden?: string
}

export interface Plan {
  run: string
  node: string
  scope: RollbackScope
  only?: RollbackOnly
  digest: Hash
  seq: number
  at: number
  /** In the order they are undone. */
  steps: PlannedStep[]
  untouched: string[]
  counts: PlanCounts
  sentence: string
  /** What each scope would do; `sentence` says so without what it leaves. */
  scopes: PlanScope[]
  /** Present when the chosen scope cannot be executed. */
  forbidden?: PlanRefusal
}

/**
 * What a rollback to before `node` would do. Changes nothing. Throws Problem `not_found` when the workflow has no
 * such node; whatever else stands in the way is part of the plan (`forbidden`), for screens to show.
 */
export function planRollback(input: PlanInput): Plan {
  if (!input.graph.children.has(input.node)) {
    throw new Problem('not_found', `The workflow of this run has no node "${input.node.slice(0, 60)}"`)
  }
  const drafts = rollbackScopes.map((scope) => draftPlan(input, scope))
  const asked = drafts.find((draft) => draft.scope === input.scope)
  const chosen = asked ?? smallest(input, drafts)
  const { scope, steps, counts, forbidden } = chosen
  const touched = new Set(steps.map((step) => step.node))
  return {
    run: input.run,
    node: input.node,
    scope,
    ...(scope === 'sub_dag' && input.only && { only: input.only }),
    digest: digestOf(input, chosen),
    seq: input.seq,
    at: input.now,
    steps,
    untouched: input.graph.order.filter((node) => !touched.has(node)),
    counts,
    sentence: planSentence(counts),
    scopes: drafts.map((draft) => ({
      scope: draft.scope,
      sentence: planSentence({ ...draft.counts, untouched: 0 }),
      ...(draft.counts.changed && {
        overwriting: planSentence({ ...overwriting(draft.counts, draft.steps), untouched: 0 }),
      }),
      ...(draft.forbidden === undefined ? {} : { forbidden: draft.forbidden.sentence }),
    })),
    ...(forbidden === undefined ? {} : { forbidden }),
  }
}

/** The smallest scope that may be chosen. Whoever points at a step that cannot be taken back here is not offered the whole run. */
function smallest({ steps, node }: PlanInput, drafts: readonly Draft[]): Draft {
  const open = steps.get(node)?.carried ? undefined : drafts.find((draft) => draft.forbidden === undefined)
  return open ?? (drafts[0] as Draft)
}

/**
 * Stops an execution whose plan is not the one that was shown, or may not be executed. `digest` is the one the person
 * or agent named. Throws Problem `rollback_plan_changed` (with the new digest), or the plan's own refusal.
 */
export function checkExecutable(plan: Plan, digest: string): void {
  if (plan.digest !== digest) {
    throw new Problem(
      'rollback_plan_changed',
      `The run moved on since the plan was shown, so nothing was done. The plan is now: ${plan.sentence}`,
      { digest: plan.digest },
    )
  }
  if (plan.forbidden === undefined) return
  const { code, sentence, ...data } = plan.forbidden
  throw new Problem(code, sentence, data)
}

interface Draft {
  scope: RollbackScope
  steps: PlannedStep[]
  counts: PlanCounts
  forbidden?: PlanRefusal
}

/** A finished, or working, step outside the scope that used an output of a step inside. */
interface Reader {
  step: StepNow
  output: string
}

function draftPlan(input: PlanInput, scope: RollbackScope): Draft {
  const inScope = nodesOf(input, scope)
  const touched = new Map<string, StepNow>()
  for (const node of inScope) {
    const step = input.steps.get(node)
    if (step === undefined || step.carried) continue
    if (step.status !== 'pending' && step.status !== 'rolled_back') touched.set(node, step)
  }
  const readers = readersOutside(input, scope, inScope, touched)
  const lockedBy = new Map(readers.filter(({ step }) => step.status === 'done').map((r) => [r.output, r]))
  const order = undoOrder(input.graph, touched)
  const steps = order.flatMap((node) => planSteps(touched.get(node) as StepNow, lockedBy.get(node), input))
  const forbidden = refusalOf(input, scope, touched, readers)
  const counts = countFates(steps, input.graph.order.length)
  return { scope, steps, counts, ...(forbidden === undefined ? {} : { forbidden }) }
}

function nodesOf({ graph, steps, node, only }: PlanInput, scope: RollbackScope): ReadonlySet<string> {
  const nodes = scopeNodes(scope, node, graph)
  if (scope !== 'sub_dag' || only !== 'dependents') return nodes
  const following = graph.order.flatMap((id) => {
    const step = nodes.has(id) ? steps.get(id) : undefined
    // Under the name it has in the graph: of a walk, each visit has its own.
    return step ? { node: id, reads: step.reads } : []
  })
  return dependentsOf(node, following)
}

function readersOutside(
  input: PlanInput,
  scope: RollbackScope,
  inScope: ReadonlySet<string>,
  touched: ReadonlyMap<string, StepNow>,
): Reader[] {
  const readers: Reader[] = []
  for (const step of input.steps.values()) {
    if (isInScope(scope, inScope, step.node)) continue
    if (step.status !== 'done' && step.status !== 'running') continue
    for (const output of step.reads) if (touched.has(output)) readers.push({ step, output })
  }
  return readers
}

function refusalOf(
  input: PlanInput,
  scope: RollbackScope,
  touched: ReadonlyMap<string, StepNow>,
  readers: readonly Reader[],
): PlanRefusal | undefined {
  if (scope === 'full_workflow' && !input.role.mayCoordinate) {
    return { code: 'role_missing', sentence: 'Rolling back the whole workflow needs the coordinator role' }
  }
  const asked = input.steps.get(input.node)
  if (scope !== 'full_workflow' && asked?.carried) {
    return {
      code: 'rollback_forbidden',
      sentence: `"${asked.label}" was carried over from the run this one was forked from, and only that run can take it back; choose a later step, or roll back there`,
      node: asked.node,
    }
  }
  if (touched.size === 0) {
    const label = input.steps.get(input.node)?.label ?? input.node
    return {
      code: 'rollback_nothing',
      sentence:
        scope === 'full_workflow'
          ? nothingDone([...input.steps.values()].some((step) => step.carried))
          : `"${label}" has not begun, or is rolled back already; there is nothing to take back`,
    }
  }
  for (const step of touched.values()) {
    if (step.status !== 'running') continue
    return {
      code: 'rollback_busy',
      sentence: `"${step.label}" is running and would be rolled back; wait until it ends, or cancel the run`,
      node: step.node,
    }
  }
  const reader = readers.find(({ step }) => step.status === 'done') ?? readers[0]
  return reader === undefined ? undefined : readerRefusal(reader, touched)
}

function nothingDone(hasCarried: boolean): string {
  return hasCarried
    ? 'Only steps that were carried over from the run this one was forked from are done; roll back there'
    : 'No step of the run has begun, or all are rolled back already; there is nothing to take back'
}

function readerRefusal({ step, output }: Reader, touched: ReadonlyMap<string, StepNow>): PlanRefusal {
  const source = touched.get(output)?.label ?? output
  if (step.status === 'running') {
    return {
      code: 'rollback_busy',
      sentence: `"${step.label}" is running with the output of "${source}"; wait until it ends, or choose a wider scope`,
      node: step.node,
      output,
    }
  }
  return {
    code: 'rollback_forbidden',
    sentence: `"${step.label}" has finished and used the output of "${source}"; choose a wider scope that takes both back`,
    node: step.node,
    output,
  }
}

/** One for each checkpoint of a group, one for any other step. */
function planSteps(step: StepNow, lockedBy: Reader | undefined, input: PlanInput): PlannedStep[] {
  const { group, ...alone } = step
  if (group === undefined) return [planStep(step, lockedBy, input)]
  return group.map((checkpoint) => planStep({ ...alone, checkpoint }, lockedBy, input))
}

function planStep(step: StepNow, lockedBy: Reader | undefined, input: PlanInput): PlannedStep {
  const checkpoint = step.checkpoint
  const verification = checkpoint === undefined ? undefined : verificationNow(checkpoint, input.now)
  const fate = lockedBy === undefined ? fateOf(step, verification) : 'locked'
  const changedSince = fate === 'restored' && checkpoint?.changedSince === true
  return {
    node: step.node,
    label: step.label,
    visit: step.visit,
    fate,
    ...(step.agent === undefined ? {} : { agent: step.agent }),
    ...(checkpoint === undefined
      ? {}
      : {
          checkpointId: checkpoint.jti,
          undo: checkpoint.undo,
          target: checkpoint.target,
          sealedHash: checkpoint.snapshot,
          ...(checkpoint.stateHashNow === undefined ? {} : { stateHashNow: checkpoint.stateHashNow }),
          ...(checkpoint.stateUnread && { stateUnread: true as const }),
        }),
    ...(changedSince && { changedSince, ...(checkpoint?.changedBy && { changedBy: checkpoint.changedBy }) }),
    ...(fate === 'restored' && step.criticalBelow && { criticalBelow: step.criticalBelow }),
    ...(fate === 'restored' && step.runsBelow && { runsBelow: step.runsBelow }),
    sentence: changedSince
      ? changedSentence(step, checkpoint?.changedBy, input.run)
      : stepSentence(fate, step, verification, lockedBy?.step.label),
  }
}

/** A checkpoint can pass its time between the look that was taken at it and this plan. */
function verificationNow(checkpoint: StepCheckpoint, now: number): Verification {
  if (checkpoint.verification !== 'ok') return checkpoint.verification
  return now >= expiresAt(checkpoint.at, checkpoint.ttlS) ? 'expired' : 'ok'
}

function fateOf(step: StepNow, verification: Verification | undefined): PlanFate {
  const { checkpoint, consequence } = step
  if (checkpoint === undefined || verification === undefined) {
    // The checkpoint is durable before the effect, so a step without one that is not done had no effect yet.
    const hadEffect = step.status === 'done' && consequence !== undefined && consequence !== 'read_only'
    if (!hadEffect) return 'reset'
    return consequence === 'irreversible' ? 'irreversible' : 'refused'
  }
  if (!checkpoint.reversible) return 'irreversible'
  if (verification !== 'ok') return 'refused'
  return checkpoint.undo === 'compensate' ? 'compensated' : 'restored'
}

/**
 * Over what would be done and to what, never over time or words: waiting alone does not change a plan. Nor does what a
 * rollback under way does meanwhile, which a broader one takes over: while that goes on, its steps and the state that it
 * changes are left out.
 *
 * An agent that is asked for its state may answer once and not the next time. That alone is no other plan, so its state
 * counts only where it makes a difference: where it was changed since, and in which state it is then.
 */
function digestOf(input: PlanInput, { scope, steps }: Draft): Hash {
  const { agreed } = input
  return hashJson({
    run: input.run,
    node: input.node,
    scope,
    ...(scope === 'sub_dag' && input.only && { only: input.only }),
    steps: steps
      .filter(({ node, visit }) => !agreed?.has(`${node}/${visit}`))
      .map((step) => [
        step.node,
        step.visit,
        step.fate,
        step.checkpointId ?? null,
        step.sealedHash ?? null,
        agreed || !isStateCounted(step) ? null : (step.stateHashNow ?? null),
        ...(step.changedSince ? ['changed_since'] : []),
        ...(step.criticalBelow ?? []).map(({ run, node, visit }) => `${run}/${node}/${visit}`),
      ]),
  })
}

function isStateCounted({ undo, changedSince }: PlannedStep): boolean {
  return undo !== 'remote' || changedSince === true
}

/** The plan without acts that need no doing any more: what was agreed to, and less. */
export function planWithout(plan: Plan, checkpoints: ReadonlySet<string>): Plan {
  const steps = plan.steps.filter(({ checkpointId }) => !checkpoints.has(checkpointId ?? ''))
  if (steps.length === plan.steps.length) return plan
  const left = new Set(steps.map(({ node }) => node))
  const gone = plan.steps.flatMap(({ node }) => (left.has(node) ? [] : [node]))
  const untouched = [...plan.untouched, ...new Set(gone)]
  const counts = countFates(steps, left.size + untouched.length)
  return { ...plan, steps, untouched, counts, sentence: planSentence(counts) }
}
