/*
 * What a Rego policy is asked, and what its answer means. The question is `{ tool, args }` (agentd section 1.21). Only
 * `true` allows: false, nothing at all, a text, an error, an evaluator that cannot be reached all deny.
 */
import type { Json, JsonObject } from '@/lib/base/json'
import type { Answer } from './answer'
import { denial } from './denial'
import type { ToolCall } from './tool-call'

/** What the query gave for one input, and, where the evaluator can tell, which clauses of its rule were tried. */
export interface RegoSaid {
  /** Undefined when the query gives nothing. */
  value: Json | undefined
  tried?: readonly { line: number; holds: boolean }[]
}

/** Evaluates the query for one input. Throws when it could not be evaluated. */
export type AskRego = (input: JsonObject) => Promise<RegoSaid>

/** The input document of a call. */
export function regoInput(call: ToolCall): JsonObject {
  switch (call.tool) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
    case 'fs.list':
      return { tool: call.tool, args: { path: call.path } }
    case 'env.read':
      return { tool: call.tool, args: { key: call.key } }
    case 'http.request':
      return { tool: call.tool, args: { method: call.method.toUpperCase(), url: sentUrl(call.url) } }
    case 'shell.run':
      return { tool: call.tool, args: { command: call.command, args: [...call.args] } }
    case 'mcp.tool':
      return { tool: call.tool, args: { name: call.name, ...serverOf(call) } }
    case 'mcp.resource':
      return { tool: call.tool, args: { uri: call.uri, ...serverOf(call) } }
    default:
      return call satisfies never
  }
}

/** What the evaluated query says of the call. `query` is its text, for the rule's name. */
export function regoAnswer(call: ToolCall, query: string, { value, tried = [] }: RegoSaid): Answer {
  const rule = `policy.rego: ${query}`
  const held = linesOf(tried, true)
  if (value === true) return { allowed: true, rule: `${rule}${held === '' ? '' : ` (${held})`}` }
  const found = value === undefined ? 'is undefined' : value === false ? 'is false' : 'is not true'
  const not = linesOf(tried, false)
  const why = [held, not && `${not} not holding`].filter(Boolean).join(', ')
  return denial(call, rule, `${rule} ${found}${why === '' ? '' : ` (${why})`}`)
}

/** `lines 5, 10`: the clauses that held or did not, where an author looks first. A default rule holds when no other does. */
function linesOf(tried: NonNullable<RegoSaid['tried']>, holds: boolean): string {
  const lines = [...new Set(tried.filter((one) => one.holds === holds).map(({ line }) => line))].slice(0, 8)
  return lines.length === 0 ? '' : `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
}

/** A policy that could not be asked denies. `reason` names no contents. */
export function regoUnanswered(call: ToolCall, query: string, reason: string): Answer {
  return denial(call, `policy.rego: ${query}`, `policy.rego could not be asked: ${reason}`)
}

function serverOf(call: { server?: string }): JsonObject {
  return call.server === undefined ? {} : { server: call.server }
}

/** The URL in the spelling it is sent in, so that a rule such as `startswith(input.args.url, …)` cannot be fooled. */
function sentUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
