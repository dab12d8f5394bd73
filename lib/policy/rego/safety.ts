/*
 * Puts the statements of a body into an order in which every variable is bound before it is needed, the way OPA does:
 * again and again the first statement whose variables are all known or its own outputs is taken. What cannot be taken
 * is unsafe. The order decides in which sequence a body enumerates, so arrays made by comprehensions depend on it.
 */
import { type Expr, type Term, termsOf, walkTerm } from './ast'

type Names = Set<string>

/** How many inputs an operator takes, or undefined for an unknown one. */
export type Arity = (op: Term) => number | undefined

export interface Unsafe {
  name: string
  at: Expr
}

/** The reordered body; `unsafe` receives the variables that nothing binds. Closures are reordered in place. */
export function reorder(body: Expr[], globals: Names, arity: Arity, unsafe: Unsafe[]): Expr[] {
  const bodyVars: Names = new Set()
  const open = new Map<Expr, Names>()
  const safe: Names = new Set()
  for (const expr of body) {
    const own = varsOf(expr)
    const missing: Names = new Set()
    for (const name of own) {
      bodyVars.add(name)
      if (globals.has(name)) safe.add(name)
      else missing.add(name)
    }
    open.set(expr, missing)
  }
  // Closures may use globals that the body's own statements do not mention.
  for (const name of globals) safe.add(name)
  const done: Expr[] = []
  for (let before = -1; before < done.length && open.size > 0; ) {
    before = done.length
    for (const expr of body) {
      const missing = open.get(expr)
      if (!missing) continue
      const outputs = outputsOf(expr, safe, arity)
      const closed = [...closureVars(expr)].filter((name) => bodyVars.has(name) && !globals.has(name))
      const known = outputsOfBody(done, globals, arity)
      const waiting = closed.filter((name) => !known.has(name))
      if (waiting.length > 0) {
        if (waiting.length === outputs.size && waiting.every((name) => outputs.has(name))) continue
        for (const name of waiting) missing.add(name)
      }
      for (const name of missing) if (outputs.has(name) || safe.has(name)) missing.delete(name)
      // A variable of a closure is only known once a statement before this one binds it.
      for (const name of waiting) missing.add(name)
      if (missing.size > 0) continue
      open.delete(expr)
      done.push(expr)
      for (const name of outputs) safe.add(name)
    }
  }
  for (const [expr, missing] of open) for (const name of missing) unsafe.push({ name, at: expr })
  const seen = new Set(globals)
  for (const [i, expr] of done.entries()) {
    if (i > 0) for (const name of varsOf(done[i - 1] as Expr)) seen.add(name)
    reorderClosures(expr, seen, arity, unsafe)
  }
  return [...done, ...open.keys()]
}

function reorderClosures(expr: Expr, globals: Names, arity: Arity, unsafe: Unsafe[]): void {
  const visit = (term: Term): void =>
    walkTerm(term, (one) => {
      if (!('body' in one)) return undefined
      const heads = one.kind === 'objectOf' ? [one.key, one.value] : [one.term]
      const known = new Set(globals)
      for (const inner of one.body) for (const name of varsOf(inner)) known.add(name)
      for (const head of heads)
        for (const name of varsOfTerm(head)) if (!known.has(name)) unsafe.push({ name, at: expr })
      one.body = reorder(one.body, globals, arity, unsafe)
      return false
    })
  for (const term of termsOf(expr.form)) visit(term)
  for (const one of expr.with) visit(one.value)
  if (expr.form.kind === 'every') {
    const inner = new Set(globals)
    for (const one of [expr.form.key, expr.form.value]) if (one?.kind === 'var') inner.add(one.name)
    expr.form.body = reorder(expr.form.body, inner, arity, unsafe)
  }
}

/** Variables of a term, closures not counted. */
export function varsOfTerm(
  term: Term,
  skip: { refHeads?: boolean; keys?: boolean; sets?: boolean } = {},
): Names {
  const names: Names = new Set()
  const visit = (one: Term): boolean | undefined => {
    if (one.kind === 'var') names.add(one.name)
    if ('body' in one) return false
    if (one.kind === 'set' && skip.sets) return false
    if (one.kind === 'ref' && skip.refHeads) {
      for (const part of one.path) walkTerm(part, visit)
      return false
    }
    if (one.kind === 'object' && skip.keys) {
      for (const [, value] of one.entries) walkTerm(value, visit)
      return false
    }
    return undefined
  }
  walkTerm(term, visit)
  return names
}

function varsOf(expr: Expr): Names {
  const names: Names = new Set()
  const add = (term: Term): void => {
    for (const name of varsOfTerm(term)) names.add(name)
  }
  const { form } = expr
  if (form.kind === 'every') add(form.domain)
  else if (form.kind === 'call') {
    for (const arg of form.args) add(arg)
    if (form.out) add(form.out)
  } else for (const term of termsOf(form)) add(term)
  for (const one of expr.with) {
    add(one.target)
    add(one.value)
  }
  return names
}

/** Every variable inside the closures of a statement. */
function closureVars(expr: Expr): Names {
  const names: Names = new Set()
  const all = (term: Term): void =>
    walkTerm(term, (one) => {
      if (one.kind === 'var') names.add(one.name)
      if (one.kind === 'call') {
        for (const arg of one.args) all(arg)
        return false
      }
      return undefined
    })
  const wholeBody = (body: Expr[]): void => {
    for (const inner of body) {
      const { form } = inner
      if (form.kind === 'call') {
        for (const arg of form.args) all(arg)
        if (form.out) all(form.out)
      } else for (const term of termsOf(form)) all(term)
      if (form.kind === 'every') wholeBody(form.body)
      for (const one of inner.with) {
        all(one.target)
        all(one.value)
      }
    }
  }
  const outer = (term: Term): void =>
    walkTerm(term, (one) => {
      if (!('body' in one)) return undefined
      if (one.kind === 'objectOf') {
        all(one.key)
        all(one.value)
      } else all(one.term)
      wholeBody(one.body)
      return false
    })
  for (const term of termsOf(expr.form)) outer(term)
  for (const one of expr.with) outer(one.value)
  if (expr.form.kind === 'every') wholeBody(expr.form.body)
  return names
}

function outputsOfBody(body: Expr[], safe: Names, arity: Arity): Names {
  const known = new Set(safe)
  for (const expr of body) for (const name of outputsOf(expr, known, arity)) known.add(name)
  return known
}

/** The variables that a statement binds when those in `safe` are bound. */
function outputsOf(expr: Expr, safe: Names, arity: Arity): Names {
  if (expr.negated) return new Set()
  for (const one of expr.with) {
    for (const term of [one.target, one.value])
      for (const name of varsOfTerm(term)) if (!safe.has(name)) return new Set()
  }
  const { form } = expr
  switch (form.kind) {
    case 'unify':
      return unifyOutputs(form.left, form.right, safe)
    case 'call':
      return callOutputs(form, safe, arity)
    case 'term':
      return refOutputs([form.term], safe)
    case 'every':
      return refOutputs([form.domain], safe)
    default:
      return new Set()
  }
}

function refOutputs(terms: Term[], safe: Names): Names {
  const outputs: Names = new Set()
  for (const term of terms)
    walkTerm(term, (one) => {
      if ('body' in one) return false
      if (one.kind !== 'ref') return undefined
      if (one.head.kind === 'var' && !safe.has(one.head.name)) return false
      for (const part of one.path) for (const name of varsOfTerm(part, { refHeads: true })) outputs.add(name)
      return undefined
    })
  return outputs
}

function callOutputs(form: Extract<Expr['form'], { kind: 'call' }>, safe: Names, arity: Arity): Names {
  if (arity(form.op) === undefined) return new Set()
  const all = form.out ? [...form.args, form.out] : form.args
  const outputs = refOutputs(all, safe)
  if (!form.out) return outputs
  const skip = { refHeads: true, keys: true, sets: true }
  for (const arg of form.args)
    for (const name of varsOfTerm(arg, skip)) if (!outputs.has(name) && !safe.has(name)) return new Set()
  for (const name of varsOfTerm(form.out, skip)) outputs.add(name)
  return outputs
}

function unifyOutputs(left: Term, right: Term, safe: Names): Names {
  const known = refOutputs([left, right], safe)
  for (const name of safe) known.add(name)
  const unifier = new Unifier(known)
  unifier.unify(left, right)
  const outputs: Names = new Set()
  for (const name of [...known, ...unifier.unified]) if (!safe.has(name)) outputs.add(name)
  return outputs
}

/** Which variables become known when two terms are made equal. */
class Unifier {
  readonly unified: Names = new Set()
  readonly #waits = new Map<string, Names>()

  constructor(readonly safe: Names) {}

  unify(a: Term, b: Term): void {
    if (a.kind === 'var') return this.#variable(a.name, b)
    if (b.kind === 'var') return this.#variable(b.name, a)
    if (this.#gives(a)) return this.#all(b)
    if (this.#gives(b)) return this.#all(a)
    if (a.kind === 'array' && b.kind === 'array') {
      if (a.items.length !== b.items.length) return
      for (const [i, item] of a.items.entries()) this.unify(item, b.items[i] as Term)
    }
    if (a.kind === 'object' && b.kind === 'object' && a.entries.length === b.entries.length) {
      for (const [key, value] of a.entries) {
        const other = b.entries.find(([one]) => sameTerm(one, key))
        if (other) this.unify(value, other[1])
      }
    }
  }

  /** A reference with a known head, or a comprehension, gives a value without anything from the other side. */
  #gives(term: Term): boolean {
    if (term.kind === 'root') return true
    if (term.kind === 'ref')
      return term.head.kind === 'root' || (term.head.kind === 'var' && this.#isSafe(term.head.name))
    return term.kind === 'arrayOf' || term.kind === 'objectOf'
  }

  #variable(name: string, other: Term): void {
    if (other.kind === 'var') {
      if (this.#isSafe(other.name)) this.#mark(name)
      else if (this.#isSafe(name)) this.#mark(other.name)
      else {
        this.#wait(name, other.name)
        this.#wait(other.name, name)
      }
    } else if (other.kind === 'array' || other.kind === 'object') {
      if (this.#isSafe(name)) return this.#all(other)
      const missing = [...varsOfTerm(other, { refHeads: true, keys: true })].filter(
        (one) => !this.#isSafe(one),
      )
      if (missing.length === 0) this.#mark(name)
      else for (const one of missing) this.#wait(name, one)
    } else if (other.kind !== 'ref' || this.#gives(other)) this.#mark(name)
  }

  #all(term: Term): void {
    if (term.kind !== 'array' && term.kind !== 'object') return
    for (const name of varsOfTerm(term, { refHeads: true, keys: true })) this.#mark(name)
  }

  #isSafe(name: string): boolean {
    return this.safe.has(name) || this.unified.has(name)
  }

  #wait(name: string, on: string): void {
    const waits = this.#waits.get(name) ?? new Set()
    waits.add(on)
    this.#waits.set(name, waits)
  }

  #mark(name: string): void {
    if (this.unified.has(name)) return
    this.unified.add(name)
    const inside = this.#waits.get(name) ?? new Set()
    this.#waits.delete(name)
    for (const one of inside) this.#mark(one)
    for (const [other, waits] of [...this.#waits]) {
      if (!waits.delete(name) || waits.size > 0) continue
      this.#waits.delete(other)
      this.#mark(other)
    }
  }
}

function sameTerm(a: Term, b: Term): boolean {
  if (a.kind === 'scalar' && b.kind === 'scalar') return a.value === b.value
  return a.kind === 'var' && b.kind === 'var' && a.name === b.name
}
