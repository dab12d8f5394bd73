import { findFile } from '@/lib/runners/file-state'
import { locate } from '@/lib/runners/place'
import { EffectFailed } from '@/lib/runners/runner'
import type { Installation } from './installation'

/** Schemas, policies, scripts and child workflows are texts of at most this length. */
const maxAuthoredBytes = 5 * 1024 * 1024

/**
 * The text of a file that a workflow's author named, where this installation reads such files (`authoredFolders`; a
 * server has none unless it is given some). The file must really lie in one of them, symlinks resolved; on the user's
 * own command line it may lie anywhere, and a relative name is still looked for in these folders. Undefined when there
 * is none to read: nothing, a folder, a device or a pipe stands there, or it is longer than 5 MiB.
 */
export async function readAuthored(
  { authoredFolders, ports: { unconfined } }: Pick<Installation, 'authoredFolders' | 'ports'>,
  name: string,
): Promise<string | undefined> {
  const within = unconfined ? [...authoredFolders, '/'] : authoredFolders
  const roots = within.map((path) => ({ path, access: 'read' as const }))
  for (const folder of authoredFolders) {
    const bounds = { policy: { roots, privateTargets: [] }, installationRoots: [folder, ...within] }
    const found = await fileAt(name, bounds)
    if (found) return found.bytes.toString('utf8')
  }
  return undefined
}

async function fileAt(name: string, bounds: Parameters<typeof locate>[2]) {
  try {
    return await findFile(await locate(name, 'read', bounds), maxAuthoredBytes)
  } catch (error) {
    // Out of bounds, no file, too long: there is none to read. What stands there instead is nobody's business.
    if (error instanceof EffectFailed) return undefined
    throw error
  }
}
