/**
 * What is wrong with a text, and where; `info` is worth knowing and nothing to mend. Lines and columns count from 1;
 * columns are UTF-16 units.
 */
export interface Diagnostic {
  severity: 'error' | 'warning' | 'info'
  /** Stable, lower snake case: `atd_cycle`. */
  code: string
  /** What was found and what was expected, in one sentence. */
  message: string
  /** How to mend it, as an imperative sentence. */
  mend: string
  line: number
  column: number
  /** JSON-pointer-like place in the document, `/nodes/2/id`. */
  path: string
}

const weights = { error: 0, warning: 1, info: 2 } as const satisfies Record<Diagnostic['severity'], number>

/** As people read them: errors, then warnings, then notes, each in the order of the text. */
export function worstFirst(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) => weights[a.severity] - weights[b.severity] || a.line - b.line || a.column - b.column,
  )
}
