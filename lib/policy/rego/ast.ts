/*
 * What a policy says, as a tree. The parser makes it; the compiler rewrites it (names resolved, calls taken out of
 * terms, bodies in an order in which every variable is known when it is needed) before anything runs.
 */
import type { Place } from './refusal'
import type { Value } from './values'

export type Term = { at: Place } & (
  | { kind: 'scalar'; value: Value }
  | { kind: 'var'; name: string }
  | { kind: 'root'; name: 'input' | 'data' }
  | { kind: 'ref'; head: Term; path: Term[] }
  | { kind: 'array'; items: Term[] }
  | { kind: 'object'; entries: [Term, Term][] }
  | { kind: 'set'; items: Term[] }
  | { kind: 'call'; op: Term; args: Term[] }
  | { kind: 'arrayOf' | 'setOf'; term: Term; body: Expr[] }
  | { kind: 'objectOf'; key: Term; value: Term; body: Expr[] }
)
export type Comprehension = Extract<Term, { kind: 'arrayOf' | 'setOf' | 'objectOf' }>

export interface With {
  target: Term
  value: Term
  at: Place
}

export type Form =
  | { kind: 'term'; term: Term }
  | { kind: 'unify'; left: Term; right: Term }
  | { kind: 'assign'; left: Term; right: Term }
  /** `out` receives the result, `explicit` when it was written as one argument more; without it the call must hold. */
  | { kind: 'call'; op: Term; args: Term[]; out?: Term; explicit?: boolean }
  | { kind: 'some'; names: { name: string; at: Place }[] }
  | { kind: 'someIn'; key?: Term; value: Term; domain: Term }
  | { kind: 'every'; key?: Term; value: Term; domain: Term; body: Expr[] }

export interface Expr {
  at: Place
  negated: boolean
  with: With[]
  form: Form
}

/** One clause of a rule; `else` clauses hang on it in order. */
export interface Clause {
  at: Place
  value: Term
  body: Expr[]
}

export interface Rule {
  at: Place
  /** `allow`, or `a.b[x].c`: the first part is a name. */
  name: string
  path: Term[]
  /** For functions. */
  args?: Term[]
  /** For `p contains key`. */
  key?: Term
  /** `default p := …`. */
  isDefault: boolean
  /** The clause and its elses. A multi-value rule has one clause, whose value is not looked at. */
  clauses: Clause[]
}

export interface Import {
  at: Place
  path: string[]
  alias: string
}

export interface Module {
  source: string
  package: string[]
  imports: Import[]
  rules: Rule[]
}

/** Operators as the names of the functions they stand for. */
export const operators: Record<string, string> = {
  '==': 'equal',
  '!=': 'neq',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
  '+': 'plus',
  '-': 'minus',
  '*': 'mul',
  '/': 'div',
  '%': 'rem',
  '&': 'and',
  '|': 'or',
}

/** The dotted name that an operator term spells, or undefined. */
export function dotted(op: Term): string | undefined {
  if (op.kind === 'var') return op.name
  if (op.kind !== 'ref') return undefined
  const parts: string[] = []
  if (op.head.kind === 'var' || op.head.kind === 'root') parts.push(op.head.name)
  else return undefined
  for (const part of op.path) {
    if (part.kind !== 'scalar' || typeof part.value !== 'string') return undefined
    parts.push(part.value)
  }
  return parts.join('.')
}

/** Visits a term and every term in it, closures included unless told otherwise. Return false to not go below. */
export function walkTerm(term: Term, visit: (term: Term) => boolean | undefined): void {
  if (visit(term) === false) return
  switch (term.kind) {
    case 'ref':
      // The root alone would stand for the whole document.
      if (term.head.kind !== 'root') walkTerm(term.head, visit)
      for (const part of term.path) walkTerm(part, visit)
      return
    case 'array':
    case 'set':
      for (const item of term.items) walkTerm(item, visit)
      return
    case 'object':
      for (const [key, value] of term.entries) {
        walkTerm(key, visit)
        walkTerm(value, visit)
      }
      return
    case 'call':
      walkTerm(term.op, visit)
      for (const arg of term.args) walkTerm(arg, visit)
      return
    case 'arrayOf':
    case 'setOf':
      walkTerm(term.term, visit)
      walkBody(term.body, visit)
      return
    case 'objectOf':
      walkTerm(term.key, visit)
      walkTerm(term.value, visit)
      walkBody(term.body, visit)
      return
  }
}

/** Visits every term of a body, `with` included. */
export function walkBody(body: Expr[], visit: (term: Term) => boolean | undefined): void {
  for (const expr of body) {
    for (const term of termsOf(expr.form)) walkTerm(term, visit)
    if (expr.form.kind === 'every') walkBody(expr.form.body, visit)
    for (const one of expr.with) {
      walkTerm(one.target, visit)
      walkTerm(one.value, visit)
    }
  }
}

/** The terms a form consists of; the body of `every` is not among them. */
export function termsOf(form: Form): Term[] {
  switch (form.kind) {
    case 'term':
      return [form.term]
    case 'unify':
    case 'assign':
      return [form.left, form.right]
    case 'call':
      return form.out ? [form.op, ...form.args, form.out] : [form.op, ...form.args]
    case 'some':
      return []
    case 'someIn':
    case 'every':
      return form.key ? [form.key, form.value, form.domain] : [form.value, form.domain]
  }
}

/** A copy that shares nothing that a rewriting changes. */
export function cloneTerm(term: Term): Term {
  switch (term.kind) {
    case 'ref':
      return { ...term, head: cloneTerm(term.head), path: term.path.map(cloneTerm) }
    case 'array':
    case 'set':
      return { ...term, items: term.items.map(cloneTerm) }
    case 'object':
      return { ...term, entries: term.entries.map(([key, value]) => [cloneTerm(key), cloneTerm(value)]) }
    case 'call':
      return { ...term, op: cloneTerm(term.op), args: term.args.map(cloneTerm) }
    case 'arrayOf':
    case 'setOf':
      return { ...term, term: cloneTerm(term.term), body: term.body.map(cloneExpr) }
    case 'objectOf':
      return {
        ...term,
        key: cloneTerm(term.key),
        value: cloneTerm(term.value),
        body: term.body.map(cloneExpr),
      }
    default:
      return { ...term }
  }
}

function cloneExpr(expr: Expr): Expr {
  const withs = expr.with.map((one) => ({
    ...one,
    target: cloneTerm(one.target),
    value: cloneTerm(one.value),
  }))
  return { ...expr, with: withs, form: cloneForm(expr.form) }
}

function cloneForm(form: Form): Form {
  switch (form.kind) {
    case 'term':
      return { kind: 'term', term: cloneTerm(form.term) }
    case 'unify':
    case 'assign':
      return { ...form, left: cloneTerm(form.left), right: cloneTerm(form.right) }
    case 'call':
      return {
        ...form,
        op: cloneTerm(form.op),
        args: form.args.map(cloneTerm),
        out: form.out && cloneTerm(form.out),
      }
    case 'some':
      return { ...form, names: form.names.map((one) => ({ ...one })) }
    case 'someIn':
      return {
        ...form,
        key: form.key && cloneTerm(form.key),
        value: cloneTerm(form.value),
        domain: cloneTerm(form.domain),
      }
    case 'every':
      return {
        ...form,
        key: form.key && cloneTerm(form.key),
        value: cloneTerm(form.value),
        domain: cloneTerm(form.domain),
        body: form.body.map(cloneExpr),
      }
  }
}
