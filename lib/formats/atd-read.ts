/*
 * Descriptor → graph. Every member is read by its type, every fault is told with its place, and reading goes on: what
 * could not be read gets its default, so that the checks of the whole graph can still speak of the rest.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type {
  ApprovalSpec,
  Budget,
  GraphEdge,
  GraphNode,
  Policy,
  Retry,
  Root,
  Silence,
  WorkflowGraph,
} from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { unknownMembers, withInner, withShape } from './atd-members'
import {
  actionObject,
  agentConfigObject,
  budgetObject,
  defaultReason,
  defaultRole,
  edgeObject,
  hitlObject,
  nodeObject,
  policyObject,
  retryDefaults,
  retryObject,
  workflowObject,
} from './atd-write'
import { containmentObject, hintsObject, keptHints, readContained, readContainment } from './contained'
import { type Fault, kindOf, shown, wrongType } from './fault'

/** Tells a fault at a place of the document. */
export type Tell = (fault: Fault) => void

export interface ReadDescriptor {
  graph: WorkflowGraph
  /** Where the graph's nodes and edges stand in the document's lists; entries that are no objects are left out. */
  nodeAt: number[]
  edgeAt: number[]
}

const workflowMembers = [
  'wf_id',
  'description',
  'nodes',
  'edges',
  'input',
  'policy',
  'vocabulary',
  'budget',
  'containment',
]
const nodeMembers = [
  'id',
  'label',
  'reversible',
  'hitl_required',
  'hitl',
  'resource_hints',
  'constraints',
  'agent',
  'agent_config',
  'action',
  'retry',
]
const maxLabelLength = 500
const maxNameLength = 200

/** Reads a descriptor's value into a graph, telling every fault. Returns nothing when the text is no object at all. */
export function readDescriptor(source: Json, tell: Tell): ReadDescriptor | undefined {
  if (!isJsonObject(source)) {
    tell({
      path: [],
      code: 'not_object',
      message: `A workflow descriptor is an object, and this is ${kindOf(source)}.`,
      mend: 'Write an object with wf_id, nodes and edges.',
    })
    return undefined
  }
  const read = reader(source, [], tell)
  tellRules(source, [], tell)
  const nodes = readList(read.list('nodes', true), ['nodes'], readNode, tell)
  const edges = readList(read.list('edges', true), ['edges'], readEdge, tell)
  const input = read.object('input')
  const containment = readContainment(source.containment, ['containment'], tell)
  const graph: WorkflowGraph = {
    name: read.name('wf_id', maxNameLength, 'untitled'),
    description: read.text('description', '', 20_000),
    format: 'atd',
    order: 'topological',
    vocabulary: read.choice('vocabulary', ['atd', 'cascade'] as const, 'atd'),
    nodes: nodes.map(([node]) => node),
    edges: edges.map(([edge]) => edge),
    starts: [],
    ...(input ? { input } : {}),
    artifacts: [],
    budget: readBudget(read.object('budget'), tell),
    policy: readPolicy(read.object('policy'), tell),
    rules: [],
    ...(containment ? { containment } : {}),
    extra: unknownMembers(source, workflowMembers),
  }
  graph.extra = workflowExtra(source, graph)
  return { graph, nodeAt: nodes.map(([, at]) => at), edgeAt: edges.map(([, at]) => at) }
}

/** Members under which rules of ACP-DAG-HITL come along (ATD section 5.3): an author must know that nobody asks by them. */
function tellRules(source: JsonObject, path: GraphPath, tell: Tell): void {
  const inHitl = path.length === 0 && isJsonObject(source.hitl) ? source.hitl.rules : undefined
  const places: [GraphPath, Json | undefined][] = [
    [['rules'], source.rules],
    [['hitl_rules'], source.hitl_rules],
    [['hitl', 'rules'], inHitl],
  ]
  for (const [place, rules] of places) {
    if (!Array.isArray(rules) || !rules.some((rule) => isJsonObject(rule) && rule.trigger !== undefined))
      continue
    const [these, them] =
      rules.length === 1 ? ['This HITL rule is', 'it'] : [`These ${rules.length} HITL rules are`, 'them']
    tell({
      path: [...path, ...place],
      code: 'rules_kept',
      message: `${these} kept and not evaluated: nothing waits for a person because of ${them}.`,
      mend: 'Write "hitl_required" and "hitl" on the nodes that must wait, and "containment": {"on_error": "escalate"} for errors.',
      severity: 'warning',
      what: 'name',
    })
  }
}

function workflowExtra(source: JsonObject, graph: WorkflowGraph): JsonObject {
  let extra = graph.extra
  const { policy, budget, containment } = source
  if (isJsonObject(policy))
    extra = withInner(
      extra,
      'policy',
      withShape(policy, {}, (e) => policyObject(graph, e)),
    )
  if (isJsonObject(budget))
    extra = withInner(
      extra,
      'budget',
      withShape(budget, {}, (e) => budgetObject(graph, e)),
    )
  if (isJsonObject(containment))
    extra = withInner(
      extra,
      'containment',
      withShape(containment, {}, (e) => containmentObject(graph.containment, e)),
    )
  return withShape(source, extra, (e) => workflowObject({ ...graph, nodes: [], edges: [] }, e))
}

function readList<T>(
  list: Json[],
  path: GraphPath,
  read: (entry: JsonObject, path: GraphPath, tell: Tell) => T | undefined,
  tell: Tell,
): [T, number][] {
  const found: [T, number][] = []
  for (const [at, entry] of list.entries()) {
    if (isJsonObject(entry)) {
      const one = read(entry, [...path, at], tell)
      if (one !== undefined) found.push([one, at])
    } else
      tell({
        path: [...path, at],
        code: 'wrong_type',
        message: `Entry ${at + 1} of "${path[0]}" is ${kindOf(entry)}; an object was expected.`,
        mend: 'Write an object.',
      })
  }
  return found
}

function readEdge(source: JsonObject, path: GraphPath, tell: Tell): GraphEdge | undefined {
  const read = reader(source, path, tell)
  const from = read.name('from')
  const to = read.name('to')
  if (source.when !== undefined)
    tell({
      path: [...path, 'when'],
      code: 'when_not_used',
      message: 'This edge has a "when", which descriptors do not know; the edge counts always.',
      mend: 'Remove "when", or keep it as a note.',
      severity: 'warning',
      what: 'name',
    })
  if (from === '' || to === '') return undefined
  const edge: GraphEdge = { from, to, extra: unknownMembers(source, ['from', 'to']) }
  edge.extra = withShape(source, edge.extra, (extra) => edgeObject(edge, extra))
  return edge
}

function readNode(source: JsonObject, path: GraphPath, tell: Tell): GraphNode | undefined {
  const read = reader(source, path, tell)
  tellRules(source, path, tell)
  const id = read.name('id', Number.POSITIVE_INFINITY)
  const label = read.text('label', id, maxLabelLength)
  const reversible = read.flag('reversible')
  const approval = readApproval(source, path, tell)
  const retry = readRetry(read.object('retry'), [...path, 'retry'], tell)
  if (id === '') return undefined
  const node: GraphNode = {
    id,
    label,
    ...readWork(source, label, path, tell),
    ...(reversible === undefined ? {} : { reversible }),
    ...(approval ? { approval } : {}),
    ...readContained(source, path, tell),
    ...(retry ? { retry } : {}),
    // As they were written: what they say counts where the hints are silent (contained.ts).
    extra: {
      ...unknownMembers(source, nodeMembers),
      ...(isJsonObject(source.constraints) ? { constraints: source.constraints } : {}),
    },
  }
  node.extra = nodeExtra(source, node)
  return node
}

/** What each part of the node keeps for itself, then how the node as a whole was written. */
function nodeExtra(source: JsonObject, node: GraphNode): JsonObject {
  let extra = node.extra
  const { resource_hints: hints, hitl, retry, action, agent_config: agentConfig } = source
  if (isJsonObject(hints)) {
    const write = (inner: JsonObject) => hintsObject(node, inner, node.extra)
    extra = withInner(extra, 'resource_hints', withShape(hints, keptHints(hints), write))
  }
  const { approval } = node
  if (isJsonObject(hitl) && approval)
    extra = withInner(
      extra,
      'hitl',
      withShape(hitl, {}, (inner) => hitlObject(approval, inner)),
    )
  if (isJsonObject(retry) && node.retry) {
    const { retry: read } = node
    extra = withInner(
      extra,
      'retry',
      withShape(retry, {}, (inner) => retryObject(read, inner)),
    )
  }
  if (isJsonObject(action)) {
    const kept = withShape(action, {}, (inner) => actionObject(node, inner))
    // A task or a remote agent has a shorter form; that this one was written with `action` has to be kept too.
    const hasShorterForm = node.kind === 'task' || node.kind === 'agent'
    extra = hasShorterForm ? { ...extra, action: kept } : withInner(extra, 'action', kept)
  } else if (isJsonObject(agentConfig)) {
    const kept = withShape(agentConfig, {}, (inner) => agentConfigObject(node, inner))
    extra = withInner(extra, 'agent_config', kept)
  }
  return withShape(source, extra, (inner) => nodeObject(node, inner))
}

function readWork(
  source: JsonObject,
  label: string,
  path: GraphPath,
  tell: Tell,
): Pick<GraphNode, 'kind' | 'config'> {
  const read = reader(source, path, tell)
  const action = read.object('action')
  const agent = source.agent === undefined ? undefined : read.name('agent', 2_048)
  const agentConfig = read.object('agent_config')
  if (action && source.agent !== undefined)
    tell({
      path: [...path, 'agent'],
      code: 'action_and_agent',
      message: 'This node has both an "action" and an "agent"; it can do only one of the two.',
      mend: 'Remove one of them.',
      what: 'name',
    })
  if (agentConfig && (agent === undefined || agentConfig.agent !== undefined))
    tell({
      path: [...path, 'agent_config'],
      code: 'agent_config_alone',
      message: 'The SPIFFE id of the agent belongs into "agent"; "agent_config" only adds to it.',
      mend: 'Write the id into "agent", or remove "agent_config".',
      what: 'name',
    })
  if (action) {
    const kind = reader(action, [...path, 'action'], tell).name('type')
    return { kind: kind === '' ? 'task' : kind, config: without(action, 'type') }
  }
  if (agent === undefined) return { kind: 'task', config: {} }
  return { kind: 'agent', config: { agent, operation: label, ...without(agentConfig ?? {}, 'agent') } }
}

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([member]) => member !== name))
}

function readApproval(source: JsonObject, path: GraphPath, tell: Tell): ApprovalSpec | undefined {
  const read = reader(source, path, tell)
  const required = read.flag('hitl_required') ?? false
  const hitl = read.object('hitl')
  if (hitl && !required)
    tell({
      path: [...path, 'hitl'],
      code: 'hitl_not_required',
      message: 'This node says in "hitl" who decides, but not in "hitl_required" that anybody must.',
      mend: 'Add "hitl_required": true, or remove "hitl".',
      what: 'name',
    })
  if (!required) return undefined
  const inside = reader(hitl ?? {}, [...path, 'hitl'], tell)
  inside.onlyKnown(['role', 'reason', 'deadline_s', 'unreachable_human'])
  const deadlineS = inside.number('deadline_s')
  return {
    role: inside.text('role', defaultRole, maxNameLength),
    reason: inside.text('reason', defaultReason, 2_000),
    ...(deadlineS === undefined ? {} : { deadlineS }),
    onSilence: readSilence(hitl?.unreachable_human, [...path, 'hitl', 'unreachable_human'], tell),
  }
}

function readSilence(value: Json | undefined, path: GraphPath, tell: Tell): Silence {
  if (value === undefined) return 'hold'
  if (value === 'hold' || value === 'deny' || value === 'rollback' || value === 'continue') return value
  if (isJsonObject(value) && typeof value.escalate_to === 'string' && Object.keys(value).length === 1)
    return { escalateTo: value.escalate_to }
  tell({
    path,
    code: 'bad_silence',
    message: `"unreachable_human" is ${shown(value)}; "hold", "deny", "rollback", "continue" or {"escalate_to": "<role>"} was expected.`,
    mend: 'Choose one of these.',
  })
  return 'hold'
}

function readRetry(source: JsonObject | undefined, path: GraphPath, tell: Tell): Retry | undefined {
  if (!source) return undefined
  const read = reader(source, path, tell)
  read.onlyKnown(['max_attempts', 'base_ms', 'factor', 'max_ms', 'jitter'])
  const maxAttempts = read.number('max_attempts')
  if (source.max_attempts === undefined) read.missing('max_attempts', 'a number')
  return {
    maxAttempts: maxAttempts ?? 1,
    baseMs: read.number('base_ms') ?? retryDefaults.baseMs,
    factor: read.number('factor') ?? retryDefaults.factor,
    maxMs: read.number('max_ms') ?? retryDefaults.maxMs,
    jitter: read.number('jitter') ?? retryDefaults.jitter,
  }
}

function readPolicy(source: JsonObject | undefined, tell: Tell): Policy {
  if (!source) return { roots: [], privateTargets: [] }
  const read = reader(source, ['policy'], tell)
  read.onlyKnown(['roots', 'private_targets'])
  const roots = readList(read.list('roots'), ['policy', 'roots'], readRoot, tell)
  const privateTargets: string[] = []
  for (const [at, target] of read.list('private_targets').entries()) {
    if (typeof target === 'string' && target !== '') privateTargets.push(target)
    else
      tell({
        path: ['policy', 'private_targets', at],
        code: 'wrong_type',
        message: `A private target is ${shown(target)}; a host, host:port or network was expected.`,
        mend: 'Write it as text, such as "127.0.0.1:8080".',
      })
  }
  return { roots: roots.map(([root]) => root), privateTargets }
}

function readRoot(source: JsonObject, path: GraphPath, tell: Tell): Root {
  const read = reader(source, path, tell)
  read.onlyKnown(['path', 'access'])
  if (source.access === undefined) read.missing('access', '"read" or "write"')
  return { path: read.name('path', 4_096), access: read.choice('access', ['read', 'write'] as const, 'read') }
}

function readBudget(source: JsonObject | undefined, tell: Tell): Budget {
  if (!source) return {}
  const read = reader(source, ['budget'], tell)
  const words = {
    max_run_s: 'maxRunS',
    max_concurrent: 'maxConcurrent',
    max_tokens: 'maxTokens',
    max_checkpoints: 'maxCheckpoints',
  } as const
  read.onlyKnown(Object.keys(words))
  const budget: Budget = {}
  for (const [name, word] of Object.entries(words)) {
    const value = read.number(name)
    if (value !== undefined) budget[word] = value
  }
  return budget
}

/** Reads members of one object by type; what has the wrong type is told and read as absent. */
function reader(source: JsonObject, path: GraphPath, tell: Tell) {
  const wrong = (name: string, expected: string) => tell(wrongType([...path, name], source[name], expected))
  const missing = (name: string, expected: string) =>
    tell({
      path,
      code: 'missing',
      message: `${placeWords(path)} has no "${name}".`,
      mend: `Add "${name}": ${expected}.`,
    })
  /** The member when it is there and fits. */
  const take = <T extends Json>(name: string, fits: (value: Json) => value is T, expected: string) => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    if (value === undefined) return undefined
    if (fits(value)) return value
    wrong(name, expected)
    return undefined
  }
  const text = (name: string, otherwise: string, maxLength: number): string => {
    const value = take(name, isText, 'a text') ?? otherwise
    if (value.length <= maxLength) return value
    tell({
      path: [...path, name],
      code: 'text_too_long',
      message: `"${name}" has ${value.length.toLocaleString('en-US')} characters; at most ${maxLength.toLocaleString('en-US')} are accepted.`,
      mend: 'Shorten it.',
    })
    return otherwise
  }
  return {
    missing,
    text,
    /** A text that must be there and not empty; empty or `otherwise` when it is not. */
    name(name: string, maxLength = maxNameLength, otherwise = ''): string {
      if (!Object.hasOwn(source, name)) missing(name, 'a text')
      else if (source[name] === '') wrong(name, 'a text that is not empty')
      return text(name, otherwise, maxLength) || otherwise
    },
    flag: (name: string) => take(name, isFlag, 'true or false'),
    number: (name: string) => take(name, isNumber, 'a number'),
    object: (name: string) => take(name, isJsonObject, 'an object'),
    list(name: string, required = false): Json[] {
      if (required && !Object.hasOwn(source, name)) missing(name, 'a list')
      return take(name, isList, 'a list') ?? []
    },
    choice<const T extends string>(name: string, choices: readonly T[], otherwise: NoInfer<T>): T {
      const fits = (value: Json): value is T => choices.includes(value as T)
      return take(name, fits, `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`) ?? otherwise
    },
    /** Members of Holdpoint's own extensions must be spelled right: a typo in a policy would pass in silence. */
    onlyKnown(known: readonly string[]): void {
      for (const name of Object.keys(source)) {
        if (known.includes(name)) continue
        tell({
          path: [...path, name],
          code: 'unknown_member',
          message: `${placeWords(path)} has no member ${quoted(name)}; it knows ${known.join(', ')}.`,
          mend: 'Remove it, or correct its spelling.',
          what: 'name',
        })
      }
    },
  }
}

const isText = (value: Json): value is string => typeof value === 'string'
const isFlag = (value: Json): value is boolean => typeof value === 'boolean'
const isNumber = (value: Json): value is number => typeof value === 'number'
const isList = (value: Json): value is Json[] => Array.isArray(value)

function placeWords(path: GraphPath): string {
  const [first, at, part] = path
  const of = part === undefined ? '' : `"${part}" of `
  if (first === 'nodes' && typeof at === 'number') return `${of}node ${at + 1}`.replace(/^n/, 'N')
  if (first === 'edges' && typeof at === 'number') return `Edge ${at + 1}`
  return first === undefined ? 'The descriptor' : `"${path.join('.')}"`
}
