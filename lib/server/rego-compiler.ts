import type { CompileRego } from '@/lib/runners/policy-gate'

/** A policy that cannot be evaluated refuses its workflow. */
class NoEvaluator extends Error {
  readonly diagnostics = [
    {
      code: 'rego_unsupported',
      message: 'there is no evaluator here; set HOLDPOINT_OPA_URL',
      line: 1,
      column: 1,
    },
  ]
}

export const compileRego: CompileRego = () => {
  throw new NoEvaluator()
}
