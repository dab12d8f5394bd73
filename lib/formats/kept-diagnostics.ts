import type { Diagnostic } from '@/lib/base/diagnostic'

/** More are not kept: an author mends the first hundred and asks again. */
export const maxDiagnostics = 100

/**
 * Keeps a diagnostic while there is room. What weighs more takes the place of what weighs less, so that no warning ever
 * hides an error, and no remark a warning.
 */
export function keepDiagnostic(
  kept: Diagnostic[],
  severity: Diagnostic['severity'],
  make: () => Diagnostic,
): void {
  if (kept.length < maxDiagnostics) kept.push(make())
  else {
    const lighter = lighterThan[severity]
      .map((light) => kept.findLastIndex((one) => one.severity === light))
      .find((at) => at >= 0)
    if (lighter !== undefined) kept[lighter] = make()
  }
}

/** What each severity may take the place of, the lightest first. */
const lighterThan = {
  error: ['info', 'warning'],
  warning: ['info'],
  info: [],
} as const satisfies Record<Diagnostic['severity'], readonly Diagnostic['severity'][]>
