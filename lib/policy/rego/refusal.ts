/**
 * What is wrong with a policy, before it runs. Lines and columns count from 1; columns are UTF-16 units.
 * `code` is stable, lower snake case, and uses OPA's own word where OPA refuses for the same reason
 * (`rego_parse_error`, `rego_compile_error`, `rego_unsafe_var_error`, `rego_recursion_error`, `rego_type_error`);
 * `rego_unsupported` marks what OPA might accept and this evaluator does not know.
 */
export interface RegoDiagnostic {
  code: RefusalCode
  message: string
  line: number
  column: number
  /** The name of the source it was found in. */
  source: string
}

export type RefusalCode =
  | 'rego_parse_error'
  | 'rego_compile_error'
  | 'rego_unsafe_var_error'
  | 'rego_recursion_error'
  | 'rego_type_error'
  | 'rego_unsupported'

/** A place in a source. */
export interface Place {
  source: string
  line: number
  column: number
}

/** The policy cannot be loaded; carries every diagnostic that was found. */
export class RegoRefused extends Error {
  constructor(readonly diagnostics: RegoDiagnostic[]) {
    super(diagnostics.map((one) => `${one.source}:${one.line}:${one.column}: ${one.message}`).join('\n'))
    this.name = 'RegoRefused'
  }
}

export type FailureCode =
  | 'eval_conflict_error'
  | 'eval_builtin_error'
  | 'eval_type_error'
  | 'eval_with_merge_error'
  | 'eval_bound'
  | 'eval_unsupported'

/** The evaluation ended without an answer; whoever asked must read it as a denial. */
export class RegoFailed extends Error {
  constructor(
    readonly code: FailureCode,
    message: string,
    readonly place?: Place,
  ) {
    super(place ? `${place.source}:${place.line}:${place.column}: ${message}` : message)
    this.name = 'RegoFailed'
  }
}

/**
 * A built-in function could not answer for these operands. As in OPA the call is then undefined and evaluation goes
 * on; only strict evaluation turns it into a failure.
 */
export class BuiltinError extends Error {
  constructor(
    message: string,
    readonly code: 'eval_builtin_error' | 'eval_type_error' = 'eval_builtin_error',
  ) {
    super(message)
    this.name = 'BuiltinError'
  }
}

/** Collects diagnostics while a source is read and checked. */
export class Diagnostics {
  readonly found: RegoDiagnostic[] = []

  add(code: RefusalCode, message: string, place: Place): void {
    // 100 tell the story; a hostile source must not make a report of its own size.
    if (this.found.length < 100) this.found.push({ code, message, ...pick(place) })
  }

  /** Throws RegoRefused when anything was found. */
  throwIfAny(): void {
    if (this.found.length > 0) throw new RegoRefused(this.found)
  }
}

function pick(place: Place): Place {
  return { source: place.source, line: place.line, column: place.column }
}
