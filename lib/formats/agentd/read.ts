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
import { maxEdges, maxNodes, maxRetryDelayMs } from '@/lib/workflow/checks'
import type {
  Allowlist,
  Backend,
  Budget,
  GraphEdge,
  GraphNode,
  Policy,
  Retry,
  SecretSource,
  Start,
  WorkflowGraph,
} from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import { keptContained, readContained, readContainment } from '../contained'
import type { Fault } from '../fault'
import { commonFields, fieldsOf, nodeTypes } from './fields'
import { fits, maxNamesTold, nearestField, placeWords, tellMissing, tellUnknown } from './refusals'
import * as shapes from './shapes'
import type { Tell } from './toml-source'

export const defaultQuery = 'data.agent.allow'
export const defaultBackoffMs = 100
export const bytesPerMb = 1_048_576
/** What a person is asked when the author gave no reason. */
export const defaultReason = 'The workflow asks for a person here.'

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
/** Sections of the agent, which may stand beside [[workflows]]. */
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

/** Tells the first of the members that are not known; a table with more of them is another kind of table. */
function tellUnknowns(table: JsonObject, known: readonly string[], path: GraphPath, tell: Tell): void {
  const unknown = Object.keys(table).filter((name) => !known.includes(name))
  for (const name of unknown.slice(0, maxNamesTold)) tellUnknown(name, path, known, tell)
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

type ReadEntry<T> = (entry: JsonObject, path: GraphPath, tell: Tell) => T | undefined

/** The entries of a list of tables that could be read, each with its place in the list. */
function readEntries<T>(
  list: Json | undefined,
  path: GraphPath,
  tell: Tell,
  read: ReadEntry<T>,
): [T, number][] {
  if (list === undefined) return []
  if (!Array.isArray(list)) {
    tell({
      path,
      code: 'bad_value',
      message: `${placeWords(path)} is not a list of tables.`,
      mend: `Write each entry under [[${String(path.at(-1))}]], in double brackets.`,
    })
    return []
  }
  const found: [T, number][] = []
  for (const [at, entry] of list.entries()) {
    const place = [...path, at]
    if (!isJsonObject(entry)) {
      tell({
        path: place,
        code: 'bad_value',
        message: `${placeWords(place)} is not a table.`,
        mend: `Write it under [[${String(path.at(-1))}]].`,
      })
      continue
    }
    const one = read(entry, place, tell)
    if (one !== undefined) found.push([one, at])
  }
  return found
}

/** MCP servers as written, each with its place in the list. */
export function readMcpServers(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): [JsonObject, number][] {
  return readEntries(source, path, tell, named(shapes.mcpServer))
}

/** Entries that others refer to by name: with a fault of their own they are there all the same. */
function named(schema: Parameters<typeof fits>[0]): ReadEntry<JsonObject> {
  return (entry, path, tell) =>
    fits(schema, entry, path, tell) || typeof entry.name === 'string' ? entry : undefined
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

function filled(name: string, extra: JsonObject): JsonObject {
  return Object.keys(extra).length > 0 ? { [name]: extra } : {}
}

function readNode(entry: JsonObject, path: GraphPath, tell: Tell): GraphNode | undefined {
  const { id, type, retry, reversible } = entry
  const hasId = textMember('id', id, path, tell)
  const hasType = textMember('type', type, path, tell)
  if (reversible !== undefined && typeof reversible !== 'boolean')
    tell({
      path: [...path, 'reversible'],
      code: 'bad_value',
      message: `${placeWords([...path, 'reversible'])} is not true or false.`,
      mend: 'Write true or false.',
    })
  const known = hasType ? fieldsOf(String(type)) : undefined
  if (hasType && !known && !tell.isFull()) {
    const nearest = nearestName(String(type), nodeTypes)
    tell({
      path: [...path, 'type'],
      code: 'unknown_type',
      message: `${nodeWords(entry, path)} has the type ${quoted(String(type))}, which agentd does not have${nearest ? `; did you mean ${nearest}?` : '.'}`,
      mend: `Types: ${nodeTypes.join(', ')}.`,
    })
  }
  const config = known ? ownConfig(entry, known, path, tell) : {}
  // A node without a type stays, so that what leads to it is not told as well.
  if (!hasId) return undefined
  const read = retry === undefined ? undefined : readRetry(retry, [...path, 'retry'], tell)
  const contained = withWholeNames(entry, path, tell)
  return {
    id: String(id),
    label: String(id),
    kind: hasType ? String(type) : '',
    config,
    ...(typeof reversible === 'boolean' ? { reversible } : {}),
    ...approvalOf(hasType ? String(type) : '', config),
    ...readContained(contained, path, spelledIn(entry, path, tell)),
    ...(read ? { retry: read.retry } : {}),
    extra: { ...(read ? filled('retry', read.extra) : {}), ...keptContained(contained) },
  }
}

/** Names of constraints begin so; in TOML, where they stand without quotation marks, the dot makes a table of that. */
const constraintSpaces = ['atd', 'hp']

/** The node with its constraints under their whole names, in whichever of the two ways they were written. */
function withWholeNames(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  const { constraints } = entry
  if (!isJsonObject(constraints)) return entry
  const whole = Object.entries(constraints).flatMap(([name, value]): [string, Json][] =>
    constraintSpaces.includes(name) && isJsonObject(value)
      ? Object.entries(value).map(([inside, one]) => [`${name}.${inside}`, one])
      : [[name, value]],
  )
  const names = whole.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    tell({
      path: [...path, 'constraints', twice],
      what: 'name',
      code: 'constraint_twice',
      message: `The constraint ${quoted(twice)} stands here with quotation marks and without; only one can count.`,
      mend: 'Keep one of the two.',
    })
  return { ...entry, constraints: Object.fromEntries(whole) }
}

/** Tells a fault of a constraint where it was written: under its whole name, or in the table its dot made. */
function spelledIn({ constraints }: JsonObject, path: GraphPath, tell: Tell): (fault: Fault) => void {
  return (fault) => {
    const name = String(fault.path.at(-1))
    const [space = '', ...inside] = name.split('.')
    const isTable = fault.path.at(-2) === 'constraints' && isJsonObject(constraints)
    const isDotted = isTable && !Object.hasOwn(constraints, name) && Object.hasOwn(constraints, space)
    tell(isDotted ? { ...fault, path: [...path, 'constraints', space, inside.join('.')] } : fault)
  }
}

/** What a person decides at a node that waits for one, as its config says. */
export function approvalOf(type: string, config: JsonObject): Pick<GraphNode, 'approval'> {
  if (type !== 'pause_for_approval') return {}
  const reason = typeof config.reason === 'string' ? config.reason : defaultReason
  return { approval: { role: 'operator', reason, onSilence: 'hold' } }
}

/** The fields of the type, as written; unknown and missing ones are told. */
function ownConfig(
  entry: JsonObject,
  known: { required: readonly string[]; optional: readonly string[] },
  path: GraphPath,
  tell: Tell,
): JsonObject {
  const common: readonly string[] = commonFields
  const takes = [...known.required, ...known.optional]
  const own = Object.entries(entry).filter(([name]) => !common.includes(name))
  const config = Object.fromEntries(own.filter(([name]) => takes.includes(name)))
  const unknown = own.filter(([name]) => !takes.includes(name))
  for (const [name] of unknown.slice(0, maxNamesTold))
    tellUnknownField(name, entry, [...takes, ...common], path, tell)
  for (const name of known.required)
    if (entry[name] === undefined)
      tell({
        path,
        code: 'missing',
        message: `${nodeWords(entry, path)} is of the type ${String(entry.type)} and has no ${quoted(name)}.`,
        mend: `Add ${quoted(name)}.`,
      })
  return config
}

function tellUnknownField(
  name: string,
  entry: JsonObject,
  known: readonly string[],
  path: GraphPath,
  tell: Tell,
): void {
  if (tell.isFull()) return
  const nearest = nearestField(name, known)
  tell({
    path: [...path, name],
    what: 'name',
    code: 'unknown_field',
    message: `${nodeWords(entry, path)} is of the type ${String(entry.type)}, which has no field ${quoted(name)}; it takes ${known.join(', ')}.`,
    mend: nearest ? `Did you mean ${quoted(nearest)}?` : 'Remove it, or correct its spelling.',
  })
}

function nodeWords(entry: JsonObject, path: GraphPath): string {
  return typeof entry.id === 'string' ? `Node ${quoted(entry.id)}` : placeWords(path)
}

function textMember(name: string, value: Json | undefined, path: GraphPath, tell: Tell): boolean {
  if (value === undefined) tellMissing(name, path, tell)
  else if (typeof value !== 'string' || value === '')
    tell({
      path: [...path, name],
      code: 'bad_value',
      message: `${placeWords([...path, name])} is not a text with something in it.`,
      mend: 'Write a name in quotation marks.',
    })
  return typeof value === 'string' && value !== ''
}

/*
 * Attempt n waits n × backoff_ms. What is retried at all is the same for "any" and "transient" in effect: refusals by
 * policy, schema, timeout and structure never are. So `on` is only kept. A jitter above one half counts as one half.
 */
function readRetry(
  source: Json,
  path: GraphPath,
  tell: Tell,
): { retry: Retry; extra: JsonObject } | undefined {
  if (!fits(shapes.retry, source, path, tell)) return undefined
  const { max_attempts, backoff_ms, on, jitter } = source as {
    max_attempts: number
    backoff_ms?: number
    on?: string
    jitter?: number
  }
  const retry: Retry = {
    maxAttempts: max_attempts,
    baseMs: backoff_ms ?? defaultBackoffMs,
    factor: 1,
    maxMs: maxRetryDelayMs,
    jitter: Math.min(jitter ?? 0, maxJitter),
    linear: true,
  }
  return {
    retry,
    extra: {
      ...(on === undefined ? {} : { on }),
      ...(jitter !== undefined && jitter > maxJitter ? { jitter } : {}),
    },
  }
}

export const maxJitter = 0.5

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

interface WrittenStart {
  name: string
  source: NonNullable<Start['source']>
  entry?: string
}

function readStarts(list: Json | undefined, path: GraphPath, tell: Tell): [WrittenStart, number][] {
  const names = new Set<string>()
  return readEntries(list, path, tell, (entry, place) => {
    const isWhole = fits(shapes.startNode, entry, place, tell)
    const { name, source, entry_node: node } = entry
    if (typeof name !== 'string') return undefined
    if (names.has(name))
      tell({
        path: [...place, 'name'],
        code: 'duplicate_start',
        message: `The start ${quoted(name)} is declared twice; a trigger would not know which one is meant.`,
        mend: 'Give each start a name of its own.',
      })
    names.add(name)
    return {
      name,
      source: isWhole ? (source as WrittenStart['source']) : 'manual',
      ...(typeof node === 'string' ? { entry: node } : {}),
    }
  })
}

/** Each start with the node it lands on: the one it names, or else the only node that no edge leads to. */
function enter(
  written: [WrittenStart, number][],
  graph: WorkflowGraph,
  path: GraphPath,
  tell: Tell,
): { starts: Start[]; at: number[]; implied: string[] } {
  const result: ReturnType<typeof enter> = { starts: [], at: [], implied: [] }
  const roots = rootsOf(graph)
  for (const [{ name, source, entry }, at] of written) {
    const node = entry ?? (roots.length === 1 ? roots[0] : undefined)
    if (node === undefined) {
      const found = roots.length === 0 ? 'no node' : roots.slice(0, 5).map(quoted).join(', ')
      tell({
        path: [...path, at],
        code: 'ambiguous_start',
        message: `Start ${quoted(name)} names no "entry_node", and the workflow has ${roots.length === 0 ? 'none' : 'several'} to begin with: ${found} ${roots.length === 0 ? 'is' : 'are'} without an edge that leads there.`,
        mend: 'Add "entry_node" with the id of the node it begins at.',
      })
      continue
    }
    result.starts.push({ name, node, source })
    result.at.push(at)
    if (entry === undefined) result.implied.push(name)
  }
  return result
}

/** Nodes that no edge leads to. */
export function rootsOf(graph: Pick<WorkflowGraph, 'nodes' | 'edges'>): string[] {
  const reached = new Set(graph.edges.map((edge) => edge.to))
  return graph.nodes.map((node) => node.id).filter((id) => !reached.has(id))
}

/** A trigger with a fault of its own is kept, so that its other members are still checked against the file. */
function readTrigger(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  const { type } = entry
  const types = Object.keys(shapes.triggerShapes)
  if (typeof type === 'string' && Object.hasOwn(shapes.triggerShapes, type)) {
    const shape = shapes.triggerShapes[type as keyof typeof shapes.triggerShapes]
    fits(shape, entry, path, tell)
    return entry
  }
  const nearest = typeof type === 'string' ? nearestName(type, types) : undefined
  tell({
    path: type === undefined ? path : [...path, 'type'],
    code: type === undefined ? 'missing' : 'unknown_type',
    message:
      type === undefined
        ? `${placeWords(path)} has no "type".`
        : `${placeWords(path)} has a type that agentd does not have${nearest ? `; did you mean ${nearest}?` : '.'}`,
    mend: `Types: ${types.join(', ')}.`,
  })
  return entry
}

/** As with triggers: what is faulty was told, and the rest is checked all the same. */
function readRoute(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  fits(shapes.httpRoute, entry, path, tell)
  const limit = entry.rate_limit
  const written = Array.isArray(limit) ? limit : limit === undefined ? [] : [limit]
  if (written.length > 1)
    tell({
      path: [...path, 'rate_limit', 1],
      code: 'rate_limit_twice',
      message: `${placeWords(path)} has ${written.length} rate limits; a route has at most one.`,
      mend: 'Keep one of them.',
    })
  for (const [at, one] of written.entries())
    if (isJsonObject(one))
      readRateLimit(one, [...path, 'rate_limit', ...(Array.isArray(limit) ? [at] : [])], tell)
  return entry
}

function readRateLimit(limit: JsonObject, path: GraphPath, tell: Tell): void {
  fits(shapes.rateLimit, limit, path, tell)
  const given = ['per_second', 'refill_per_sec'].filter((name) => limit[name] !== undefined)
  if (given.length === 1) return
  tell({
    path: given.length === 0 ? path : [...path, 'refill_per_sec'],
    code: given.length === 0 ? 'missing' : 'rate_limit_twice',
    message:
      given.length === 0
        ? `${placeWords(path)} does not say how fast it fills up again.`
        : `${placeWords(path)} has both "per_second" and "refill_per_sec", which mean the same.`,
    mend: given.length === 0 ? 'Add "per_second".' : 'Keep one of them.',
  })
}

/*
 * A zero means "no bound" in agentd for time and files; the graph says that by having none. The zeros are kept aside,
 * so that the text comes back with them.
 */
function readBudget(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { budget: Budget; extra: JsonObject } {
  const none = { budget: {}, extra: {} }
  if (source === undefined || (!fits(shapes.budget, source, path, tell) && !isJsonObject(source))) return none
  const budget: Budget = {}
  const extra: JsonObject = {}
  for (const [name, value] of Object.entries(source as JsonObject)) {
    if (!isBudgetName(name) || typeof value !== 'number' || !Number.isInteger(value) || value < 0) continue
    if (value === 0) {
      extra[name] = 0
      tell({
        path: [...path, name],
        code: 'budget_zero',
        severity: 'warning',
        message: `${placeWords([...path, name])} is 0, which stands for no bound of its own.`,
        mend: 'Write a bound, or leave it out.',
      })
    } else if (name === 'max_fs_write_mb') budget.maxWriteBytes = value * bytesPerMb
    else budget[budgetWords[name]] = value
  }
  return { budget, extra }
}

function isBudgetName(name: string): name is keyof typeof budgetWords | 'max_fs_write_mb' {
  return name === 'max_fs_write_mb' || Object.hasOwn(budgetWords, name)
}

export const budgetWords = {
  max_memory_mb: 'maxMemoryMb',
  max_cpu_secs: 'maxCpuS',
  max_run_time_secs: 'maxRunS',
  max_llm_tokens: 'maxModelTokens',
} as const satisfies Record<string, keyof Budget>

/** Once a [policy] stands, every list that is not written is empty, and what is not named is denied. */
export function readPolicy(source: Json | undefined, path: GraphPath, tell: Tell): Policy {
  const none: Policy = { roots: [], privateTargets: [] }
  if (source === undefined) return none
  const fitting = fits(shapes.policy, source, path, tell)
  if (isJsonObject(source) && isJsonObject(source.rego)) checkRegoSource(source.rego, path, tell)
  if (!fitting) return none
  const { fs = {}, env = {}, http = {}, shell = {}, mcp = {}, rego } = source as PolicyTable
  const read = fs.read ?? []
  const list = fs.list ?? []
  const allow: Allowlist = {
    fs: { read, write: fs.write ?? [], delete: fs.delete ?? [], list: list.length > 0 ? list : read },
    env: { readKeys: env.read_keys ?? [] },
    http: { urls: http.urls ?? [], methods: http.methods ?? [] },
    shell: { commands: shell.commands ?? [] },
    mcp: { servers: mcp.servers ?? [], tools: mcp.tools ?? [], resources: mcp.resources ?? [] },
  }
  if (!rego) return { ...none, allow }
  return {
    ...none,
    allow,
    rego: {
      ...(rego.inline === undefined ? {} : { text: rego.inline }),
      ...(rego.file === undefined ? {} : { file: rego.file }),
      data: rego.data ?? {},
      query: rego.query ?? defaultQuery,
    },
  }
}

function checkRegoSource(rego: JsonObject, path: GraphPath, tell: Tell): void {
  if ((rego.inline === undefined) !== (rego.file === undefined)) return
  const both = rego.inline !== undefined
  tell({
    path: [...path, 'rego'],
    code: 'rego_source',
    message: `[policy.rego] ${both ? 'has both "inline" and "file"; only one can count' : 'has neither "inline" nor "file", so there is no policy to ask'}.`,
    mend: both ? 'Keep one of the two.' : 'Add "file", or the policy itself as "inline".',
  })
}

interface PolicyTable {
  fs?: { read?: string[]; write?: string[]; delete?: string[]; list?: string[] }
  env?: { read_keys?: string[] }
  http?: { urls?: string[]; methods?: string[] }
  shell?: { commands?: string[] }
  mcp?: { servers?: string[]; tools?: string[]; resources?: string[] }
  rego?: { inline?: string; file?: string; data?: JsonObject; query?: string }
}

const keyed: readonly string[] = ['anthropic', 'openai', 'gemini']
/** Backends that agentd does not have: its own transports by name, and answers from a file. */
const ownProviders: readonly string[] = ['unix', 'http', 'scripted']

export function readBackends(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { backends: Backend[]; extra: JsonObject } {
  const backends: Backend[] = []
  const extra: JsonObject = {}
  if (source === undefined) return { backends, extra }
  if (!isJsonObject(source)) {
    tell({
      path,
      code: 'bad_value',
      message: `${placeWords(path)} is not a table.`,
      mend: 'Write backends under [[intelligence.backends]].',
    })
    return { backends, extra }
  }
  tellUnknowns(source, ['backends'], path, tell)
  const names = new Set<string>()
  const list = [...path, 'backends']
  for (const [entry, at] of readEntries(source.backends, list, tell, readBackend)) {
    const backend = entry as unknown as BackendTable
    const { name, provider, model, api_key_env, base_url, path: file, max_tokens } = backend
    checkBackend(backend, names, [...list, at], tell)
    names.add(name)
    backends.push({
      name,
      provider,
      ...(model === undefined ? {} : { model }),
      ...(api_key_env === undefined ? {} : { apiKeyEnv: api_key_env }),
      ...(base_url === undefined ? {} : { baseUrl: base_url }),
      ...(file === undefined ? {} : { path: file }),
    })
    if (max_tokens !== undefined) extra[name] = { max_tokens }
  }
  return { backends, extra }
}

/** One with a fault of its own is declared all the same, so that nodes that name it are not told of. */
function readBackend(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject | undefined {
  return fits(shapes.backend, entry, path, tell) || typeof entry.name === 'string' ? entry : undefined
}

interface BackendTable {
  name: string
  provider: Backend['provider']
  model?: string
  api_key_env?: string
  base_url?: string
  path?: string
  max_tokens?: number
}

function checkBackend(
  backend: BackendTable,
  earlier: ReadonlySet<string>,
  path: GraphPath,
  tell: Tell,
): void {
  const { name, provider } = backend
  const isOwn = ownProviders.includes(provider)
  if (earlier.has(name))
    tell({
      path: [...path, 'name'],
      code: 'duplicate_backend',
      message: `The backend ${quoted(name)} is declared twice.`,
      mend: 'Give each backend a name of its own.',
    })
  // Of what no provider was named for, nobody can say what it needs.
  if (!shapes.backend.shape.provider.safeParse(provider).success) return
  const lacks = (member: keyof BackendTable, why: string) => {
    if (backend[member] === undefined)
      tell({
        path,
        code: 'missing',
        message: `The backend ${quoted(name)} has no ${quoted(member)}, which ${why}.`,
        mend: `Add ${quoted(member)}.`,
      })
  }
  if (!isOwn) lacks('model', `every ${provider} backend needs`)
  if (keyed.includes(provider)) lacks('api_key_env', 'names the environment variable that holds its key')
  if (provider === 'openai-compatible' || provider === 'http') lacks('base_url', 'says where it is')
  if (provider === 'unix' || provider === 'scripted') lacks('path', 'says where it is')
}

/*
 * Three spellings: [[secrets]] entries, one [secrets] table of the same form, and [secrets] with a name for each.
 * What the graph cannot say of a secret (`trim`, and sources that run a command or ask for a token) is kept by name.
 */
export function readSecrets(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { secrets: SecretSource[]; names: string[]; extra: JsonObject } {
  const secrets: SecretSource[] = []
  const extra: JsonObject = {}
  const names = new Set<string>()
  for (const [entry, place] of secretEntries(source, path, tell)) {
    const isWhole = fits(secretShape(entry), entry, place, tell)
    const { name } = entry
    if (typeof name !== 'string') continue
    if (names.has(name))
      tell({
        path: place,
        code: 'duplicate_secret',
        message: `The secret ${quoted(name)} is declared twice.`,
        mend: 'Keep one of the two.',
      })
    names.add(name)
    if (!isWhole) continue
    const env = entry.source === 'env' ? entry.var : entry.env
    const file = entry.source === 'file' ? entry.path : entry.file
    if (typeof env === 'string' && file === undefined) secrets.push({ name, from: { env } })
    else if (typeof file === 'string' && env === undefined) {
      secrets.push({ name, from: { file } })
      if (entry.trim !== undefined) extra[name] = { trim: entry.trim }
    } else if (entry.source === undefined) {
      tell({
        path: place,
        code: 'secret_source',
        message: `The secret ${quoted(name)} says ${env === undefined ? 'nowhere' : 'twice'} where it is found.`,
        mend: 'Write source = "env" with "var", or source = "file" with "path".',
      })
    } else {
      extra[name] = entry
      tell({
        path: place,
        code: 'secret_not_served',
        severity: 'warning',
        message: `The secret ${quoted(name)} comes from a source of the kind ${quoted(String(entry.source))}, which is kept but not served here; what needs it will fail.`,
        mend: 'Let something else put it into a file or an environment variable, and name that.',
      })
    }
  }
  return { secrets, names: [...names], extra }
}

function secretShape(entry: JsonObject) {
  const { source } = entry
  if (source === undefined)
    return entry.env === undefined && entry.file === undefined ? shapes.sourcelessSecret : shapes.shortSecret
  return typeof source === 'string' && Object.hasOwn(shapes.secretShapes, source)
    ? shapes.secretShapes[source as keyof typeof shapes.secretShapes]
    : shapes.anySecret
}

function secretEntries(source: Json | undefined, path: GraphPath, tell: Tell): [JsonObject, GraphPath][] {
  if (!isJsonObject(source))
    return readEntries(source, path, tell, (entry) => entry).map(([entry, at]) => [entry, [...path, at]])
  if (typeof source.name === 'string') return [[source, path]]
  const entries: [JsonObject, GraphPath][] = []
  for (const [name, value] of Object.entries(source)) {
    const place = [...path, name]
    if (typeof value === 'string') entries.push([{ name, ...shortSource(value) }, place])
    else if (isJsonObject(value)) entries.push([{ ...value, name }, place])
    else
      tell({
        path: place,
        code: 'bad_value',
        message: `The secret ${quoted(name)} is neither a text nor a table.`,
        mend: 'Write { source = "env", var = "NAME" }.',
      })
  }
  return entries
}

/** `env:NAME`, `file:/path`, or the name of an environment variable alone. */
function shortSource(text: string): JsonObject {
  if (text.startsWith('file:')) return { file: text.slice(5) }
  return { env: text.startsWith('env:') ? text.slice(4) : text }
}
