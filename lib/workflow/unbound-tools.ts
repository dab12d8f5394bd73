/*
 * Tools that prompts are given and that nothing runs. A pack declares what a tool is for, and whoever runs it says what
 * does it: until then no run begins, because a model that is refused its tool in the middle has already acted.
 */
import { Problem } from '@/lib/base/problem'
import type { WorkflowGraph } from './graph'

export interface UnboundTool {
  tool: string
  /** Ids of the states whose prompts may use it. */
  states: string[]
}

/** Tools that states use and nothing runs, in the order of the states. */
export function unboundTools({ nodes, tools = [] }: WorkflowGraph): UnboundTool[] {
  const bound = new Set(tools.filter(({ binding }) => binding !== undefined).map(({ name }) => name))
  const states = new Map<string, string[]>()
  for (const { id, config } of nodes) {
    for (const tool of toolsOf(config)) {
      if (!bound.has(tool)) states.set(tool, [...(states.get(tool) ?? []), id])
    }
  }
  return [...states].map(([tool, used]) => ({ tool, states: used }))
}

/** The workflow's tools that a step's model may be given. */
export function toolsOf(config: WorkflowGraph['nodes'][number]['config']): string[] {
  const { template, tools } = config
  if (typeof template !== 'string' || !Array.isArray(tools)) return []
  return [...new Set(tools.filter((tool) => typeof tool === 'string'))]
}

/** Names told in a sentence; the rest are counted. */
const told = 3

/** The sentence that refuses a run, and says how to mend it; undefined when every tool is bound. */
export function unboundWords(unbound: readonly UnboundTool[]): string | undefined {
  const [first] = unbound
  if (!first) return undefined
  const named = unbound.slice(0, told).map(({ tool, states }) => `"${tool}" (used by ${listed(states)})`)
  const more = unbound.length - named.length
  const which = `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
  const are = unbound.length === 1 ? `The tool ${which} is` : `The tools ${which} are`
  return `${are} bound to nothing, so no run can begin. Bind ${unbound.length === 1 ? 'it' : 'them'} on the workflow's page, or in the pack: workflow.engine.bindings: { ${quotedKey(first.tool)}: { shell_run: { command: … } } }.`
}

function listed(states: readonly string[]): string {
  const shown = states.slice(0, told).join(', ')
  return states.length > told ? `${shown} and ${states.length - told} more` : shown
}

function quotedKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
}

/** Throws Problem `tool_unbound`, with the tools and their states as its data. */
export function refuseUnbound(graph: WorkflowGraph): void {
  const tools = unboundTools(graph)
  const sentence = unboundWords(tools)
  if (sentence !== undefined) throw new Problem('tool_unbound', sentence, { tools: tools.slice(0, 100) })
}
