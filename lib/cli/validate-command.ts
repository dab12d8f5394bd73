import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Diagnostic, worstFirst } from '@/lib/base/diagnostic'
import { readWorkflow, withProblems } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { reachProblems } from '@/lib/policy/reach'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { exitCode } from './exit-codes'
import { readText } from './parse-options'
import { UsageError } from './usage-error'

/** What is longer is not even read; the reader has its own, smaller bound and says so with a place. */
const fileMaxBytes = 64 * 1024 * 1024

interface Checked {
  file: string
  format: string
  valid: boolean
  nodes?: number
  diagnostics: Diagnostic[]
}

/** `holdpoint validate FILE…`: exit 0 when no file has an error (warnings are told), else 5. */
export async function validateCommand(files: string[], options: { json?: boolean }): Promise<number> {
  const results: Checked[] = []
  for (const file of files) results.push(await check(file))
  if (options.json)
    console.log(JSON.stringify({ valid: results.every((result) => result.valid), files: results }))
  else for (const result of results) print(result)
  return results.every((result) => result.valid) ? exitCode.ok : exitCode.failed
}

async function check(file: string): Promise<Checked> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > fileMaxBytes) {
    throw new UsageError(`${file} is ${size} bytes long; at most ${fileMaxBytes} are read`)
  }
  const text = readText(file)
  const read = readWorkflow(text, file, nodeKind)
  const { format, graph } = read
  const diagnostics = graph
    ? [...withProblems(read, reachProblems(graph)), ...(await policyProblems(file, graph, text))]
    : read.diagnostics
  const valid = !diagnostics.some(({ severity }) => severity === 'error')
  return { file, format, valid, ...(graph ? { nodes: graph.nodes.length } : {}), diagnostics }
}

/** What keeps its policy from being loaded; one in a file is looked for as `holdpoint run` would. */
async function policyProblems(file: string, graph: WorkflowGraph, text: string): Promise<Diagnostic[]> {
  if (!graph.policy.rego) return []
  const { policiesOf } = await import('@/lib/server/policies')
  const { policyFaults } = await import('@/lib/server/policy-faults')
  const policies = policiesOf({ authoredFolders: [process.cwd(), dirname(resolve(file))], unconfined: true })
  return policyFaults({ policies }, graph, text)
}

function print({ file, format, valid, nodes, diagnostics }: Checked): void {
  for (const { line, column, severity, message, mend, code } of worstFirst(diagnostics)) {
    console.log(`${file}:${line}:${column}: ${severity}: ${message} ${mend} [${code}]`)
  }
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  if (valid)
    console.log(`${file}: valid ${format} workflow with ${nodes ?? 0} ${nodes === 1 ? 'node' : 'nodes'}`)
  else console.log(`${file}: ${errors} ${errors === 1 ? 'error' : 'errors'}`)
}
