/** Tools of packs and what runs them, said in the console: the pack's text with the new binding is a new version of it. */
import { Problem } from '@/lib/base/problem'
import { setBinding } from '@/lib/formats/promptpack/set-binding'
import type { ToolBinding } from '@/lib/workflow/graph'
import type { Installation } from './installation'
import { type Imported, importWorkflow } from './workflows'

export interface BindWish {
  tool: string
  /** Absent: nothing runs it any more. */
  binding: ToolBinding | undefined
  by: string
  /** The newest version that whoever asks has seen. */
  newest?: string
}

/**
 * Binds a tool of that version. Throws Problem `not_found`, `bad_request` where the text has no such tool or is no pack,
 * `workflow_changed` where somebody imported a newer version meanwhile, `workflow_invalid` with the diagnostics.
 */
export async function bindTool(
  installation: Installation,
  version: string,
  wish: BindWish,
): Promise<Imported> {
  const { workflows } = installation.store
  const record = await workflows.get(version)
  if (!record) throw new Problem('not_found', `No workflow version is stored as "${version.slice(0, 60)}"`)
  if (record.format !== 'promptpack') {
    throw new Problem(
      'bad_request',
      `"${record.name}" is no PromptPack; only packs declare tools to be bound.`,
    )
  }
  const [newest] = await workflows.versions(record.name)
  if (wish.newest !== undefined && newest && newest.version !== wish.newest) {
    throw new Problem(
      'workflow_changed',
      `${newest.importedBy} imported a newer version of "${record.name}" meanwhile; open it and bind the tool there.`,
      { newest: newest.version },
    )
  }
  return importWorkflow(installation, setBinding(record.source, wish.tool, wish.binding), { by: wish.by })
}
