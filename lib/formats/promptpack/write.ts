/*
 * Graph → pack. What was written and the graph has no word for comes back from `extra`; states, events, tools, bindings
 * and the budget are written from the graph. Whether that says all there is to say is seen by reading it again, which
 * promptpack.ts does: what cannot be said is refused, never dropped.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { GraphEdge, GraphNode, ToolDeclaration, WorkflowGraph } from '@/lib/workflow/graph'
import { containedObject, containmentObject } from '../contained'
import { budgetWords } from './engine'

/** The pack that a graph says, as a document. */
export function documentOf(graph: WorkflowGraph): JsonObject {
  const { mcp_servers, workflow, name, $schema, version, template_engine, ...rest } = graph.extra
  const { prompts, fragments, metadata, compilation, ...others } = rest
  return defined({
    $schema,
    id: graph.name,
    name,
    version,
    description: graph.description === name ? undefined : graph.description,
    metadata,
    compilation,
    template_engine,
    fragments,
    prompts,
    tools: toolsOf(graph.tools),
    workflow: isJsonObject(workflow) ? workflowOf(graph, workflow, mcp_servers) : undefined,
    ...others,
  })
}

function toolsOf(tools: readonly ToolDeclaration[] = []): JsonObject | undefined {
  if (tools.length === 0) return undefined
  return Object.fromEntries(
    tools.map(({ name, description, parameters, extra }) => [
      name,
      { name, ...extra, description, parameters },
    ]),
  )
}

function workflowOf(
  graph: WorkflowGraph,
  { version, engine }: JsonObject,
  servers: Json | undefined,
): JsonObject {
  const names = new Map(graph.nodes.map((node) => [node.id, nameOf(node)]))
  const leaving = new Map<string, GraphEdge[]>()
  for (const edge of graph.edges) leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge])
  const entry = graph.starts.find((start) => start.name === 'main')
  return defined({
    version,
    entry: names.get(entry?.node ?? ''),
    engine: engineOf(graph, engine, servers),
    states: Object.fromEntries(
      graph.nodes.map((node) => [nameOf(node), stateOf(node, leaving.get(node.id) ?? [], names)]),
    ),
  })
}

function nameOf({ id, extra }: GraphNode): string {
  return typeof extra.name === 'string' ? extra.name : id
}

function stateOf(
  node: GraphNode,
  edges: readonly GraphEdge[],
  names: ReadonlyMap<string, string>,
): JsonObject {
  const { config, extra, kind, maxVisits, onMaxVisits } = node
  const events = edges.map(({ when = '', to }) => [when, names.get(to) ?? to])
  return defined({
    prompt_task: extra.prompt_task ?? config.prompt,
    description: extra.description,
    orchestration:
      extra.orchestration ?? config.orchestration ?? (kind === 'await_event' ? 'external' : undefined),
    composition: extra.composition,
    persistence: extra.persistence ?? config.persistence,
    skills: extra.skills,
    max_visits: extra.max_visits ?? maxVisits,
    on_max_visits: extra.on_max_visits ?? (onMaxVisits === undefined ? undefined : names.get(onMaxVisits)),
    artifacts: extra.artifacts,
    on_event: extra.on_event ?? (events.length > 0 ? Object.fromEntries(events) : undefined),
    terminal: extra.terminal ?? config.terminal,
  })
}

function engineOf(
  graph: WorkflowGraph,
  kept: Json | undefined,
  servers: Json | undefined,
): JsonObject | undefined {
  const { budget: unread, states, ...others } = isJsonObject(kept) ? kept : {}
  const budget = budgetOf(graph, unread)
  const bindings = bindingsOf(graph.tools)
  const engine = defined({
    budget,
    containment: graph.containment && containmentObject(graph.containment),
    states: statesOf(graph, isJsonObject(states) ? states : {}),
    ...others,
    mcp_servers: servers,
    bindings,
  })
  return kept === undefined && Object.keys(engine).length === 0 ? undefined : engine
}

/** What each state asks for, with what others read there. */
function statesOf({ nodes }: WorkflowGraph, kept: JsonObject): JsonObject | undefined {
  const said = nodes.flatMap((node): [string, JsonObject][] => {
    const name = nameOf(node)
    const others = Object.hasOwn(kept, name) ? kept[name] : undefined
    const state = { ...containedObject(node), ...(isJsonObject(others) ? others : {}) }
    return Object.keys(state).length > 0 ? [[name, state]] : []
  })
  return said.length > 0 ? Object.fromEntries(said) : undefined
}

function budgetOf({ budget }: WorkflowGraph, unread: Json | undefined): Json | undefined {
  if (unread !== undefined && !isJsonObject(unread)) return unread
  const read = Object.entries(budgetWords).map(([name, word]): [string, Json | undefined] => [
    name,
    budget[word],
  ])
  const written = defined({ ...Object.fromEntries(read), ...unread })
  return Object.keys(written).length > 0 ? written : undefined
}

function bindingsOf(tools: readonly ToolDeclaration[] = []): JsonObject | undefined {
  const bound = tools.flatMap(({ name, binding }): [string, JsonObject][] =>
    binding
      ? [
          [
            name,
            {
              [binding.kind]: binding.config,
              ...(Object.keys(binding.artifacts).length > 0 ? { artifacts: binding.artifacts } : {}),
            },
          ],
        ]
      : [],
  )
  return bound.length > 0 ? Object.fromEntries(bound) : undefined
}

/** Without the members that are not there. */
function defined(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}
