/*
 * The graph that one turn of a prompt state is run as: a node that asks the model, one for each tool, edges between. Its
 * loops are bounded by the turn's own rounds.
 *
 *            ╭──again──╮                     ╭─ ended ──▶ (the turn ends here, with its event)
 *            ▼         │                     │
 *   start ─▶ turn ─────┴─────────────────────┤
 *            ▲ ▲  ╰─ tool_1 ─▶ run_tests ──╮ ╰─ event ──▶ event (hybrid: somebody outside says what happened)
 *            │ ╰────(also when it fails)───╯               │
 *            ╰──────────────────────────────(any event)────╯
 *
 * The run's input is `{ system, talk, toolCallsLeft }`; the call a tool's node does stands in `turn.call`. Policy,
 * secrets, backends, rules and servers are those of the workflow the state stands in: the model brings none along.
 */
import type { JsonObject } from '@/lib/base/json'
import type { GraphEdge, GraphNode, ToolDeclaration, WorkflowGraph } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { innerContainment, innerStep } from './inner-steps'
import { type PromptStateConfig, promptStateConfig } from './prompt-state'
import { type PromptTurnConfig, turnEventNode } from './prompt-turn'
import { nodeKind } from './registry'

/** Id of the node that asks the model. */
export const turnNode = 'turn'

/** The graph of a turn of that state of `parent`. The same state in the same workflow gives the same graph. */
export function promptTurnGraph(state: GraphNode, parent: WorkflowGraph): WorkflowGraph {
  const config = promptStateConfig.parse(state.config)
  const tools = toolsOf(config, parent)
  const events = eventLabels(state.id, parent)
  const nodes = tools.map(({ tool, node }) => innerStep(toolNode(node, tool), state, false))
  const hybrid = config.orchestration === 'hybrid'
  const { maxRunS, maxModelTokens, maxWriteBytes, maxMemoryMb, maxCpuS } = parent.budget
  return {
    name: `${parent.name}: ${nodeLabel(state)}`.slice(0, 200),
    description: '',
    format: parent.format,
    order: 'stepwise',
    vocabulary: parent.vocabulary,
    nodes: [
      innerStep(
        nodeOf(turnNode, 'prompt_turn', turnConfig(config, parent, tools, events) as JsonObject),
        state,
        true,
      ),
      ...nodes,
      ...(hybrid ? [eventNode(state, config, events)] : []),
    ],
    edges: [
      edgeOf(turnNode, turnNode, 'again'),
      ...nodes.flatMap((node) => [
        edgeOf(turnNode, node.id, node.id),
        ...labelsOf(node).map((label) => edgeOf(node.id, turnNode, label)),
      ]),
      ...(hybrid ? [edgeOf(turnNode, turnEventNode, turnEventNode)] : []),
      ...(hybrid ? events.map((event) => edgeOf(turnEventNode, turnNode, event)) : []),
    ],
    starts: [{ name: 'main', node: turnNode }],
    artifacts: [],
    // What counts entries, calls and time of the whole run is the whole run's business.
    budget: definedMembers({ maxRunS, maxModelTokens, maxWriteBytes, maxMemoryMb, maxCpuS }),
    policy: parent.policy,
    rules: parent.rules,
    ...innerContainment(parent),
    ...(parent.backends ? { backends: parent.backends } : {}),
    ...(parent.secrets ? { secrets: parent.secrets } : {}),
    extra: parent.extra.mcp_servers === undefined ? {} : { mcp_servers: parent.extra.mcp_servers },
  }
}

/** The labels of the edges that leave a state: the events it may end with. */
export function eventLabels(state: string, { edges }: WorkflowGraph): string[] {
  const labels = edges.filter(({ from }) => from === state).flatMap(({ when }) => when ?? [])
  return [...new Set(labels)]
}

interface NamedTool {
  tool: ToolDeclaration
  node: string
}

/** A tool without a binding is not offered: no run begins that needs one. */
function toolsOf({ tools = [] }: PromptStateConfig, { tools: declared = [] }: WorkflowGraph): NamedTool[] {
  return tools
    .flatMap((name) => declared.find((tool) => tool.name === name) ?? [])
    .filter(({ binding }) => binding !== undefined)
    .map((tool, at) => ({ tool, node: `tool_${at + 1}` }))
}

function turnConfig(
  config: PromptStateConfig,
  { artifacts }: WorkflowGraph,
  tools: NamedTool[],
  events: string[],
): PromptTurnConfig {
  const { backend, max_rounds, max_tool_calls, tool_choice, temperature, top_p, max_tokens } = config
  const slots = artifacts.filter(({ name }) => config.artifacts?.includes(name))
  return definedMembers({
    backend,
    max_rounds,
    max_tool_calls,
    tool_choice,
    temperature,
    top_p,
    max_tokens,
    events: config.terminal ? [] : events,
    tools: tools.map(({ tool: { name, description, parameters, binding }, node }) => ({
      name,
      description,
      parameters,
      node,
      artifacts: binding?.artifacts ?? {},
    })),
    slots: slots.map(({ name, mediaType, mode, extra }) => ({
      name,
      mediaType,
      mode,
      description: typeof extra.description === 'string' ? extra.description : '',
    })),
    hybrid: config.orchestration === 'hybrid' ? true : undefined,
  }) as PromptTurnConfig
}

function toolNode(id: string, { name, binding }: ToolDeclaration): GraphNode {
  const { kind, config } = binding ?? { kind: 'fail', config: {} }
  const args_from = `${turnNode}.call.args`
  const node =
    kind === 'await_event'
      ? nodeOf(id, kind, { events: ['Answered', 'Declined'], ...config, args_from })
      : nodeOf(id, 'tool_call', { kind, config, args_from })
  const { approval, reversible } = binding ?? {}
  return { ...node, label: name, ...definedMembers({ approval, reversible }) }
}

function eventNode(state: GraphNode, { prompt, role }: PromptStateConfig, events: string[]): GraphNode {
  const question = `What happened at ${nodeLabel(state)}? ${prompt} ended its turn without an event`
  return {
    ...nodeOf(turnEventNode, 'await_event', definedMembers({ question, role, events })),
    label: nodeLabel(state),
  }
}

/** Every label a tool's step can end with, and none: whatever came of it, the model is told. */
function labelsOf({ kind, config }: GraphNode): (string | undefined)[] {
  const bound = kind === 'tool_call' ? config.kind : kind
  const known = typeof bound === 'string' ? nodeKind(bound) : undefined
  const own = kind === 'tool_call' ? (config.config as JsonObject) : config
  const labels = known?.labels(own) ?? []
  return [undefined, ...new Set([...(labels === 'any' ? [] : labels), 'error'])]
}

function nodeOf(id: string, kind: string, config: JsonObject): GraphNode {
  return { id, label: id, kind, config, priority: 'normal', extra: {} }
}

function edgeOf(source: string, to: string, when?: string): GraphEdge {
  return { from: source, to, ...definedMembers({ when }), extra: {} }
}

function definedMembers<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const defined = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [K in keyof T]: Exclude<T[K], undefined> }
}
