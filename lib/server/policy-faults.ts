import type { Diagnostic } from '@/lib/base/diagnostic'
import { readWorkflow } from '@/lib/formats/format'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { quoted } from '@/lib/workflow/graph-problem'
import type { Installation } from './installation'

/**
 * What keeps a workflow's policy from being loaded, with places in the workflow's own text: those of a policy that stands
 * in it are moved there, those of a file elsewhere are in the message, and their place is where the file is named.
 */
export async function policyFaults(
  { policies }: Pick<Installation, 'policies'>,
  { policy }: WorkflowGraph,
  source: string,
): Promise<Diagnostic[]> {
  const found = await policies.check(policy)
  const { text, file } = policy.rego ?? {}
  const faults = found.map((fault) =>
    inSentences(fault.code === 'policy_missing' && file !== undefined ? missingFile(fault, file) : fault),
  )
  const at = text === undefined || text === '' ? -1 : source.indexOf(text)
  if (faults.length > 0 && at < 0) {
    const place = placeOf(source, text === undefined ? 'file' : 'text')
    return faults.map((fault) => ({ ...fault, ...place }))
  }
  const before = source.slice(0, at).split('\n')
  return faults.map((fault) => ({
    ...fault,
    line: fault.line + before.length - 1,
    column: fault.line === 1 ? fault.column + (before.at(-1)?.length ?? 0) : fault.column,
  }))
}

function missingFile(fault: Diagnostic, file: string): Diagnostic {
  return {
    ...fault,
    message: `The Rego policy ${quoted(file.slice(0, 200))} was not found: there is no text file of that name where policies are read from.`,
    mend: 'Correct the name, put the file there, or write the policy into the workflow.',
  }
}

/** Messages of a policy's own evaluator, or of OPA, come without a full stop. */
function inSentences(fault: Diagnostic): Diagnostic {
  return /[.!?]$/.test(fault.message) ? fault : { ...fault, message: `${fault.message}.` }
}

/** Where the policy is named in the workflow's text. */
function placeOf(source: string, member: 'file' | 'text'): Pick<Diagnostic, 'line' | 'column'> {
  const placed = readWorkflow(source).place?.({
    severity: 'error',
    code: 'policy',
    message: '',
    mend: '',
    path: ['policy', 'rego', member],
  })
  return { line: placed?.line ?? 1, column: placed?.column ?? 1 }
}
