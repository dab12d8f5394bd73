import type { CircuitState } from './terms'

/**
 * Until when (ms since the epoch) another circuit's probe of the same downstream is out, at `at`; undefined: there is none.
 * However many callers a downstream has, it is probed by one at a time.
 */
export function probedUntil(
  circuits: readonly { id: string; state: CircuitState }[],
  id: string,
  at: number,
): number | undefined {
  for (const { id: other, state } of circuits) {
    const { calculated } = state
    if (other !== id && calculated.status === 'half_open' && calculated.until > at) return calculated.until
  }
  return undefined
}
