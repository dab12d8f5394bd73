/** `holdpoint policy …`: what a workflow's policy says, without running anything. */
import { dirname, resolve } from 'node:path'
import { Problem } from '@/lib/base/problem'
import { readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import type { ToolCall } from '@/lib/policy/tool-call'
import { policiesOf } from '@/lib/server/policies'
import { checkCall } from '@/lib/server/policy-check'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { exitCode } from './exit-codes'
import { readText } from './parse-options'
import { UsageError } from './usage-error'

export interface CheckOptions {
  tool: string
  target: string
  method: string
  arg?: string[]
  json?: boolean
}

/**
 * `holdpoint policy check FILE --tool T --target X`: would the workflow in this file be allowed to? Exit 0 when it would
 * be, 5 when it is denied or the policy cannot be loaded.
 * Throws Problem `workflow_invalid`, UsageError.
 */
export async function checkCommand(file: string, options: CheckOptions): Promise<number> {
  const graph = graphIn(file)
  const call = callOf(options)
  const policies = policiesOf({ authoredFolders: [process.cwd(), dirname(resolve(file))], unconfined: true })
  const faults = await policies.check(graph.policy)
  for (const { message } of faults) console.error(`${file}: ${message}`)
  if (faults.length > 0) return exitCode.failed
  const answer = await checkCall(graph, call, {
    policies,
    installationRoots: [process.cwd()],
    unconfined: true,
  })
  console.log(options.json ? JSON.stringify(answer) : answer.sentence)
  return answer.allowed ? exitCode.ok : exitCode.failed
}

function graphIn(file: string): WorkflowGraph {
  const { graph, diagnostics } = readWorkflow(readText(file), file, nodeKind)
  const fault = diagnostics.find(({ severity }) => severity === 'error')
  if (graph && !fault) return graph
  const place = fault ? ` (line ${fault.line}: ${fault.message})` : ''
  throw new Problem('workflow_invalid', `${file} is not a workflow that can run${place}`, { diagnostics })
}

function callOf({ tool, target, method, arg = [] }: CheckOptions): ToolCall {
  switch (tool) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
    case 'fs.list':
      return { tool, path: target }
    case 'env.read':
      return { tool, key: target }
    case 'http.request':
      return { tool, method, url: target }
    case 'shell.run':
      return { tool, command: target, args: arg }
    case 'mcp.tool':
      return { tool, name: target }
    case 'mcp.resource':
      return { tool, uri: target }
    default:
      throw new UsageError(
        `--tool is "${tool.slice(0, 40)}"; expected one of fs.read, fs.write, fs.delete, fs.list, env.read, http.request, shell.run, mcp.tool, mcp.resource`,
      )
  }
}
