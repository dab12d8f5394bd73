/** Workflow versions: immutable, named by the hash of what they say. */
import type { Diagnostic } from '@/lib/base/diagnostic'
import { Problem } from '@/lib/base/problem'
import type { WorkflowRecord } from '@/lib/engine/ports'
import { readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import type { Installation } from './installation'
import { policyFaults } from './policy-faults'

export interface Imported {
  record: WorkflowRecord
  graph: WorkflowGraph
  /** Warnings only: with an error nothing is imported. */
  diagnostics: Diagnostic[]
  /** False when this very version was there already. */
  isNew: boolean
}

/** Imports a workflow text as a version. Throws Problem `workflow_invalid` with all diagnostics as its data. */
export async function importWorkflow(
  installation: Installation,
  text: string,
  from: { filename?: string; by: string },
): Promise<Imported> {
  const { graph, format, mediaType, ...found } = readWorkflow(text, from.filename, nodeKind)
  const diagnostics = [...found.diagnostics, ...(graph ? await policyFaults(installation, graph, text) : [])]
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  const [first] = errors
  if (!graph || first) {
    const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
    const place = first
      ? `line ${first.line}, column ${first.column}: ${first.message}`
      : 'it could not be read'
    throw new Problem('workflow_invalid', `This is not a workflow that can run: ${place}${more}`, {
      diagnostics,
    })
  }
  const record: WorkflowRecord = {
    version: versionOf(graph),
    name: graph.name,
    description: graph.description,
    format,
    source: text,
    mediaType,
    importedAt: installation.ports.timer.now(),
    importedBy: from.by,
    nodeCount: graph.nodes.length,
  }
  const isNew = await installation.store.workflows.put(record)
  return { record, graph, diagnostics, isNew }
}
