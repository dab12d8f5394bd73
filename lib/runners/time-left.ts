import type { Effects } from './runner'

/**
 * Milliseconds for what is asked on behalf of a caller that has so many left: a tenth less, from a millisecond to five
 * seconds, so that what comes too late is known here before the caller stops listening (cascade section 4.5).
 */
export function withMargin(leftMs: number): number {
  return leftMs - Math.min(5_000, Math.max(1, leftMs / 10))
}

/** What one request to somebody else is made under: a step that asks is told before it is out of time itself. */
export function requestTime<T extends Pick<Effects, 'request' | 'signal' | 'until'>>(
  effects: T,
): NonNullable<Effects['request']> | T {
  return effects.request ?? effects
}
