/*
 * A pack's tools, artifacts and prompts in words: what really runs a tool, which states use it, who writes and reads an
 * artifact. What a pack says is text of its author; it is shown, and never filled in.
 */
import { isJsonObject, type Json } from '@/lib/base/json'
import { nodeKind } from '@/lib/nodes/registry'
import type { ToolBinding, WorkflowGraph } from '@/lib/workflow/graph'
import { toolsOf, unboundTools } from '@/lib/workflow/unbound-tools'

export interface ToolLine {
  tool: string
  description: string
  /** What it does, "runs", and of what the pack says so: "/usr/bin/node --test {{args.test_path}}". */
  does: BindingWords
  /** What a call of it does cannot be taken back. */
  isIrreversible: boolean
  /** False where nothing runs it and some state needs it. */
  isReady: boolean
  isBound: boolean
  /** Ids of the states whose prompts may use it. */
  states: string[]
  /** Artifacts its results fill: "test_report", "sha from commit.sha". */
  fills: string[]
}

/** The tools a pack declares, in its order, those that some state needs and nothing runs first. */
export function toolLines(graph: WorkflowGraph): ToolLine[] {
  const unbound = new Set(unboundTools(graph).map(({ tool }) => tool))
  const lines = (graph.tools ?? []).map(({ name, description, binding }): ToolLine => {
    return {
      tool: name,
      description,
      does: bindingParts(binding),
      isIrreversible: isIrreversible(binding),
      isReady: !unbound.has(name),
      isBound: binding !== undefined,
      states: graph.nodes.filter(({ config }) => toolsOf(config).includes(name)).map(({ id }) => id),
      fills: Object.entries(binding?.artifacts ?? {}).map(([slot, path]) =>
        path === '' ? slot : `${slot} from ${path}`,
      ),
    }
  })
  return [...lines.filter(({ isReady }) => !isReady), ...lines.filter(({ isReady }) => isReady)]
}

export interface BindingWords {
  verb: string
  /** As the pack writes it; empty where the verb says all. */
  what: string
}

/** What runs a tool, as the end of a sentence that begins with its name: "runs /usr/bin/make test", "asks operator". */
export function bindingWords(binding: ToolBinding | undefined): string {
  const { verb, what } = bindingParts(binding)
  return what === '' ? verb : `${verb} ${what}`
}

/** What a call of it does cannot be taken back, as far as the binding alone can tell. */
function isIrreversible(binding: ToolBinding | undefined): boolean {
  const kind = binding && nodeKind(binding.kind)
  return (
    kind !== undefined &&
    binding !== undefined &&
    kind.consequence(binding.config as never) === 'irreversible'
  )
}

function bindingParts(binding: ToolBinding | undefined): BindingWords {
  if (!binding) return { verb: 'nothing yet', what: '' }
  const { kind, config } = binding
  const said = (name: string) => textOf(config[name] ?? config[`${name}_from`])
  switch (kind) {
    case 'shell_run': {
      const args = Array.isArray(config.args) ? config.args.map(textOf) : [said('args')]
      return { verb: 'runs', what: [said('command'), ...args].filter((word) => word !== '').join(' ') }
    }
    case 'http_request':
      return { verb: 'sends', what: `${said('method')} ${said('url')}` }
    case 'call_mcp_tool': {
      const server = config.server === undefined ? 'an MCP server' : `the MCP server ${said('server')}`
      return { verb: `asks ${server} for`, what: said('tool') }
    }
    case 'read_file':
      return { verb: 'reads', what: said('path') }
    case 'write_file':
      return { verb: 'writes', what: said('path') }
    case 'call':
      return { verb: 'runs the workflow', what: said('workflow') }
    case 'agent':
      return { verb: `has ${said('agent').split('/').at(-1)} do`, what: said('operation') }
    case 'await_event':
      return { verb: 'asks', what: config.role === undefined ? 'operator' : said('role') }
    default:
      return { verb: inSentence(nodeKind(kind)?.title ?? kind), what: '' }
  }
}

function inSentence(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The parameters a tool declares, as arguments are named: `test_path`, `query (optional)`. */
export function parameterNames(
  parameters: Json,
): { name: string; type: string; required: boolean; help: string }[] {
  if (!isJsonObject(parameters) || !isJsonObject(parameters.properties)) return []
  const required = Array.isArray(parameters.required) ? parameters.required : []
  return Object.entries(parameters.properties).map(([name, schema]) => ({
    name,
    type: isJsonObject(schema) && typeof schema.type === 'string' ? schema.type : 'any',
    required: required.includes(name),
    help: isJsonObject(schema) && typeof schema.description === 'string' ? schema.description : '',
  }))
}

export interface ArtifactLine {
  name: string
  /** "application/json, kept as a list". */
  kind: string
  description: string
  writers: string[]
  readers: string[]
}

/** The slots of a pack: their type, who may write them, whose prompts read them. */
export function artifactLines({ artifacts, nodes, tools = [] }: WorkflowGraph): ArtifactLine[] {
  return artifacts.map(({ name, mediaType, mode, extra }) => ({
    name,
    kind: mode === 'append' ? `${mediaType}, each value added to the last` : mediaType,
    description: typeof extra.description === 'string' ? extra.description : '',
    writers: [
      ...nodes
        .filter(({ config }) => Array.isArray(config.artifacts) && config.artifacts.includes(name))
        .map(({ id }) => id),
      ...tools
        .filter(({ binding }) => binding && Object.hasOwn(binding.artifacts, name))
        .map((tool) => `${tool.name} (tool)`),
    ],
    readers: nodes.filter(({ config }) => reads(config.template, name)).map(({ id }) => id),
  }))
}

function reads(template: Json | undefined, artifact: string): boolean {
  if (typeof template !== 'string') return false
  for (const [, name] of template.matchAll(/\{\{\s*\.?artifacts\.([^{}]*?)\s*\}\}/g)) {
    if (name === artifact || name?.startsWith(`${artifact}.`)) return true
  }
  return false
}

export interface PromptLine {
  prompt: string
  states: string[]
  tools: string[]
}

/** The prompts that states use, in the order of the states. */
export function promptLines({ nodes }: WorkflowGraph): PromptLine[] {
  const found = new Map<string, PromptLine>()
  for (const { id, config } of nodes) {
    const { prompt } = config
    if (typeof prompt !== 'string' || typeof config.template !== 'string') continue
    const line = found.get(prompt) ?? { prompt, states: [], tools: toolsOf(config) }
    found.set(prompt, { ...line, states: [...line.states, id] })
  }
  return [...found.values()]
}
