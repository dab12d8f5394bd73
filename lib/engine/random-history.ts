/*
 * Random histories for tests: any fact after any other, those that `decide` would never have allowed too. What holds of
 * every history holds of real ones.
 */
import fc from 'fast-check'
import { hashJson } from '@/lib/base/hash'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import {
  actionOf,
  approvalAsked,
  approvalOf,
  approved,
  begun,
  cancelled,
  checkpointed,
  claimed,
  done,
  ended,
  failed,
  goneOn,
  offered,
  paused,
  retrying,
  rollbackAsked,
  rollbackOf,
  rolledBack,
  started,
  undone,
  type Word,
} from './histories'
import type { Run } from './run'

const nodes = ['a', 'b', 'c', 'd']
const placeOf = (run: Run, node: string) => ({ node, visit: run.visits.get(node)?.visit ?? 1 })

/** Four steps: a diamond where all run at once, a loop with a limit where one place is left for the next. */
export const randomGraph: fc.Arbitrary<WorkflowGraph> = fc.constantFrom(
  graphOf({ a: {}, b: {}, c: {}, d: {} }, ['a>b', 'a>c', 'b>d', 'c>d']),
  loop(),
)

function loop(): WorkflowGraph {
  const graph = graphOf({ a: {}, b: { maxVisits: 3, onMaxVisits: 'd' }, c: {}, d: {} }, [], {
    order: 'stepwise',
    format: 'promptpack',
    budget: { maxActiveS: 3_600, maxTotalVisits: 40 },
  })
  const edges = [
    ['a', 'b', 'next'],
    ['b', 'c', 'next'],
    ['c', 'b', 'next'],
    ['c', 'd', 'over'],
    ['b', 'a', 'back'],
    ['a', 'a', 'again'],
  ] as const
  return { ...graph, edges: edges.map(([from, to, when]) => ({ from, to, when, extra: {} })) }
}

const artifact =
  (node: string, name: string, mode: 'replace' | 'append'): Word =>
  (run) => ({
    type: 'artifact_set',
    ...placeOf(run, node),
    artifact: name,
    value: hashJson(run.seq),
    mediaType: 'text/plain',
    mode,
    by: 'engine',
  })

const commented =
  (node: string): Word =>
  (run) => ({
    type: 'approval_commented',
    ...placeOf(run, node),
    approval: approvalOf(node),
    by: 'person:bo',
    comment: 'Is it?',
  })

const given =
  (node: string, event: string): Word =>
  (run) => ({ type: 'event_given', ...placeOf(run, node), event, by: 'person:bo', comment: '' })

const beat =
  (node: string): Word =>
  (run) => ({
    type: 'task_heartbeat',
    ...placeOf(run, node),
    attempt: run.visits.get(node)?.attempt ?? 1,
    claimS: 30,
  })

const held =
  (node: string, isHeld: boolean): Word =>
  (run) => ({
    type: isHeld ? 'step_held' : 'step_released',
    ...placeOf(run, node),
    attempt: run.visits.get(node)?.attempt ?? 1,
  })

const carried =
  (node: string, label: string): Word =>
  (run) => ({
    type: 'step_carried',
    ...placeOf(run, node),
    output: hashJson({ output: node }),
    label,
    tookMs: 5,
    from: 'elsewhere',
  })

/** The undo of an earlier visit is answered: of one that a rollback may have left behind. */
const undoneBefore =
  (node: string): Word =>
  (run) => ({
    type: 'rollback_act_result',
    node,
    visit: Math.max(1, (run.visits.get(node)?.visit ?? 1) - 1),
    rollback: [...run.rollbacks.keys()][0] ?? rollbackOf(node),
    checkpointId: `${node}/before`,
    status: 'completed',
    description: '',
  })

const undoBegan =
  (node: string): Word =>
  (run) => ({
    type: 'rollback_act',
    ...placeOf(run, node),
    rollback: rollbackOf(node),
    checkpointId: run.visits.get(node)?.firstCheckpoint ?? `${node}/1`,
    undo: 'restore',
  })

const circuit = { circuit: 'c1', caller: 'workflow:w', downstream: 'backend:b', errorRate: 0.75 }

/** A breaker refuses the step's call, opens because of it, or lets it go again. */
const atBreaker =
  (node: string, what: 'rejected' | 'opened' | 'released'): Word =>
  (run, at) => {
    const attempt = run.visits.get(node)?.attempt ?? 1
    const common = { ...placeOf(run, node), ...circuit }
    if (what === 'released') {
      const { errorRate: _errorRate, caller: _caller, ...rest } = common
      return { type: 'circuit_released', ...rest, by: 'engine' }
    }
    const words = { ...common, attempt, windowS: 60, cooldownS: 30, change: 'elsewhere' }
    if (what === 'rejected') return { type: 'call_rejected', ...words, because: 'open', retryAt: at + 30_000 }
    return { type: 'circuit_open', ...words, calls: 4, failures: 3, until: at + 30_000, reopened: 0 }
  }

const refused =
  (node: string): Word =>
  (run) => ({
    type: 'approval_decided',
    ...placeOf(run, node),
    approval: approvalOf(node),
    verdict: 'refuse',
    by: 'person:bo',
    action: actionOf(node),
    comment: '',
  })

const label = fc.constantFrom('next', 'next', 'next', 'back', 'over', 'again', undefined)
const onNode = (make: (node: string) => Word) => fc.constantFrom(...nodes).map(make)
const step = fc
  .tuple(fc.constantFrom(...nodes), label)
  .map(([node, said]): Word[] => [
    started(node),
    checkpointed(node),
    artifact(node, 'log', 'append'),
    done(node, said),
  ])
/** The step that is due, wherever that is: so that walks get somewhere. */
const onDue =
  (make: (node: string) => Word): Word =>
  (run, at) =>
    make(run.walk?.path.at(-1)?.visit.node ?? [...run.ready][0] ?? 'a')(run, at)
const dueStep = fc
  .tuple(label, fc.boolean())
  .map(([said, writes]): Word[] => [
    ...(writes ? [onDue((node) => artifact(node, 'report', 'replace'))] : []),
    onDue(started),
    ...(writes ? [onDue((node) => artifact(node, 'log', 'append'))] : []),
    onDue((node) => done(node, said)),
  ])
const rollback = fc
  .tuple(
    fc.constantFrom(...nodes),
    fc.constantFrom('single' as const, 'sub_dag' as const, 'full_workflow' as const),
  )
  .map(([node, scope]): Word[] => [
    rollbackAsked(node, scope),
    undoBegan(node),
    undone(node, node),
    rolledBack(node),
    goneOn(node),
  ])

const one: fc.Arbitrary<Word> = fc.oneof(
  onNode(started),
  onNode(checkpointed),
  onNode((node) => claimed(node, `spiffe://test/${node}`)),
  onNode(offered),
  onNode(failed),
  onNode(retrying),
  onNode(beat),
  onNode((node) => held(node, true)),
  onNode((node) => held(node, false)),
  onNode((node) => approvalAsked(node)),
  onNode((node) => approvalAsked(node, { kind: 'irreversible_failed' })),
  onNode((node) => approved(node)),
  onNode(refused),
  onNode(commented),
  onNode((node) => atBreaker(node, 'rejected')),
  onNode((node) => atBreaker(node, 'opened')),
  onNode((node) => atBreaker(node, 'released')),
  onNode((node) => given(node, 'next')),
  onNode((node) => artifact(node, 'report', 'replace')),
  fc.tuple(fc.constantFrom(...nodes), label).map(([node, said]) => done(node, said)),
  fc.tuple(fc.constantFrom(...nodes), label).map(([node, said]) => carried(node, said ?? 'next')),
  onNode((node) => rollbackAsked(node)),
  onNode(rolledBack),
  onNode(undoneBefore),
  onNode(goneOn),
  fc.constant(paused()),
  fc.constant(cancelled()),
  fc.constant(ended()),
)

/** A run's words, the first of them its beginning. */
export const randomWords: fc.Arbitrary<Word[]> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: one.map((word) => [word]) },
      { weight: 2, arbitrary: step },
      { weight: 6, arbitrary: dueStep },
      { weight: 1, arbitrary: rollback },
    ),
    { maxLength: 40 },
  )
  .map((groups) => [begun(), ...groups.flat()])
