/** Workflows that steps of other workflows name (agentd section 1.45): found, read, checked and pinned. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isProblem } from '@/lib/base/problem'
import type { RunHeader } from '@/lib/engine/ports'
import { type Consequence, narrowed } from '@/lib/nodes/node-kind'
import { nodeKind } from '@/lib/nodes/registry'
import { EffectFailed } from '@/lib/runners/runner'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { Installation } from './installation'
import { importWorkflow } from './workflows'

/** A workflow's text is at most this long. */
const maxTextBytes = 5 * 1024 * 1024

/**
 * The workflow at a path the author declared: a file beside the workflow, where this installation reads authored files
 * (the command line does), else one of the library with that name. Throws EffectFailed `workflow_unknown`,
 * `workflow_invalid`, or `child_pauses`: nobody could resume a child by itself.
 */
export async function loadChild(
  house: Installation,
  workflow: string,
  parent: RunHeader,
): Promise<{ version: string; consequence: Consequence }> {
  const version = (await fromFile(house, workflow, parent)) ?? (await fromLibrary(house, workflow))
  if (version === undefined) {
    throw refused(
      'workflow_unknown',
      `There is no workflow "${workflow.slice(0, 200)}"; import it under that name, or check the path`,
    )
  }
  const { graph } = await house.graphOf(version)
  const pausing = graph.nodes.find((node) => node.kind === 'pause_for_approval')
  if (pausing) {
    throw refused(
      'child_pauses',
      `"${graph.name}" pauses for approval at ${pausing.id}, and only a run of its own may; pause in the workflow that calls it`,
    )
  }
  return { version, consequence: consequenceOfGraph(graph) }
}

async function fromFile(house: Installation, workflow: string, { startedBy }: RunHeader) {
  for (const folder of house.authoredFolders) {
    const file = path.resolve(folder, workflow)
    const bytes = await readFile(file).catch(() => undefined)
    if (!bytes) continue
    if (bytes.byteLength > maxTextBytes)
      throw refused('workflow_invalid', `"${workflow}" is longer than 5 MiB`)
    return imported(house, bytes.toString('utf8'), path.basename(file), startedBy)
  }
  return undefined
}

async function imported(house: Installation, text: string, filename: string, by: string): Promise<string> {
  try {
    return (await importWorkflow(house, text, { filename, by })).record.version
  } catch (error) {
    if (!isProblem(error, 'workflow_invalid')) throw error
    throw refused('workflow_invalid', `"${filename}" cannot be run: ${error.message}`)
  }
}

/** By its name, or by a file name that says the same: `workflows/enrich-a.toml` is `enrich-a` or `enrich_a`. */
async function fromLibrary(house: Installation, workflow: string): Promise<string | undefined> {
  const stem = path.basename(workflow).replace(/(\.atd)?\.(toml|json|ya?ml)$/i, '')
  const plain = (name: string) => name.toLowerCase().replaceAll('-', '_')
  const all = await house.store.workflows.latest()
  const found =
    all.find(({ name }) => name === workflow) ??
    all.find(({ name }) => name === stem) ??
    all.find(({ name }) => plain(name) === plain(stem))
  return found?.version
}

/** A child that only reads is read-only; any other can be taken back as a run, and says there what cannot be. */
function consequenceOfGraph(graph: WorkflowGraph): Consequence {
  const only = graph.nodes.every((node) => {
    const kind = nodeKind(node.kind)
    const config = kind?.config.safeParse(node.config)
    return (
      config?.success === true &&
      kind !== undefined &&
      narrowed(kind.consequence(config.data), node) === 'read_only'
    )
  })
  return only ? 'read_only' : 'reversible'
}

function refused(code: string, sentence: string): EffectFailed {
  return new EffectFailed(code, sentence, { errorType: 'constraint_violation' })
}
