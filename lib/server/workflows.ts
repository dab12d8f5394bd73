/*
 * Workflow versions: immutable, named by the hash of what they say. A text is read here with what only this installation
 * knows: which folders are its own, and which agents are registered. That changes, so it is asked anew each time.
 */

import { canonicalJson } from '@/lib/base/canonical-json'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { Problem } from '@/lib/base/problem'
import { derivedMediaType, type WorkflowRecord } from '@/lib/engine/ports'
import { type ReadWorkflow, readWorkflow, withProblems } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { reachProblems } from '@/lib/policy/reach'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import type { Installation } from './installation'
import { policyFaults } from './policy-faults'
import { unknownChildren } from './unknown-children'

export interface Imported {
  record: WorkflowRecord
  graph: WorkflowGraph
  /** Warnings only: with an error nothing is imported. */
  diagnostics: Diagnostic[]
  /** False when this very version was there already. */
  isNew: boolean
}

/** Reads a workflow text, and warns of what would be refused in this installation as it is now. */
export async function readWorkflowHere(
  installation: Installation,
  text: string,
  filename?: string,
): Promise<ReadWorkflow> {
  const read = readWorkflow(text, filename, nodeKind)
  if (!read.graph) return read
  const callsAgents = read.graph.nodes.some((node) => node.kind === 'agent')
  const registered = callsAgents ? await installation.agents.list() : []
  const problems = reachProblems(read.graph, {
    installationRoots: installation.ports.installationRoots,
    agents: new Set(registered.map(({ id }) => id)),
    wantsNames: !installation.ports.unconfined,
  })
  const children = await unknownChildren(installation, read.graph)
  return { ...read, diagnostics: withProblems(read, [...problems, ...children]) }
}

/** Imports a workflow text as a version. Throws Problem `workflow_invalid` with all diagnostics as its data. */
export async function importWorkflow(
  installation: Installation,
  text: string,
  from: { filename?: string; by: string },
): Promise<Imported> {
  const { graph, format, mediaType, ...found } = await readWorkflowHere(installation, text, from.filename)
  const diagnostics = [...found.diagnostics, ...(graph ? await policyFaults(installation, graph, text) : [])]
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  const [first] = errors
  if (!graph || first) {
    const place = first
      ? `line ${first.line}, column ${first.column}: ${first.message}`
      : 'it could not be read'
    const sentence = `This is not a workflow that can run: ${place}${moreWords(errors.length - 1)}`
    throw new Problem('workflow_invalid', sentence, { diagnostics })
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

/** What follows the first error's sentence: ` There are 3 more errors.` */
function moreWords(more: number): string {
  if (more < 1) return ''
  return more === 1 ? ' There is 1 more error.' : ` There are ${more} more errors.`
}

/** Keeps a graph that was made from a workflow as a version of its own, which stands in no list. */
export async function keepDerived(
  installation: Pick<Installation, 'store' | 'ports'>,
  graph: WorkflowGraph,
  by: string,
): Promise<string> {
  const version = versionOf(graph)
  await installation.store.workflows.put({
    version,
    name: graph.name,
    description: graph.description,
    format: graph.format,
    source: canonicalJson(graph),
    mediaType: derivedMediaType,
    importedAt: installation.ports.timer.now(),
    importedBy: by,
    nodeCount: graph.nodes.length,
  })
  return version
}
