import type { ComparedVisit, RunDifference } from '@/lib/view/compare-runs'

/** What of a visit differs: "output, test_report differ", "only in A", "the same". */
export function differenceWords({ a, b, differs }: ComparedVisit): string {
  if (!b) return 'only in A'
  if (!a) return 'only in B'
  if (differs.length === 0) return 'the same'
  return `${differs.map(nameOf).join(', ')} ${differs.length === 1 ? 'differs' : 'differ'}`
}

export function nameOf(difference: RunDifference): string {
  return typeof difference === 'string' ? difference : difference.artifact
}

/** How one value of a visit stands. `missing`: run A has none, so where it does not differ neither run has one. */
export function standingWords({ a, b }: ComparedVisit, differs: boolean, missing: boolean): string {
  if (!b) return 'only in A'
  if (!a) return 'only in B'
  if (differs) return 'differs'
  return missing ? 'missing in both' : 'the same'
}
