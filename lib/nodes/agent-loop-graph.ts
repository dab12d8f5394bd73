/*
 * The graph an agent loop is run as: one node that thinks, one for each tool, and bounded edges between them.
 *
 *            ╭──again──╮                      ╭─ final ──────▶ (the run ends here)
 *            ▼         │                      │
 *   start ─▶ think ────┴──────────────────────┴─ exhausted ──▶ (the run ends here)
 *            ▲   ╰─ read_file ─▶ read_file ──╮
 *            ╰───────(also when it fails)────╯
 *
 * The run's input is `{ instructions, input }`; what the model said stands in `think.action.args`, where the tools'
 * nodes take their arguments from. Policy, secrets, backends, rules and budget are those of the workflow the loop
 * stands in: the model brings none along.
 */
import type { JsonObject } from '@/lib/base/json'
import type { GraphEdge, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import type { AgentLoopConfig, LoopTool } from './agent-loop'
import { bareRequestNode, toolNodes } from './agent-think'
import { innerContainment, innerStep } from './inner-steps'

/** Id of the node that thinks. */
export const thinkNode = 'think'

const from = (name: string) => `${thinkNode}.action.args.${name}`

const toolConfigs: Record<LoopTool | typeof bareRequestNode, JsonObject> = {
  read_file: { path_from: from('path') },
  write_file: { path_from: from('path'), content_from: from('content') },
  read_env: { key_from: from('key') },
  http_request: { method_from: from('method'), url_from: from('url'), body_from: from('body') },
  [bareRequestNode]: { method_from: from('method'), url_from: from('url') },
  shell_run: { command_from: from('command'), args_from: from('args') },
  call_mcp_tool: { tool_from: from('tool'), args_from: from('args'), server_from: from('server') },
}

/** The graph of a loop that stands in `parent`, at the node `owner`. The same loop in the same workflow gives the same graph. */
export function agentLoopGraph(
  config: AgentLoopConfig,
  parent: WorkflowGraph,
  owner?: GraphNode,
): WorkflowGraph {
  const { backend, tools, max_steps, max_tokens, output_schema } = config
  const nodes = toolNodes(tools)
  const think: JsonObject = {
    backend,
    tools,
    max_steps,
    ...(max_tokens === undefined ? {} : { max_tokens }),
    ...(output_schema === undefined ? {} : { output_schema }),
  }
  return {
    name: `${parent.name} (agent loop)`,
    description: '',
    format: parent.format,
    order: 'stepwise',
    vocabulary: parent.vocabulary,
    nodes: [
      innerStep(nodeOf(thinkNode, 'agent_think', think), owner, true),
      ...nodes.map((id) => {
        const kind = id === bareRequestNode ? 'http_request' : id
        return innerStep(nodeOf(id, kind, toolConfigs[id as LoopTool]), owner, false)
      }),
    ],
    edges: [
      edgeOf(thinkNode, thinkNode, 'again', max_steps),
      ...nodes.flatMap((id) => [
        edgeOf(thinkNode, id, id),
        edgeOf(id, thinkNode, undefined, max_steps),
        edgeOf(id, thinkNode, 'error', max_steps),
      ]),
    ],
    starts: [{ name: 'main', node: thinkNode }],
    artifacts: [],
    budget: parent.budget,
    policy: parent.policy,
    rules: parent.rules,
    ...innerContainment(parent),
    ...(parent.backends ? { backends: parent.backends } : {}),
    ...(parent.secrets ? { secrets: parent.secrets } : {}),
    // The servers a workflow declares for itself.
    extra: parent.extra.mcp_servers === undefined ? {} : { mcp_servers: parent.extra.mcp_servers },
  }
}

function nodeOf(id: string, kind: string, config: JsonObject): GraphNode {
  return { id, label: id, kind, config, priority: 'normal', extra: {} }
}

function edgeOf(source: string, to: string, when?: string, maxIterations?: number): GraphEdge {
  return {
    from: source,
    to,
    ...(when === undefined ? {} : { when }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
    extra: {},
  }
}
