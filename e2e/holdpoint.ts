import { execFile } from 'node:child_process'
import path from 'node:path'
import { root } from './house'

/** Runs the command line as people do; its exit code, and all it printed. */
export function holdpoint(...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    const program = path.join(root, 'lib/cli/holdpoint.mjs')
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out: stdout + stderr }),
    )
  })
}
