/** Seconds an operator's rollback may take unless the operator says otherwise. */
export const DEFAULT_ROLLBACK_S = 60
/** The most that one may say, in seconds. */
export const MAX_ROLLBACK_S = 24 * 3_600

/**
 * When a rollback is out of time, in ms: the operator's deadline, but never later than half the shortest `ttl` of the
 * checkpoints it uses (NOTES 3.6). Passing it emits a `timeout` error and escalates.
 */
export function rollbackDeadline(
  now: number,
  ttlsS: readonly number[],
  operatorS: number = DEFAULT_ROLLBACK_S,
): number {
  const shortestS = ttlsS.reduce((least, ttlS) => Math.min(least, ttlS / 2), operatorS)
  return now + Math.floor(shortestS * 1000)
}
