/*
 * The command line: `npx holdpoint …`. What there is to say stands in command-line.ts.
 *
 * Standard output is the answer (for people, or JSON with --json); everything else goes to standard error. Exit codes
 * are in exit-codes.ts. A command returns its code; only the launcher ends the process.
 */

import { CommanderError } from 'commander'
import { Problem } from '@/lib/base/problem'
import { commandLine } from './command-line'
import { exitCode } from './exit-codes'
import { UsageError } from './usage-error'

/** Runs one command line (without `node` and the script) and returns its exit code. Never throws for what users do. */
export async function main(args: string[]): Promise<number> {
  let code: number = exitCode.ok
  const program = commandLine((result) => {
    code = result
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return told(error)
  }
}

/** Says what went wrong in one sentence, and returns the exit code for it. */
function told(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version were printed; everything else has been said by Commander.
    return error.exitCode === 0 ? exitCode.ok : exitCode.usage
  }
  if (error instanceof UsageError) {
    console.error(`holdpoint: ${error.message}`)
    return exitCode.usage
  }
  if (error instanceof Problem) {
    console.error(`holdpoint: ${error.message} (${error.code})`)
    return exitCode.failed
  }
  console.error('holdpoint: an error that should not happen:', error)
  return exitCode.failed
}
