import type { Retry } from '@/lib/workflow/graph'
import type { Visit } from './run'

/** Milliseconds before the attempt after `attempt`; `chance` in [0, 1) decides the jitter. */
export function retryDelayMs(retry: Retry | undefined, attempt: number, chance: number): number {
  if (!retry) return 0
  const grown = retry.linear ? retry.baseMs * attempt : retry.baseMs * retry.factor ** (attempt - 1)
  const delayMs = Math.min(grown, retry.maxMs)
  return Math.round(delayMs * (1 - retry.jitter * chance))
}

/** The number of the attempt that would begin now. */
export function nextAttempt(visit: Visit): number {
  return visit.attempt + 1
}
