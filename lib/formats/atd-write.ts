/*
 * Graph → descriptor. Each part is written from the graph's own words; `extra` only says how (atd-members.ts), so a
 * graph that was changed in the editor is written as changed.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { ApprovalSpec, GraphEdge, GraphNode, Retry, Silence, WorkflowGraph } from '@/lib/workflow/graph'
import { arrange, innerExtra, type Member } from './atd-members'
import { constraintsMember, containmentObject, hintsObject } from './contained'

export const defaultRole = 'operator'
export const defaultReason = 'The workflow asks for a decision before this step.'
export const retryDefaults: Omit<Retry, 'maxAttempts'> = {
  baseMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: 0.2,
}

/** Parts that keep an extra of their own inside the extra of what holds them. */
export const nestedInNode = [
  'resource_hints',
  'constraints',
  'hitl',
  'retry',
  'action',
  'agent_config',
] as const
export const nestedInWorkflow = ['policy', 'budget', 'containment'] as const

/** The descriptor of a graph as a JSON value. Throws Problem `workflow_invalid` for what ATD has no words for. */
export function descriptorOf(graph: WorkflowGraph): JsonObject {
  const unsayable = whatAtdCannotSay(graph)
  if (unsayable.length > 0)
    throw new Problem(
      'workflow_invalid',
      `The workflow "${graph.name}" cannot be written as an ATD descriptor: ATD has no ${unsayable.join(', no ')}. Export it in its own format.`,
      { unsayable },
    )
  return workflowObject(graph, graph.extra)
}

function whatAtdCannotSay(graph: WorkflowGraph): string[] {
  const found: string[] = []
  if (graph.order !== 'topological') found.push('stepwise order')
  if (graph.starts.length > 0) found.push('named starts')
  if (graph.artifacts.length > 0) found.push('artifacts')
  if (graph.rules.length > 0) found.push('rules')
  if (graph.edges.some((edge) => edge.when !== undefined)) found.push('labels on edges')
  if (graph.edges.some((edge) => edge.maxIterations !== undefined)) found.push('loops')
  if (graph.nodes.some((node) => node.maxVisits !== undefined)) found.push('bounds on visits')
  return found
}

/** The top level, written with the given extra. */
export function workflowObject(graph: WorkflowGraph, extra: JsonObject): JsonObject {
  return arrange(
    [
      { name: 'wf_id', value: graph.name, implied: false },
      { name: 'description', value: graph.description, implied: graph.description === '', usual: true },
      { name: 'vocabulary', value: graph.vocabulary, implied: graph.vocabulary === 'atd' },
      optional('input', graph.input),
      whenFilled('policy', policyObject(graph, innerExtra(extra, 'policy'))),
      whenFilled('budget', budgetObject(graph, innerExtra(extra, 'budget'))),
      whenFilled('containment', containmentObject(graph.containment, innerExtra(extra, 'containment'))),
      { name: 'nodes', value: graph.nodes.map((node) => nodeObject(node, node.extra)), implied: false },
      { name: 'edges', value: graph.edges.map((edge) => edgeObject(edge, edge.extra)), implied: false },
    ],
    extra,
    nestedInWorkflow,
  )
}

export function policyObject({ policy }: WorkflowGraph, extra: JsonObject): JsonObject {
  return arrange(
    [
      {
        name: 'roots',
        value: policy.roots.map(({ path, access }) => ({ path, access })),
        implied: policy.roots.length === 0,
      },
      {
        name: 'private_targets',
        value: policy.privateTargets,
        implied: policy.privateTargets.length === 0,
      },
    ],
    extra,
    [],
  )
}

export function budgetObject({ budget }: WorkflowGraph, extra: JsonObject): JsonObject {
  return arrange(
    [
      optional('max_run_s', budget.maxRunS),
      optional('max_concurrent', budget.maxConcurrent),
      optional('max_tokens', budget.maxTokens),
      optional('max_checkpoints', budget.maxCheckpoints),
    ],
    extra,
    [],
  )
}

export function edgeObject(edge: GraphEdge, extra: JsonObject): JsonObject {
  return arrange(
    [
      { name: 'from', value: edge.from, implied: false },
      { name: 'to', value: edge.to, implied: false },
    ],
    extra,
    [],
  )
}

/** A node, written with the given extra. */
export function nodeObject(node: GraphNode, extra: JsonObject): JsonObject {
  const held = node.approval !== undefined
  return arrange(
    [
      { name: 'id', value: node.id, implied: false },
      { name: 'label', value: node.label, implied: node.label === node.id, usual: true },
      optional('reversible', node.reversible),
      { name: 'hitl_required', value: held, implied: !held, usual: true },
      whenFilled('hitl', node.approval && hitlObject(node.approval, innerExtra(extra, 'hitl'))),
      whenFilled('resource_hints', hintsObject(node, innerExtra(extra, 'resource_hints'), extra)),
      ...workMembers(node, extra),
      optional('retry', node.retry && retryObject(node.retry, innerExtra(extra, 'retry'))),
      constraintsMember(node, extra),
    ],
    extra,
    nestedInNode,
  )
}

export function hitlObject(approval: ApprovalSpec, extra: JsonObject): JsonObject {
  return arrange(
    [
      { name: 'role', value: approval.role, implied: approval.role === defaultRole },
      { name: 'reason', value: approval.reason, implied: approval.reason === defaultReason },
      optional('deadline_s', approval.deadlineS),
      {
        name: 'unreachable_human',
        value: silenceValue(approval.onSilence),
        implied: approval.onSilence === 'hold',
      },
    ],
    extra,
    [],
  )
}

function silenceValue(silence: Silence): Json {
  return typeof silence === 'string' ? silence : { escalate_to: silence.escalateTo }
}

export function retryObject(retry: Retry, extra: JsonObject): JsonObject {
  return arrange(
    [
      { name: 'max_attempts', value: retry.maxAttempts, implied: false },
      { name: 'base_ms', value: retry.baseMs, implied: retry.baseMs === retryDefaults.baseMs },
      { name: 'factor', value: retry.factor, implied: retry.factor === retryDefaults.factor },
      { name: 'max_ms', value: retry.maxMs, implied: retry.maxMs === retryDefaults.maxMs },
      { name: 'jitter', value: retry.jitter, implied: retry.jitter === retryDefaults.jitter },
    ],
    extra,
    [],
  )
}

/*
 * What the node does: nothing written for a bare task, `agent` for a remote agent, `action` for all else. A node that
 * was written with `action` keeps it (its extra says so), also where a shorter form exists.
 */
function workMembers(node: GraphNode, extra: JsonObject): Member[] {
  if (prefersAction(node, extra))
    return [{ name: 'action', value: actionObject(node, innerExtra(extra, 'action')), implied: false }]
  if (node.kind === 'task') return []
  return [
    { name: 'agent', value: node.config.agent, implied: false },
    whenFilled('agent_config', agentConfigObject(node, innerExtra(extra, 'agent_config'))),
  ]
}

function prefersAction(node: GraphNode, extra: JsonObject): boolean {
  if (isJsonObject(extra.action)) return true
  if (node.kind === 'task') return Object.keys(node.config).length > 0
  return node.kind !== 'agent' || typeof node.config.agent !== 'string'
}

export function actionObject(node: GraphNode, extra: JsonObject): JsonObject {
  return arrange(
    [{ name: 'type', value: node.kind, implied: false }, ...configMembers(node.config)],
    extra,
    [],
  )
}

export function agentConfigObject(node: GraphNode, extra: JsonObject): JsonObject {
  const rest = configMembers(node.config).filter(({ name }) => name !== 'agent')
  return arrange(
    rest.map((member) =>
      member.name === 'operation' ? { ...member, implied: member.value === node.label } : member,
    ),
    extra,
    [],
  )
}

function configMembers(config: JsonObject): Member[] {
  return Object.entries(config).map(([name, value]) => ({ name, value, implied: false }))
}

function optional(name: string, value: Json | undefined): Member {
  return { name, value, implied: value === undefined }
}

function whenFilled(name: string, value: JsonObject | undefined): Member {
  return { name, value, implied: value === undefined || Object.keys(value).length === 0 }
}
