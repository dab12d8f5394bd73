/*
 * Words that test histories are built from: `historyOf(graph, [begun(), started('n1'), done('n1'), approvalAsked('n2')])`.
 * Each word is a fact about the run as the words before it left it; ids count up and a second passes from word to word.
 * Facts are folded, not decided: a history can also be one that `decide` would never have allowed.
 */
import { type Hash, hashJson } from '@/lib/base/hash'
import type { ApprovalId, Mint, RollbackId } from '@/lib/base/ids'
import type { ApprovalKind } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { Silence, WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import type { At } from './commands'
import { evolve, newRun } from './evolve'
import type { Fact, FactBody } from './facts'
import type { Run } from './run'

/** A fact about a run, before it has an id and a time. */
export type Word = (run: Run, at: number) => FactBody

/** When histories begin, ms since the epoch. */
export const historyBegins = 1_700_000_000_000

/** The run those words come to, and its facts. */
export function historyOf(graph: WorkflowGraph, words: readonly Word[]): { run: Run; facts: Fact[] } {
  const run = newRun(indexGraph(graph))
  const facts: Fact[] = []
  for (const word of words) {
    const at = historyBegins + facts.length * 1000
    const par = run.lastJti === undefined ? [] : [run.lastJti]
    const fact: Fact = { ...word(run, at), jti: uuidOf(facts.length + 1), at, par }
    facts.push(fact)
    evolve(run, fact)
  }
  return { run, facts }
}

/** Just the run. */
export function runOf(graph: WorkflowGraph, words: readonly Word[]): Run {
  return historyOf(graph, words).run
}

/** A moment to decide in: `afterMs` after the run's last token, with ids that count up. */
export function momentAfter(run: Run, afterMs = 1000, chance = 0): At {
  let minted = run.seq
  const mint: Mint = () => uuidOf(1_000_000 + minted++)
  return { now: run.lastAt + afterMs, mint, chance }
}

/** The n-th of the ids that tests use. */
export function uuidOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

export const approvalOf = (node: string, nth = 1): ApprovalId => `appr_${node}_${nth}`
export const rollbackOf = (node: string): RollbackId => `rb_${node}`
/** The digest of what a node does in these histories. */
export const actionOf = (node: string) => hashJson({ action: node })

export const begun =
  (more: { dryRun?: boolean } = {}): Word =>
  (run) => ({
    type: 'workflow_start',
    wfId: run.graph.graph.name,
    description: '',
    nodeCount: run.graph.order.length,
    version: hashJson('version'),
    by: 'person:ada',
    dryRun: false,
    input: hashJson({}),
    ...more,
  })

interface StepWords {
  consequence?: Consequence
  reads?: string[]
  timeoutAt?: number
}

export const started =
  (node: string, { consequence = 'read_only', reads = [], timeoutAt }: StepWords = {}): Word =>
  (run) => ({
    type: 'task_start',
    ...ofNext(run, node),
    action: actionOf(node),
    reads,
    consequence,
    timeoutAt,
  })

export const checkpointed =
  (node: string, more: { reversible?: boolean; undo?: 'restore' | 'compensate' } = {}): Word =>
  (run) => ({
    type: 'checkpoint',
    ...ofAttempt(run, node),
    snapshot: hashJson({ before: node }),
    reversible: more.reversible ?? true,
    rollbackUri: 'https://holdpoint.example/.well-known/atd/rollback',
    target: node,
    description: `Does ${node}`,
    ttlS: 3600,
    undo: more.undo ?? 'restore',
  })

export const done =
  (node: string, label?: string): Word =>
  (run) => ({ type: 'task_complete', ...ofAttempt(run, node), output: hashJson({ output: node }), label })

export const failed =
  (node: string): Word =>
  (run) => ({ type: 'error', ...ofAttempt(run, node), severity: 'error', ...ofFailure })

/** The attempt failed and another one is due `inMs` later. */
export const retrying =
  (node: string, inMs = 5000): Word =>
  (run, at) => ({
    type: 'error',
    ...ofAttempt(run, node),
    severity: 'warning',
    ...ofFailure,
    retryAt: at + inMs,
  })

export const offered =
  (node: string, consequence: Consequence = 'reversible'): Word =>
  (run) => ({
    type: 'task_offered',
    ...ofVisit(run, node),
    action: actionOf(node),
    reads: [],
    consequence,
    role: '',
  })

export const claimed =
  (node: string, agent: string, claimS = 30, more: StepWords = {}): Word =>
  (run) => ({
    type: 'task_start',
    ...ofNext(run, node),
    action: actionOf(node),
    reads: [],
    consequence: more.consequence ?? 'reversible',
    agent,
    claimS,
    timeoutAt: more.timeoutAt,
  })

interface QuestionWords {
  kind?: ApprovalKind
  role?: string
  deadlineS?: number
  onSilence?: Silence
  /** Of a question about a rollback: its plan (`planOf`). */
  action?: Hash
}

export const approvalAsked =
  (
    node: string,
    { kind = 'approval', role = 'operator', deadlineS, onSilence = 'hold', action }: QuestionWords = {},
  ): Word =>
  (run, at) => ({
    type: 'approval_asked',
    ...ofVisit(run, node),
    approval: approvalOf(node, questionsOf(run, node) + 1),
    kind,
    role,
    reason: 'It matters',
    sentence: `Does ${node}`,
    action: action ?? actionOf(node),
    reads: [],
    consequence: 'reversible',
    target: node,
    deadlineAt: deadlineS === undefined ? undefined : at + deadlineS * 1000,
    onSilence,
  })

export const approved =
  (node: string, by = 'person:bo', edited?: string): Word =>
  (run) => ({ ...decision(run, node, by), verdict: 'approve', edited })

export const paused = (): Word => () => ({ type: 'run_paused', by: 'person:ada', reason: 'Lunch' })
export const cancelled = (): Word => () => ({ type: 'cancel_asked', by: 'person:ada', reason: 'Enough' })

/** The plan of the rollback to before a node. */
export const planOf = (node: string): Hash => hashJson({ plan: node })

export const rollbackAsked =
  (node: string, scope: RollbackScope = 'sub_dag'): Word =>
  (_run, at) => ({
    type: 'rollback_request',
    rollback: rollbackOf(node),
    scope,
    node,
    cascade: scope !== 'single',
    reason: 'It went wrong',
    by: 'person:ada',
    plan: planOf(node),
    deadlineAt: at + 60_000,
  })

export const undone =
  (rollback: string, node: string): Word =>
  (run) => ({
    type: 'rollback_act_result',
    ...ofVisit(run, node),
    rollback: rollbackOf(rollback),
    checkpointId: run.visits.get(node)?.firstCheckpoint ?? `${node}/1`,
    status: 'completed',
    description: '',
  })

export const rolledBack =
  (node: string): Word =>
  (run) => ({
    type: 'rollback_result',
    rollback: rollbackOf(node),
    status: 'completed',
    checkpointId: run.visits.get(node)?.firstCheckpoint ?? '',
    cascaded: hashJson([]),
    cascadedCount: 0,
  })

export const goneOn =
  (node: string): Word =>
  () => ({ type: 'rollback_choice', rollback: rollbackOf(node), choice: 'go_on', by: 'person:ada' })

export const ended = (): Word => (run) => ({
  type: 'workflow_complete',
  wfId: run.graph.graph.name,
  terminalStatus: 'success',
  elapsedS: 1,
  reason: '',
})

const ofFailure = {
  errorType: 'action_failed',
  code: 'it_broke',
  description: 'It broke',
  upstream: [] as string[],
} as const

function ofVisit(run: Run, node: string) {
  return { node, visit: run.visits.get(node)?.visit ?? 1 }
}

function ofAttempt(run: Run, node: string) {
  return { ...ofVisit(run, node), attempt: Math.max(1, run.visits.get(node)?.attempt ?? 1) }
}

function ofNext(run: Run, node: string) {
  return { ...ofVisit(run, node), attempt: (run.visits.get(node)?.attempt ?? 0) + 1 }
}

function questionsOf(run: Run, node: string): number {
  return [...run.approvals.values()].filter((approval) => approval.node === node).length
}

function decision(run: Run, node: string, by: string) {
  const approval = approvalOf(node, questionsOf(run, node))
  return {
    type: 'approval_decided',
    ...ofVisit(run, node),
    approval,
    by,
    action: actionOf(node),
    comment: '',
  } as const
}
