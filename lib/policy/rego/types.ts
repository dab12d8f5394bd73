/*
 * Types that can be known without running: of constants, and of results of built-ins. Where an operand can never have
 * the type that a function takes, or two sides of = can never be equal, OPA refuses the policy; so does this. What
 * cannot be known is any type.
 */
import { dotted, type Expr, type Term, walkTerm } from './ast'
import { letterOf, wordsFor } from './builtins/builtin'
import { builtinNamed } from './builtins/table'
import type { Diagnostics } from './refusal'

type Known = Map<string, string>

/** Checks the statements of a body in order; `*` and unknown names go through. */
export function checkTypes(body: Expr[], diagnostics: Diagnostics, outer: Known = new Map()): void {
  const known: Known = new Map(outer)
  for (const expr of body) {
    const { form } = expr
    for (const term of form.kind === 'unify'
      ? [form.left, form.right]
      : form.kind === 'term'
        ? [form.term]
        : [])
      checkClosures(term, known, diagnostics)
    if (form.kind === 'unify') checkUnify(form.left, form.right, known, diagnostics, !expr.negated)
    if (form.kind === 'call') checkCall(form, known, diagnostics)
    if (form.kind === 'every') checkTypes(form.body, diagnostics, known)
  }
}

function checkClosures(term: Term, known: Known, diagnostics: Diagnostics): void {
  walkTerm(term, (one) => {
    if (!('body' in one)) return undefined
    checkTypes(one.body, diagnostics, known)
    return false
  })
}

function typeOf(term: Term, known: Known): string {
  switch (term.kind) {
    case 'scalar':
      return letterOf(term.value)
    case 'array':
    case 'arrayOf':
      return 'a'
    case 'set':
    case 'setOf':
      return 't'
    case 'object':
    case 'objectOf':
      return 'o'
    case 'var':
      return known.get(term.name) ?? '*'
    default:
      return '*'
  }
}

function common(a: string, b: string): string {
  if (a === '*') return b
  return b === '*' ? a : [...a].filter((one) => b.includes(one)).join('')
}

function checkUnify(left: Term, right: Term, known: Known, diagnostics: Diagnostics, learn: boolean): void {
  const types = common(typeOf(left, known), typeOf(right, known))
  if (types === '') {
    const words = `${wordsFor(typeOf(left, known))} and ${wordsFor(typeOf(right, known))}`
    diagnostics.add('rego_type_error', `These can never be equal: ${words}`, right.at)
    return
  }
  if (learn) for (const side of [left, right]) if (side.kind === 'var') known.set(side.name, types)
  if (left.kind === 'array' && right.kind === 'array') {
    if (left.items.length !== right.items.length)
      diagnostics.add(
        'rego_type_error',
        'These arrays have different lengths and can never be equal',
        right.at,
      )
    else
      for (const [i, item] of left.items.entries())
        checkUnify(item, right.items[i] as Term, known, diagnostics, learn)
  }
}

function checkCall(
  form: Extract<Expr['form'], { kind: 'call' }>,
  known: Known,
  diagnostics: Diagnostics,
): void {
  const builtin =
    form.op.kind === 'ref' && form.op.head.kind === 'root' ? undefined : builtinNamed(dotted(form.op) ?? '')
  if (!builtin) return
  for (const [i, arg] of form.args.entries()) {
    // The wrong number of arguments is told elsewhere.
    const takes = builtin.args[i] ?? '*'
    if (common(takes, typeOf(arg, known)) === '') {
      const has = wordsFor(typeOf(arg, known))
      diagnostics.add(
        'rego_type_error',
        `${builtin.name} takes ${wordsFor(takes)} as argument ${i + 1}, which is ${has} here`,
        arg.at,
      )
    }
  }
  if (form.out)
    checkUnify(
      form.out,
      { kind: 'var', name: ' result', at: form.out.at },
      new Map([...known, [' result', builtin.result]]),
      diagnostics,
      false,
    )
  if (form.out?.kind === 'var' && builtin.result !== '*')
    known.set(form.out.name, common(known.get(form.out.name) ?? '*', builtin.result))
}
