import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { TerminalStatus } from '@/lib/engine/facts'

export interface RunOnceOptions {
  /** Absolute; made with its database and keys when missing. */
  dataDir: string
  keysDir: string
  /** A new run of this text; absent with `resume`. */
  workflow?: { filename: string; text: string }
  /** Id of a run that waits: it goes on if it can. */
  resume?: string
  input?: Json
  start?: string
  dryRun: boolean
  timeoutS?: number
  /** Aborted on Ctrl-C: effects in hand finish, the run stays where it is. */
  signal: AbortSignal
}

/** NOTES 3.17. */
export interface RunOutcome {
  runId: string
  outcome: 'completed' | 'failed' | 'timed_out' | 'paused' | 'errored'
  terminal?: TerminalStatus
  reason?: string
  /** When it is paused: what for, a sentence each. */
  waitsFor?: string[]
  output?: Json
  elapsedS: number
}

/** One run to its end, or until it waits for someone. Throws Problem for what is refused before it begins. */
export async function runOnce(_options: RunOnceOptions): Promise<RunOutcome> {
  throw new Problem('internal', 'Running a workflow from the command line is not there yet; use the console')
}
