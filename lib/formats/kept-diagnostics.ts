import type { Diagnostic } from '@/lib/base/diagnostic'

/** More are not kept: an author mends the first hundred and asks again. */
export const maxDiagnostics = 100

/** Keeps a diagnostic while there is room. An error takes the place of a warning, so that no warning ever hides one. */
export function keepDiagnostic(
  kept: Diagnostic[],
  severity: Diagnostic['severity'],
  make: () => Diagnostic,
): void {
  if (kept.length < maxDiagnostics) kept.push(make())
  else if (severity === 'error') {
    const warning = kept.findLastIndex((one) => one.severity === 'warning')
    if (warning >= 0) kept[warning] = make()
  }
}
