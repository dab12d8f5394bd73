import type { Run } from './run'

/** The run's first token, which every run that began has. */
export function startJti(run: Run): string {
  if (!run.start) throw new Error('This run has no workflow_start token; nothing can follow it')
  return run.start.jti
}
