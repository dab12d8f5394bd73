import type { Diagnostic } from '@/lib/base/diagnostic'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { Installation } from './installation'

/**
 * What keeps a workflow's policy from being loaded, with places in the workflow's own text: those of a policy that stands
 * in it are moved there, those of a file elsewhere are in the message alone.
 */
export async function policyFaults(
  { policies }: Pick<Installation, 'policies'>,
  { policy }: WorkflowGraph,
  source: string,
): Promise<Diagnostic[]> {
  const faults = await policies.check(policy)
  const text = policy.rego?.text
  const at = text === undefined || text === '' ? -1 : source.indexOf(text)
  if (at < 0) return faults.map((fault) => ({ ...fault, line: 1, column: 1 }))
  const before = source.slice(0, at).split('\n')
  return faults.map((fault) => ({
    ...fault,
    line: fault.line + before.length - 1,
    column: fault.line === 1 ? fault.column + (before.at(-1)?.length ?? 0) : fault.column,
  }))
}
