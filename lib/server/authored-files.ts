import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Installation } from './installation'

/** Schemas, policies, scripts and child workflows are texts of at most this length. */
const maxAuthoredBytes = 5 * 1024 * 1024

/**
 * The text of a file that a workflow's author named, where this installation reads such files (`authoredFolders`; a
 * server has none unless it is given some). Undefined when there is none to read, or it is longer than 5 MiB.
 */
export async function readAuthored(
  { authoredFolders }: Pick<Installation, 'authoredFolders'>,
  name: string,
): Promise<string | undefined> {
  for (const folder of authoredFolders) {
    const bytes = await readFile(path.resolve(folder, name)).catch(() => undefined)
    if (bytes && bytes.byteLength <= maxAuthoredBytes) return bytes.toString('utf8')
  }
  return undefined
}
