/*
 * The form in which a tool is bound: which members of a kind it asks for, how each is typed in, and the binding that what
 * was typed means. Labels and help are the kind's own (lib/nodes).
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { httpMethods } from '@/lib/nodes/http-request'
import type { FieldWords } from '@/lib/nodes/node-kind'
import { nodeKind } from '@/lib/nodes/registry'
import type { ToolBinding, ToolDeclaration } from '@/lib/workflow/graph'
import { parameterNames } from './tool-words'

/** What can stand behind a tool, in the order it is offered. */
export const boundKinds = ['call_mcp_tool', 'http_request', 'shell_run', 'call', 'await_event'] as const
export type BoundKind = (typeof boundKinds)[number]

export const boundKindWords: Record<BoundKind, { word: string; does: string }> = {
  call_mcp_tool: {
    word: 'A tool of an MCP server',
    does: 'The call is passed on to a server that the pack declares.',
  },
  http_request: { word: 'An HTTP request', does: 'Sends one request; its answer is the result.' },
  shell_run: { word: 'A command', does: 'Runs one program without a shell; its output is the result.' },
  call: {
    word: 'Another workflow',
    does: 'Runs it as a run of its own and waits; its output is the result.',
  },
  await_event: { word: 'A person', does: 'Asks in the inbox and waits; the answer is the result.' },
}

/** How a member is typed in. */
export type Typed = 'line' | 'lines' | 'json' | 'number' | 'choice'

export interface BindingField {
  name: string
  as: Typed
  label: string
  help: string
  choices?: readonly string[]
  required: boolean
}

interface Member {
  as: Typed
  required?: true
  choices?: readonly string[]
  /** In place of the kind's own words, where a tool's arguments change what one writes. */
  help?: string
}

const members: Record<BoundKind, Record<string, Member>> = {
  call_mcp_tool: {
    server: { as: 'line' },
    tool: { as: 'line', required: true },
    args: { as: 'json' },
    compensate: { as: 'json' },
  },
  http_request: {
    method: { as: 'choice', required: true, choices: httpMethods },
    url: { as: 'line', required: true },
    headers: { as: 'json' },
    body: { as: 'json' },
    compensate: { as: 'json' },
  },
  shell_run: {
    command: { as: 'line', required: true },
    args: { as: 'lines', help: 'One on each line, handed over as they are.' },
    timeout_secs: { as: 'number' },
    compensate: { as: 'json' },
  },
  call: {
    workflow: { as: 'line', required: true },
    input_from: { as: 'line', help: 'What it is given: args is all arguments, args.name one of them.' },
    start: { as: 'line' },
  },
  await_event: {
    question: { as: 'line', required: true },
    role: { as: 'line' },
    events: { as: 'lines', help: 'One answer on each line; without any, Answered and Declined.' },
  },
}

/** The fields of a kind, with its own words for them. */
export function bindingFields(kind: BoundKind): BindingField[] {
  const words: Record<string, FieldWords | undefined> = nodeKind(kind)?.fields ?? {}
  return Object.entries(members[kind]).map(([name, { as, required, choices, help }]) => ({
    name,
    as,
    label: words[name]?.label ?? name,
    help: help ?? words[name]?.help ?? '',
    required: required ?? false,
    ...(choices && { choices }),
  }))
}

export type TypedIn = Record<string, string>

/** A member of the pack's text as it is typed in. */
function asTyped(value: Json | undefined, as: Typed): string {
  if (value === undefined) return ''
  if (as === 'lines')
    return Array.isArray(value)
      ? value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
      : ''
  if (as === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What the form begins with: the binding there is, or arguments handed on by their names. */
export function typedFrom(tool: ToolDeclaration, kind: BoundKind): TypedIn {
  const config = tool.binding?.kind === kind ? tool.binding.config : suggested(tool, kind)
  return Object.fromEntries(bindingFields(kind).map(({ name, as }) => [name, asTyped(config[name], as)]))
}

/** A beginning that most tools need: every argument handed on by its name. */
function suggested({ name, parameters }: ToolDeclaration, kind: BoundKind): JsonObject {
  const names = parameterNames(parameters).map((parameter) => parameter.name)
  const args = Object.fromEntries(names.map((one) => [one, `{{args.${one}}}`]))
  switch (kind) {
    case 'call_mcp_tool':
      return { tool: name, ...(names.length > 0 && { args }) }
    case 'http_request':
      return { method: 'GET' }
    case 'shell_run':
      return { args: names.map((one) => `{{args.${one}}}`) }
    case 'call':
      return { input_from: 'args' }
    case 'await_event':
      return {
        question:
          names.length > 0 ? `${name}: ${names.map((one) => `{{args.${one}}}`).join(', ')}` : `${name}?`,
      }
    default:
      return kind satisfies never
  }
}

/** Members of the binding there is that the form does not ask for: they are kept. */
function others(tool: ToolDeclaration, kind: BoundKind): JsonObject {
  if (tool.binding?.kind !== kind) return {}
  const asked = new Set(Object.keys(members[kind]))
  return Object.fromEntries(Object.entries(tool.binding.config).filter(([name]) => !asked.has(name)))
}

/** Slots that a result fills: a path in it, empty for all of it. */
export type Fills = Record<string, string>

/** The binding that was typed in, or what is wrong, by field. */
export function bindingFrom(
  tool: ToolDeclaration,
  kind: BoundKind,
  typed: TypedIn,
  fills: Fills,
): { binding: ToolBinding } | { faults: TypedIn } {
  const config: JsonObject = others(tool, kind)
  const faults: TypedIn = {}
  for (const { name, as, label, required } of bindingFields(kind)) {
    const text = typed[name] ?? ''
    if (text.trim() === '') {
      // What comes from elsewhere (`url_from`) is kept, and needs no fixed value.
      if (required && config[`${name}_from`] === undefined) faults[name] = `${label} is needed.`
      continue
    }
    const read = readTyped(text, as)
    if ('fault' in read) faults[name] = read.fault
    else config[name] = read.value
  }
  return Object.keys(faults).length > 0 ? { faults } : { binding: { kind, config, artifacts: fills } }
}

function readTyped(text: string, as: Typed): { value: Json } | { fault: string } {
  switch (as) {
    case 'line':
    case 'choice':
      return { value: text.trim() }
    case 'lines':
      return { value: text.replace(/\n+$/, '').split('\n') }
    case 'number':
      return /^\d{1,9}$/.test(text.trim()) ? { value: Number(text) } : { fault: 'Write a whole number.' }
    case 'json':
      return readJson(text)
    default:
      return as satisfies never
  }
}

/** JSON; a text that is none is taken as it stands where it holds one argument and nothing else. */
function readJson(text: string): { value: Json } | { fault: string } {
  if (/^\s*\{\{[^{}]+\}\}\s*$/.test(text)) return { value: text.trim() }
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return { fault: 'This is not JSON; text goes in quotation marks, and nothing follows a last member.' }
  }
}

/** The kind a form opens with: the one that is bound, if the form knows it. */
export function kindOf({ binding }: ToolDeclaration): BoundKind {
  return boundKinds.find((kind) => kind === binding?.kind) ?? 'call_mcp_tool'
}

/** True for a binding whose kind the form does not offer: it is written in the pack's text. */
export function isByHand({ binding }: ToolDeclaration): boolean {
  return (
    binding !== undefined &&
    (!boundKinds.some((kind) => kind === binding.kind) || !isJsonObject(binding.config))
  )
}
