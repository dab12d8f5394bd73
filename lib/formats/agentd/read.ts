/*
 * Document → graph. Every section is checked by its shape and read as far as it fits; what could not be read is told
 * and left out, so that the checks of the whole graph can still speak of the rest.
 *
 * What the graph has words for becomes graph; what it has none for stays in `extra` under its own name (triggers,
 * http_routes, auth, server, logging, signing, mcp_servers). How it was written stays there too, under names that no
 * section can have:
 *
 *   $workflows        the workflow stood in [[workflows]]; the names of the sections that stood beside it
 *   $implied_entries  starts without an entry_node, which land on the only root
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { maxEdges, maxNodes } from '@/lib/workflow/checks'
import type { GraphEdge, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { readContainment } from '../contained'
import type { Tell } from '../tell'
import { readBackends } from './read-backends'
import { readBudget } from './read-budget'
import { filled, named, readEntries, tellUnknowns } from './read-entries'
import { readNode } from './read-node'
import { readPolicy } from './read-policy'
import { readSecrets } from './read-secrets'
import { readRoute, readTrigger } from './read-serving'
import { enter, readStarts } from './read-starts'
import { fits } from './refusals'
import * as shapes from './shapes'

const ownMembers = [
  'name',
  'description',
  'containment',
  'start_nodes',
  'triggers',
  'http_routes',
  'nodes',
  'edges',
] as const
/** Sections of the agent, which may stand beside [[workflows]]: what only a person's configuration may say. */
export const agentSections = [
  'intelligence',
  'secrets',
  'mcp_servers',
  'budget',
  'auth',
  'server',
  'policy',
  'logging',
  'signing',
] as const
type SectionName = (typeof ownMembers)[number] | (typeof agentSections)[number]

export interface ReadDocument {
  graph: WorkflowGraph
  /** Of the text, where it has one. */
  filename?: string
  /** The path of a section in the text. */
  section(name: string): GraphPath
  /** Where the graph's nodes, edges and starts stand in their lists of the text. */
  nodeAt: number[]
  edgeAt: number[]
  startAt: number[]
  /** Sections as written, as far as they fit. */
  triggers: JsonObject[]
  routes: JsonObject[]
  auth: JsonObject
  server: JsonObject
  mcpServers: JsonObject[]
  /** What checks need of the text itself. */
  written: {
    starts: string[]
    triggerAt: number[]
    routeAt: number[]
    serverAt: number[]
    /** Names of declared secrets, those among them that cannot be read. */
    secrets: string[]
    policy?: JsonObject
  }
}

/** Reads a document into a graph, telling every fault. Returns nothing when it is not clear which workflow is meant. */
export function readDocument(document: JsonObject, tell: Tell, filename?: string): ReadDocument | undefined {
  const sections = sectionsOf(document, tell)
  if (!sections || isTooMuch(sections, tell)) return undefined
  const { member, section, beside } = sections
  const policy = member('policy')
  const starts = readStarts(member('start_nodes'), section('start_nodes'), tell)
  const nodes = readEntries(member('nodes'), section('nodes'), tell, readNode)
  const edges = readEntries(member('edges'), section('edges'), tell, readEdge)
  const triggers = readEntries(member('triggers'), section('triggers'), tell, readTrigger)
  const routes = readEntries(member('http_routes'), section('http_routes'), tell, readRoute)
  const mcpServers = readMcpServers(member('mcp_servers'), section('mcp_servers'), tell)
  const backends = readBackends(member('intelligence'), section('intelligence'), tell)
  const secrets = readSecrets(member('secrets'), section('secrets'), tell)
  const budget = readBudget(member('budget'), section('budget'), tell)
  const contained = readContainment(member('containment'), section('containment'), tell)
  const auth = readTable(member('auth'), shapes.auth, section('auth'), tell)
  const server = readTable(member('server'), shapes.server, section('server'), tell)
  const logging = readTable(member('logging'), shapes.logging, section('logging'), tell)
  const signing = readTable(member('signing'), shapes.signing, section('signing'), tell)
  const head = headOf(member('name'), member('description'), section, tell)
  const graph: WorkflowGraph = {
    ...head,
    format: 'agentd',
    order: 'stepwise',
    vocabulary: 'atd',
    nodes: nodes.map(([node]) => node),
    edges: edges.map(([edge]) => edge),
    starts: [],
    artifacts: [],
    budget: budget.budget,
    policy: readPolicy(policy, section('policy'), tell),
    rules: [],
    ...(contained ? { containment: contained } : {}),
    ...(backends.backends.length > 0 ? { backends: backends.backends } : {}),
    ...(secrets.secrets.length > 0 ? { secrets: secrets.secrets } : {}),
    extra: {
      ...listExtra('triggers', member('triggers'), triggers),
      ...listExtra('http_routes', member('http_routes'), routes),
      ...listExtra('mcp_servers', member('mcp_servers'), mcpServers),
      ...(auth ? { auth } : {}),
      ...(server ? { server } : {}),
      ...(logging ? { logging } : {}),
      ...(signing ? { signing } : {}),
      ...filled('budget', budget.extra),
      ...filled('backends', backends.extra),
      ...filled('secrets', secrets.extra),
      ...(beside ? { $workflows: beside } : {}),
    },
  }
  const entered = enter(starts, graph, section('start_nodes'), tell)
  graph.starts = entered.starts
  if (entered.implied.length > 0) graph.extra.$implied_entries = entered.implied
  return {
    graph,
    ...(filename ? { filename } : {}),
    section,
    nodeAt: nodes.map(([, at]) => at),
    edgeAt: edges.map(([, at]) => at),
    startAt: entered.at,
    triggers: triggers.map(([trigger]) => trigger),
    routes: routes.map(([route]) => route),
    auth: tableOr(member('auth')),
    server: tableOr(member('server')),
    mcpServers: mcpServers.map(([entry]) => entry),
    written: {
      starts: starts.map(([{ name }]) => name),
      triggerAt: triggers.map(([, at]) => at),
      routeAt: routes.map(([, at]) => at),
      serverAt: mcpServers.map(([, at]) => at),
      secrets: secrets.names,
      ...(isJsonObject(policy) ? { policy } : {}),
    },
  }
}

/** Entries of a list other than nodes and edges. */
const maxEntries = 1_000

/** Lists beyond the bounds are told as such and not looked into. */
function isTooMuch({ member, section }: Sections, tell: Tell): boolean {
  let tooMuch = false
  for (const name of [...ownMembers, ...agentSections]) {
    const list = member(name)
    const most = name === 'nodes' ? maxNodes : name === 'edges' ? maxEdges : maxEntries
    if (!Array.isArray(list) || list.length <= most) continue
    tooMuch = true
    tell({
      path: section(name),
      code: `too_many_${name}`,
      message: `The workflow has ${list.length.toLocaleString('en-US')} ${name}; at most ${most.toLocaleString('en-US')} are accepted.`,
      mend: 'Split the workflow into smaller ones.',
    })
  }
  return tooMuch
}

interface Sections {
  member(name: SectionName): Json | undefined
  section(name: string): GraphPath
  beside?: string[]
}

/** Where each section stands: at the top, or in the one entry of [[workflows]] with the agent's own beside it. */
function sectionsOf(document: JsonObject, tell: Tell): Sections | undefined {
  const agents: readonly string[] = agentSections
  const all = [...ownMembers, ...agents]
  const { workflows } = document
  if (workflows === undefined) {
    tellUnknowns(document, all, [], tell)
    return { member: (name) => document[name], section: (name) => [name] }
  }
  const entry = Array.isArray(workflows) ? workflows[0] : workflows
  const count = Array.isArray(workflows) ? workflows.length : 1
  if (count !== 1 || !isJsonObject(entry)) {
    tell({
      path: ['workflows', ...(count > 1 ? [1] : [])],
      code: 'workflows_count',
      message: `A file holds exactly one [[workflows]] entry, and ${count === 1 ? 'this is none' : `${count} were found`}.`,
      mend: 'Write each workflow into a file of its own.',
    })
    return undefined
  }
  const inside: GraphPath = ['workflows', 0]
  tellUnknowns(document, ['workflows', ...agents], [], tell)
  tellUnknowns(entry, all, inside, tell)
  for (const name of agents.filter(
    (section) => entry[section] !== undefined && document[section] !== undefined,
  ))
    tell({
      path: [name],
      what: 'name',
      code: 'section_twice',
      message: `The section ${quoted(name)} stands both inside [[workflows]] and beside it; only one can count.`,
      mend: 'Keep one of the two.',
    })
  const beside = agents.filter((name) => document[name] !== undefined && entry[name] === undefined)
  return {
    member: (name) => (beside.includes(name) ? document[name] : entry[name]),
    section: (name) => (beside.includes(name) ? [name] : [...inside, name]),
    beside,
  }
}

function headOf(
  name: Json | undefined,
  description: Json | undefined,
  section: (name: string) => GraphPath,
  tell: Tell,
): { name: string; description: string } {
  const head = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  }
  fits(shapes.workflowHead, head, section('name').slice(0, -1), tell)
  return {
    name: typeof name === 'string' && name !== '' ? name.slice(0, 200) : 'untitled',
    description: typeof description === 'string' ? description : '',
  }
}

/** MCP servers as written, each with its place in the list. */
export function readMcpServers(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): [JsonObject, number][] {
  return readEntries(source, path, tell, named(shapes.mcpServer))
}

function readTable(
  table: Json | undefined,
  schema: Parameters<typeof fits>[0],
  path: GraphPath,
  tell: Tell,
): JsonObject | undefined {
  if (table === undefined || !fits(schema, table, path, tell)) return undefined
  return table as JsonObject
}

function tableOr(table: Json | undefined): JsonObject {
  return isJsonObject(table) ? table : {}
}

function listExtra(name: string, list: Json | undefined, read: [JsonObject, number][]): JsonObject {
  return Array.isArray(list) ? { [name]: read.map(([entry]) => entry) } : {}
}

/** An edge with a fault of its own still leads where it leads, so that nothing is told of its ends. */
function readEdge(entry: JsonObject, path: GraphPath, tell: Tell): GraphEdge | undefined {
  fits(shapes.edge, entry, path, tell)
  const { from, to, when, max_iterations } = entry
  if (typeof from !== 'string' || typeof to !== 'string') return undefined
  return {
    from,
    to,
    ...(typeof when === 'string' ? { when } : {}),
    // What is no bound was told, and the edge is a loop all the same.
    ...(max_iterations === undefined ? {} : { maxIterations: wholeOr(max_iterations, 1) }),
    extra: {},
  }
}

function wholeOr(value: Json, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : otherwise
}
