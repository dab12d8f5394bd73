/*
 * The second rewriting: calls, and later references and comprehensions, leave the terms they stand in and become
 * statements of their own before the one that uses them. `f(g(x)) > 1` becomes `a = g(x); b = f(a); b > 1`. What a
 * statement means when a part of it is undefined follows from this, negated statements included: `not f(input.x)` is
 * undefined, not true, when input.x is, just as in OPA.
 */
import type { Clause, Expr, Form, Term, With } from './ast'
import { walkTerm } from './ast'
import type { Fresh } from './names'

/** Takes calls out of terms, and heads of comprehensions that need evaluation into their bodies. */
export class CallExpander {
  constructor(readonly fresh: Fresh) {}

  clause(
    clause: Clause,
    args: Term[],
    head: { path: Term[]; key?: Term },
  ): { args: Term[]; path: Term[]; key?: Term } {
    const body = this.body(clause.body)
    const move = (term: Term): Term => {
      const before: Expr[] = []
      let moved = this.term(term, before)
      body.push(...before)
      if (needsEvaluation(moved)) {
        const local = this.fresh.var(term.at)
        body.push(unify(local, moved, []))
        moved = local
      }
      return moved
    }
    const moved = { args: args.map(move), path: head.path.map(move), key: head.key && move(head.key) }
    clause.value = move(clause.value)
    clause.body = body
    return moved
  }

  body(body: Expr[]): Expr[] {
    return body.flatMap((expr) => this.#expr(expr))
  }

  #expr(expr: Expr): Expr[] {
    const out: Expr[] = []
    const withs: With[] = expr.with.map((one) => {
      let value = this.term(one.value, out)
      if (needsEvaluation(value)) {
        const local = this.fresh.var(value.at)
        out.push(unify(local, value, []))
        value = local
      }
      return { ...one, value }
    })
    const before: Expr[] = []
    const form = this.#form(expr.form, before, withs)
    for (const one of before) out.push({ ...one, with: withs })
    out.push({ ...expr, with: withs, form })
    return out
  }

  #form(form: Form, before: Expr[], withs: With[]): Form {
    switch (form.kind) {
      case 'term': {
        const term = this.term(form.term, before)
        return { kind: 'term', term }
      }
      case 'unify':
        return { kind: 'unify', left: this.term(form.left, before), right: this.term(form.right, before) }
      case 'call':
        return { ...form, args: form.args.map((arg) => this.term(arg, before)) }
      case 'every': {
        const domain = this.fresh.var(form.domain.at)
        before.push(...this.#expr(unify(domain, form.domain, withs)))
        return { ...form, domain, body: this.body(form.body) }
      }
      default:
        return form
    }
  }

  /** The term without calls; the calls go to `before`. */
  term(term: Term, before: Expr[]): Term {
    switch (term.kind) {
      case 'call': {
        const args = term.args.map((arg) => this.term(arg, before))
        const out = this.fresh.var(term.at)
        before.push({ at: term.at, negated: false, with: [], form: { kind: 'call', op: term.op, args, out } })
        return out
      }
      case 'ref': {
        let head = this.term(term.head, before)
        const path = term.path.map((part) => this.term(part, before))
        if (head.kind !== 'var' && head.kind !== 'root') {
          const local = this.fresh.var(head.at)
          before.push(unify(local, head, []))
          head = local
        }
        return { ...term, head, path }
      }
      case 'array':
      case 'set':
        return { ...term, items: term.items.map((item) => this.term(item, before)) }
      case 'object':
        return {
          ...term,
          entries: term.entries.map(([k, v]) => [this.term(k, before), this.term(v, before)]),
        }
      case 'arrayOf':
      case 'setOf': {
        const inner: Expr[] = []
        const head = this.#closureHead(this.term(term.term, inner), inner)
        return { ...term, term: head, body: [...this.body(term.body), ...inner] }
      }
      case 'objectOf': {
        const inner: Expr[] = []
        const key = this.#closureHead(this.term(term.key, inner), inner)
        const value = this.#closureHead(this.term(term.value, inner), inner)
        return { ...term, key, value, body: [...this.body(term.body), ...inner] }
      }
      default:
        return term
    }
  }

  #closureHead(head: Term, into: Expr[]): Term {
    if (!needsEvaluation(head)) return head
    const local = this.fresh.var(head.at)
    into.push(unify(local, head, []))
    return local
  }
}

export function unify(left: Term, right: Term, withs: With[]): Expr {
  return { at: right.at, negated: false, with: withs, form: { kind: 'unify', left, right } }
}

/** True for terms with references or comprehensions in them. */
export function needsEvaluation(term: Term): boolean {
  let found = false
  walkTerm(term, (one) => {
    if (one.kind === 'ref' || one.kind === 'root' || 'body' in one) found = true
    return !found
  })
  return found
}

/** After bodies are in order: == becomes =, and references inside of terms become statements. */
export class ReferenceExpander {
  constructor(
    readonly fresh: Fresh,
    /** Queries keep ==, which gives true or false there. */
    readonly keepEqual: boolean,
  ) {}

  body(body: Expr[]): Expr[] {
    return body.flatMap((expr) => {
      const out: Expr[] = []
      const form = this.#form(this.#equality(expr.form), expr, out)
      out.push({ ...expr, form })
      return out
    })
  }

  #equality(form: Form): Form {
    const plain = form.kind === 'call' && form.op.kind === 'var' && form.op.name === 'equal' && !form.out
    if (this.keepEqual || !plain || form.args.length !== 2) return form
    return { kind: 'unify', left: form.args[0] as Term, right: form.args[1] as Term }
  }

  #form(form: Form, expr: Expr, out: Expr[]): Form {
    switch (form.kind) {
      case 'unify':
        return {
          kind: 'unify',
          left: this.#shallow(form.left, expr, out),
          right: this.#shallow(form.right, expr, out),
        }
      case 'term':
        return { kind: 'term', term: this.#shallow(form.term, expr, out) }
      case 'call': {
        const args = form.args.map((arg) => this.#deep(arg, expr, out))
        return { ...form, args, out: form.out && this.#deep(form.out, expr, out) }
      }
      case 'every':
        return { ...form, domain: this.#deep(form.domain, expr, out), body: this.body(form.body) }
      default:
        return form
    }
  }

  /** A reference or comprehension may stay where it is; only what is inside of it moves. */
  #shallow(term: Term, expr: Expr, out: Expr[]): Term {
    if (term.kind === 'ref') return { ...term, path: term.path.map((part) => this.#deep(part, expr, out)) }
    if (term.kind === 'root') return term
    if ('body' in term) return { ...term, body: this.body(term.body) }
    return this.#deep(term, expr, out)
  }

  #deep(term: Term, expr: Expr, out: Expr[]): Term {
    switch (term.kind) {
      case 'ref':
      case 'root':
      case 'arrayOf':
      case 'setOf':
      case 'objectOf': {
        const whole = this.#shallow(term, expr, out)
        const local = this.fresh.var(term.at)
        out.push(unify(local, whole, expr.with))
        return local
      }
      case 'array':
      case 'set':
        return { ...term, items: term.items.map((item) => this.#deep(item, expr, out)) }
      case 'object':
        return {
          ...term,
          entries: term.entries.map(([k, v]) => [this.#deep(k, expr, out), this.#deep(v, expr, out)]),
        }
      default:
        return term
    }
  }
}
