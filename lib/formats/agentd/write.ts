/*
 * Graph → document, in the order an author would write it: what the workflow is, what it may use and do, where it
 * begins, and then its nodes and edges. What agentd has no words for is refused with all reasons at once, never
 * dropped: a text that reads back as less than the graph would be a lie.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { maxRetryDelayMs } from '@/lib/workflow/checks'
import type { GraphEdge, GraphNode, Policy, Retry, WorkflowGraph } from '@/lib/workflow/graph'
import { quoted } from '@/lib/workflow/graph-problem'
import { containedMembers, containedObject, containmentObject } from '../contained'
import { fieldsOf } from './fields'
import { agentSections } from './read'
import { budgetWords, bytesPerMb } from './read-budget'
import { approvalOf } from './read-node'
import { defaultQuery } from './read-policy'
import { rootsOf } from './read-starts'

const maxReasonsTold = 5
/** What `extra` may hold, all of it known to `read.ts`. */
const knownExtra: readonly string[] = [
  'triggers',
  'http_routes',
  'mcp_servers',
  'auth',
  'server',
  'logging',
  'signing',
  'budget',
  'backends',
  'secrets',
  '$workflows',
  '$implied_entries',
]

/** The document of a graph. Throws Problem `workflow_invalid` for a graph that agentd has no words for, with the reasons. */
export function documentOf(graph: WorkflowGraph): JsonObject {
  if (graph.format !== 'agentd')
    throw new Problem(
      'workflow_invalid',
      `"${graph.name}" came as ${graph.format}, and agentd runs one node at a time; it cannot be written as an agentd workflow.`,
    )
  const reasons = unsayable(graph)
  if (reasons.length > 0)
    throw new Problem(
      'workflow_invalid',
      `"${graph.name}" cannot be written as an agentd workflow: ${reasons.slice(0, maxReasonsTold).join('; ')}${reasons.length > maxReasonsTold ? `; and ${reasons.length - maxReasonsTold} more` : ''}.`,
      { reasons: reasons.slice(0, 100) },
    )
  return arranged(graph, membersOf(graph))
}

function membersOf(graph: WorkflowGraph): JsonObject {
  const { extra } = graph
  return without({
    name: graph.name,
    description: graph.description === '' ? undefined : graph.description,
    intelligence: intelligenceOf(graph),
    secrets: secretsOf(graph),
    mcp_servers: extra.mcp_servers,
    budget: budgetOf(graph),
    containment: graph.containment && containmentObject(graph.containment),
    auth: extra.auth,
    server: extra.server,
    policy: policyOf(graph.policy),
    logging: extra.logging,
    signing: extra.signing,
    start_nodes: startsOf(graph),
    triggers: extra.triggers,
    http_routes: extra.http_routes,
    nodes: graph.nodes.map(nodeOf),
    edges: graph.edges.map(edgeOf),
  })
}

/** At the top level, or in [[workflows]] with the sections beside it that stood there. */
function arranged({ extra }: WorkflowGraph, members: JsonObject): JsonObject {
  const { $workflows: beside } = extra
  if (!Array.isArray(beside)) return members
  const isBeside = (name: string) =>
    (agentSections as readonly string[]).includes(name) && beside.includes(name)
  const pick = (want: boolean) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => isBeside(name) === want))
  return { ...pick(true), workflows: [pick(false)] }
}

function nodeOf(node: GraphNode): JsonObject {
  return without({
    id: node.id,
    type: node.kind,
    ...node.config,
    reversible: node.reversible,
    ...containedObject(node),
    retry: node.retry && retryOf(node.retry, node.extra.retry),
  })
}

function retryOf(retry: Retry, kept: Json | undefined): JsonObject {
  const { on, jitter } = isJsonObject(kept) ? kept : {}
  return without({
    max_attempts: retry.maxAttempts,
    backoff_ms: retry.baseMs,
    on,
    jitter: jitter ?? (retry.jitter === 0 ? undefined : retry.jitter),
  })
}

function edgeOf(edge: GraphEdge): JsonObject {
  return without({ from: edge.from, to: edge.to, when: edge.when, max_iterations: edge.maxIterations })
}

function startsOf(graph: WorkflowGraph): JsonObject[] | undefined {
  if (graph.starts.length === 0) return undefined
  const implied = Array.isArray(graph.extra.$implied_entries) ? graph.extra.$implied_entries : []
  const [root, ...others] = rootsOf(graph)
  return graph.starts.map(({ name, node, source }) =>
    without({
      name,
      source: source ?? 'manual',
      entry_node: implied.includes(name) && node === root && others.length === 0 ? undefined : node,
    }),
  )
}

function budgetOf({ budget, extra }: WorkflowGraph): JsonObject | undefined {
  const kept = isJsonObject(extra.budget) ? extra.budget : {}
  const written: JsonObject = {}
  for (const [name, word] of Object.entries(budgetWords)) {
    const value = budget[word] ?? kept[name]
    if (value !== undefined) written[name] = value
  }
  const megabytes =
    budget.maxWriteBytes === undefined ? kept.max_fs_write_mb : budget.maxWriteBytes / bytesPerMb
  if (megabytes !== undefined) written.max_fs_write_mb = megabytes
  return Object.keys(written).length > 0 ? written : undefined
}

function intelligenceOf({ backends, extra }: WorkflowGraph): JsonObject | undefined {
  if (!backends || backends.length === 0) return undefined
  const kept = isJsonObject(extra.backends) ? extra.backends : {}
  return {
    backends: backends.map((backend) =>
      without({
        name: backend.name,
        provider: backend.provider,
        model: backend.model,
        api_key_env: backend.apiKeyEnv,
        base_url: backend.baseUrl,
        path: backend.path,
        ...tableOf(kept[backend.name]),
      }),
    ),
  }
}

function secretsOf({ secrets = [], extra }: WorkflowGraph): JsonObject[] | undefined {
  const kept = isJsonObject(extra.secrets) ? extra.secrets : {}
  const served = new Set(secrets.map(({ name }) => name))
  const written = secrets.map(
    ({ name, from }): JsonObject =>
      'env' in from
        ? { name, source: 'env', var: from.env }
        : { name, source: 'file', path: from.file, ...tableOf(kept[name]) },
  )
  const others = Object.entries(kept).flatMap(([name, entry]) =>
    served.has(name) || !isJsonObject(entry) ? [] : [entry],
  )
  return written.length + others.length > 0 ? [...written, ...others] : undefined
}

function tableOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function policyOf({ allow, rego }: Policy): JsonObject | undefined {
  if (!allow) return undefined
  const { fs, env, http, shell, mcp } = allow
  const isListRead =
    fs.list.length === fs.read.length && fs.list.every((pattern, at) => pattern === fs.read[at])
  const table = (members: Record<string, string[]>): JsonObject | undefined => {
    const filled = Object.entries(members).filter(([, list]) => list.length > 0)
    return filled.length > 0 ? Object.fromEntries(filled) : undefined
  }
  return without({
    fs: table({ read: fs.read, write: fs.write, delete: fs.delete, list: isListRead ? [] : fs.list }),
    env: table({ read_keys: env.readKeys }),
    http: table({ urls: http.urls, methods: http.methods }),
    shell: table({ commands: shell.commands }),
    mcp: table({ servers: mcp.servers, tools: mcp.tools, resources: mcp.resources }),
    rego:
      rego &&
      without({
        file: rego.file,
        inline: rego.file === undefined ? rego.text : undefined,
        query: rego.query === defaultQuery ? undefined : rego.query,
        data: Object.keys(rego.data).length > 0 ? rego.data : undefined,
      }),
  })
}

/** Without the members that are not there. */
function without(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}

/** Everything in a graph that agentd has no words for. */
function unsayable(graph: WorkflowGraph): string[] {
  const { budget, policy } = graph
  const reasons = [
    graph.order !== 'stepwise' && 'its nodes run side by side',
    graph.vocabulary !== 'atd' && 'it asks for another vocabulary of tokens',
    graph.input !== undefined && 'it says what its input looks like',
    graph.artifacts.length > 0 && 'it declares artifacts',
    graph.rules.length > 0 && 'it has rules that ask a person',
    policy.roots.length > 0 && 'its policy names folders as roots',
    policy.privateTargets.length > 0 && 'its policy names private targets',
    policy.rego && !policy.allow && 'its Rego policy stands without an allowlist',
    policy.allow &&
      policy.allow.fs.list.length === 0 &&
      policy.allow.fs.read.length > 0 &&
      'its policy lets files be read and not listed',
    budget.maxConcurrent !== undefined && 'its budget bounds concurrent steps',
    budget.maxTokens !== undefined && 'its budget bounds tokens of the ledger',
    budget.maxCheckpoints !== undefined && 'its budget bounds checkpoints',
    (budget.maxWriteBytes ?? 0) % bytesPerMb !== 0 && 'its budget for files is no whole number of MiB',
    ...Object.keys(graph.extra)
      .filter((name) => !knownExtra.includes(name))
      .map((name) => `agentd has no section ${quoted(name)}`),
    ...graph.nodes.flatMap(unsayableOfNode),
    ...graph.edges.map(
      (edge) =>
        Object.keys(edge.extra).length > 0 && `the edge ${quoted(edge.from)} → ${quoted(edge.to)} has notes`,
    ),
  ]
  return reasons.filter((reason) => typeof reason === 'string')
}

function unsayableOfNode(node: GraphNode): (string | false | undefined)[] {
  const words = `node ${quoted(node.id)}`
  const known = fieldsOf(node.kind)
  if (!known) return [`${words} is of the kind ${quoted(node.kind)}`]
  const takes = [...known.required, ...known.optional]
  const expected = approvalOf(node.kind, node.config).approval
  return [
    ...Object.keys(node.config)
      .filter((name) => !takes.includes(name))
      .map((name) => `${words} has ${quoted(name)}`),
    node.label !== node.id && `${words} has a label of its own`,
    node.maxVisits !== undefined && `${words} bounds its visits`,
    node.approval !== undefined && !isSame(node.approval, expected) && `${words} says who must approve it`,
    node.retry && !isLinear(node.retry) && `${words} waits ever longer between attempts`,
    ...Object.keys(node.extra)
      .filter((name) => name !== 'retry' && !(containedMembers as readonly string[]).includes(name))
      .map((name) => `${words} has the note ${quoted(name)}`),
  ]
}

function isLinear(retry: Retry): boolean {
  return retry.linear === true && retry.factor === 1 && retry.maxMs === maxRetryDelayMs && retry.jitter <= 0.5
}

function isSame(one: GraphNode['approval'], other: GraphNode['approval']): boolean {
  return (
    one?.role === other?.role &&
    one?.reason === other?.reason &&
    one?.onSilence === other?.onSilence &&
    one?.deadlineS === other?.deadlineS
  )
}
