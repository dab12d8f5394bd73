/*
 * Telling the faults of a text as diagnostics: each at its place, under the format's own codes, within a bound.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Fault } from './fault'
import { keepDiagnostic, maxDiagnostics } from './kept-diagnostics'
import { escaped } from './strict-json'

export interface Tell {
  (fault: Fault): void
  /** True once no more faults can be kept; looking for words for another would be in vain. */
  isFull(): boolean
}

/** Tells faults into `diagnostics`: codes begin with the format's name, places come from `placeOf`. `placed` makes one without telling it. */
export function telling(
  format: string,
  diagnostics: Diagnostic[],
  placeOf: (path: GraphPath, what: 'name' | 'value') => { line: number; column: number },
): { tell: Tell; placed: (fault: Fault) => Diagnostic } {
  const placed = ({ path, code, message, mend, severity, what }: Fault): Diagnostic => ({
    severity: severity ?? 'error',
    code: `${format}_${code}`,
    message,
    mend,
    ...placeOf(path, what ?? 'value'),
    path: pointerOf(path),
  })
  const keep = (fault: Fault) => keepDiagnostic(diagnostics, fault.severity ?? 'error', () => placed(fault))
  const isFull = () =>
    diagnostics.length >= maxDiagnostics && diagnostics.every(({ severity }) => severity === 'error')
  return { tell: Object.assign(keep, { isFull }), placed }
}

/** A place as a JSON pointer. */
export function pointerOf(path: GraphPath): string {
  return path.map((part) => `/${escaped(String(part))}`).join('')
}
