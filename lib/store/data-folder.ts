import fs from 'node:fs'
import path from 'node:path'
import { Problem } from '@/lib/base/problem'
import { asStoreProblem } from './sqlite-problem'

/**
 * Makes the data folder and what is missing above it, for its owner alone (mode 0700). Throws Problem `store_read_only`
 * or `store_full`. Folder by folder, because Node's recursive mkdir never returns on file systems that answer "no such
 * file" to every attempt (/proc, some network mounts).
 */
export function makeDataFolder(folder: string): void {
  if (fs.existsSync(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeDataFolder(parent)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    // Another process was as quick.
    if (code === 'EEXIST' && fs.statSync(folder).isDirectory()) return
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST') {
      throw new Problem(
        'store_read_only',
        `The data folder ${folder} cannot be made: ${parent} takes no folders (${code}); name a data folder on a disk that can be written to`,
        { folder },
      )
    }
    throw asStoreProblem(error, folder)
  }
}
