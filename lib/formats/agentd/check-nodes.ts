/* What a node's config says that no schema can tell: names that are declared elsewhere, bounds, templates. */
import { isJsonObject, type Json } from '@/lib/base/json'
import { loopTools, maxLoopSteps } from '@/lib/nodes/agent-loop'
import { markerFaults } from '@/lib/nodes/template'
import type { GraphNode } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import { checkHeaders } from './check-headers'
import { checkServer } from './check-server'
import type { ReadDocument } from './read'

export function checkNode(node: GraphNode, path: GraphPath, read: ReadDocument, tell: Tell): void {
  switch (node.kind) {
    case 'call_mcp_tool':
    case 'read_mcp_resource':
      checkServerOf(node, path, read, tell)
      break
    case 'http_request':
      checkHeaders(node, path, read, tell)
      break
    case 'shell_run':
      wholeFrom(node, 'timeout_secs', 0, maxCommandSecs, path, tell)
      break
    case 'template_render':
      checkTemplate(node, 'template', path, tell)
      break
    case 'call':
      checkCall(node.config.workflow, node, [...path, 'workflow'], read, tell)
      break
    case 'parallel':
      for (const [at, branch] of listOf(node.config.branches).entries())
        if (isJsonObject(branch))
          checkCall(branch.workflow, node, [...path, 'branches', at, 'workflow'], read, tell)
      break
    case 'llm_infer':
      checkTemplate(node, 'prompt', path, tell)
      checkBackendOf(node, path, read, tell)
      checkSchemaOf(node, path, tell)
      break
    case 'agent_loop':
      checkTemplate(node, 'instructions', path, tell)
      checkBackendOf(node, path, read, tell)
      checkSchemaOf(node, path, tell)
      checkLoop(node, path, tell)
      break
    case 'map':
      checkCall(node.config.workflow, node, [...path, 'workflow'], read, tell)
      wholeFrom(node, 'max_items', 1, Number.MAX_SAFE_INTEGER, path, tell)
      wholeFrom(node, 'max_concurrent', 1, Number.MAX_SAFE_INTEGER, path, tell)
      break
    case 'respond':
      checkTemplate(node, 'body_template', path, tell)
      wholeFrom(node, 'status', 100, 599, path, tell)
      checkContentType(node, path, tell)
      break
    default:
      break
  }
}

/** A command runs at most a day (lib/nodes/shell-run.ts). */
const maxCommandSecs = 86_400

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** Markers that are no paths run as they do in agentd, so that nobody is stopped by one. */
function checkTemplate(node: GraphNode, member: string, path: GraphPath, tell: Tell): void {
  const template = node.config[member]
  if (typeof template !== 'string') return
  for (const { line, words, mend } of markerFaults(template))
    tell({
      path: [...path, member],
      code: 'template_marker',
      severity: 'warning',
      message: `Node ${quoted(node.id)}: ${line > 1 ? `line ${line} of ` : ''}${quoted(member)} ${words}.`,
      mend,
    })
}

/** A workflow that names itself, by its name or by its file's, calls itself until the engine refuses to go deeper. */
function checkCall(
  workflow: Json | undefined,
  node: GraphNode,
  path: GraphPath,
  { graph, filename }: ReadDocument,
  tell: Tell,
): void {
  if (typeof workflow !== 'string') return
  const file = workflow.replace(/^\.\//, '')
  const [base, own] = [file, filename].map((name) => name?.split(/[/\\]/).at(-1))
  const stem = plainName(base?.replace(/\.toml$/i, '') ?? '')
  // A file of another name is another workflow, whatever that is called.
  const isNamed = stem === plainName(graph.name) && (own === undefined || base === own || stem === base)
  if (file !== own && !isNamed) return
  tell({
    path,
    code: 'calls_itself',
    severity: 'warning',
    message: `Node ${quoted(node.id)} calls ${quoted(workflow)}, which is this workflow itself; calls go at most ${maxCallDepth} deep.`,
    mend: 'Name another workflow, or make sure that a condition before it ends the calls.',
  })
}

/** Names as the library compares them. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** As deep as the worker lets calls go (agentd section 1.45). */
const maxCallDepth = 8

function checkServerOf(node: GraphNode, path: GraphPath, read: ReadDocument, tell: Tell): void {
  const names = read.mcpServers.map((server) => String(server.name))
  const { server } = node.config
  if (typeof server === 'string') checkServer(server, `Node ${quoted(node.id)}`, path, names, tell)
  if (server === undefined && names.length > 1)
    tell({
      path,
      code: 'ambiguous_mcp_server',
      message: `Node ${quoted(node.id)} names no MCP server, and ${names.length} are declared.`,
      mend: `Add "server": ${names.slice(0, 5).map(quoted).join(' or ')}.`,
    })
}

function checkBackendOf(node: GraphNode, path: GraphPath, { graph }: ReadDocument, tell: Tell): void {
  const { backend } = node.config
  const names = (graph.backends ?? []).map(({ name }) => name)
  if (typeof backend !== 'string' || backend === 'default' || names.includes(backend)) return
  tell({
    path: [...path, 'backend'],
    code: 'unknown_backend',
    severity: 'warning',
    message: `Node ${quoted(node.id)} asks the backend ${quoted(backend)}, which this file does not declare; unless the installation has it, the step will fail.`,
    mend: didYouMean(backend, ['default', ...names], 'Declare it under [[intelligence.backends]].'),
  })
}

function checkSchemaOf(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { output_schema: schema } = node.config
  if (schema !== '') return
  tell({
    path: [...path, 'output_schema'],
    code: 'bad_value',
    message: `Node ${quoted(node.id)} has an empty "output_schema", which is neither a schema file nor a word such as "inline".`,
    mend: 'Name a JSON Schema file, write "inline" to ask for any JSON, or leave it out.',
  })
}

function checkLoop(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { instructions, instructions_from, tools } = node.config
  wholeFrom(node, 'max_steps', 1, maxLoopSteps, path, tell)
  wholeFrom(node, 'max_tokens', 1, Number.MAX_SAFE_INTEGER, path, tell)
  if (instructions === undefined && instructions_from === undefined)
    tell({
      path,
      code: 'missing',
      message: `Node ${quoted(node.id)} has neither "instructions" nor "instructions_from", so the model would not know what to do.`,
      mend: 'Add one of them.',
    })
  if (!Array.isArray(tools)) return
  const known: readonly string[] = loopTools
  if (tools.length === 0)
    tell({
      path: [...path, 'tools'],
      code: 'loop_tools',
      message: `Node ${quoted(node.id)} lists no tools; at least one is needed.`,
      mend: `Tools: ${loopTools.join(', ')}.`,
    })
  for (const [at, tool] of tools.entries())
    if (typeof tool === 'string' && !known.includes(tool))
      tell({
        path: [...path, 'tools', at],
        code: 'loop_tools',
        message: `Node ${quoted(node.id)} lists ${quoted(tool)}, which is no tool of a loop.`,
        mend: didYouMean(tool, known, `Tools: ${loopTools.join(', ')}.`),
      })
}

function wholeFrom(
  node: GraphNode,
  member: string,
  least: number,
  most: number,
  path: GraphPath,
  tell: Tell,
): void {
  const value = node.config[member]
  if (value === undefined || typeof value !== 'number') return
  if (Number.isInteger(value) && value >= least && value <= most) return
  const upTo = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  tell({
    path: [...path, member],
    code: 'bounds',
    message: `Node ${quoted(node.id)}: ${quoted(member)} is ${value}; a whole number ${upTo} was expected.`,
    mend: 'Write a number within the bounds.',
  })
}

function checkContentType(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { content_type: type } = node.config
  if (typeof type !== 'string' || /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[\x21-\x7e][\x20-\x7e]*$/.test(type)) return
  tell({
    path: [...path, 'content_type'],
    code: 'bad_content_type',
    message: `Node ${quoted(node.id)}: "content_type" is no media type, or holds a line break.`,
    mend: 'Write one such as application/json or text/xml; charset=utf-8.',
  })
}
