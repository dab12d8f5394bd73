/*
 * What a tool's binding would be refused when a model calls the tool, as far as its fixed texts tell it: a program, and
 * an address, that the workflow's policy does not name. A text that arguments fill is judged at the call.
 *
 * A program is compared as it is written, and at the run by where it really is. So nothing is said when the list names
 * a program of the same name elsewhere: `/bin/df` is often `/usr/bin/df`.
 */
import type { Policy, ToolBinding, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, type GraphProblem, quoted } from '@/lib/workflow/graph-problem'
import { allowlistAnswer } from './allowlist'
import type { Refused } from './answer'
import type { ToolCall } from './tool-call'
import { unlistedAnswer } from './unlisted'

/** Warnings about bindings, with their places in the graph. `wantsNames`: the workflow is judged for a server. */
export function bindingProblems(
  { tools = [], policy, format }: WorkflowGraph,
  wantsNames: boolean,
): GraphProblem[] {
  return tools.flatMap(({ name, binding }, at) => {
    if (!binding) return []
    const path: GraphPath = ['tools', at, 'binding', 'config']
    const where = format === 'promptpack' ? 'workflow.engine.policy' : 'policy'
    if (binding.kind === 'shell_run') return commandProblems(name, binding, policy, wantsNames, path, where)
    return binding.kind === 'http_request' ? urlProblems(name, binding, policy, path, where) : []
  })
}

function commandProblems(
  tool: string,
  { config: { command } }: ToolBinding,
  policy: Policy,
  wantsNames: boolean,
  path: GraphPath,
  where: string,
): GraphProblem[] {
  if (!isFixed(command)) return []
  const refusals = placesOf(command, policy).map((place) =>
    refusalOf({ tool: 'shell.run', command: place, args: [] }, policy, wantsNames),
  )
  if (refusals.some((refusal) => refusal === undefined)) return []
  return [
    {
      severity: 'warning',
      code: 'binding_not_allowed',
      message: `The tool ${quoted(tool)} will be refused: the ${packOr(where)}’s policy allows no command ${quoted(command)}.`,
      mend: `Name it under ${where}.shell.commands.`,
      path: [...path, 'command'],
    },
  ]
}

/** Where a program may really be: as written, in the other folder for programs, and where the list has its name. */
function placesOf(command: string, { allow }: Policy): string[] {
  const other = /^\/s?bin\//.test(command) ? `/usr${command}` : command.replace(/^\/usr(?=\/s?bin\/)/, '')
  const name = command.slice(command.lastIndexOf('/'))
  const namesakes = (allow?.shell.commands ?? []).filter((listed) => listed.endsWith(name))
  return [...new Set([command, other, ...namesakes])]
}

function urlProblems(
  tool: string,
  { config: { url, method } }: ToolBinding,
  policy: Policy,
  path: GraphPath,
  where: string,
): GraphProblem[] {
  if (!isFixed(url) || typeof method !== 'string' || !URL.canParse(url)) return []
  const refused = refusalOf({ tool: 'http.request', method, url }, policy, false)
  if (!refused) return []
  const { host } = new URL(url)
  const isMethod = refused.rule === 'policy.http.methods'
  return [
    {
      severity: 'warning',
      code: 'binding_not_allowed',
      message: `The tool ${quoted(tool)} will be refused: the ${packOr(where)}’s policy allows no ${isMethod ? `method ${quoted(method)}` : `such request to ${quoted(host)}`}.`,
      mend: `Name it under ${where}.http.${isMethod ? 'methods' : 'urls'}.`,
      path: [...path, isMethod ? 'method' : 'url'],
    },
  ]
}

function refusalOf(call: ToolCall, policy: Policy, wantsNames: boolean): Refused | undefined {
  const unlisted = unlistedAnswer(policy, call, !wantsNames)
  if (unlisted && !unlisted.allowed) return unlisted
  const answer = policy.allow && allowlistAnswer(policy.allow, call)
  return answer && !answer.allowed ? answer : undefined
}

function isFixed(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && !text.includes('{{')
}

function packOr(where: string): string {
  return where === 'policy' ? 'workflow' : 'pack'
}
