/*
 * Names declared with :=, some or every get a spelling of their own (`x#3`), so that later steps need not know about
 * scopes.
 */
import { type Clause, type Expr, type Form, type Term, walkBody, walkTerm } from './ast'
import { collectVars, type Fresh } from './names'
import type { Diagnostics, Place } from './refusal'

type Occurrence = 'argument' | 'seen' | 'assigned' | 'declared'

class Scope {
  readonly names = new Map<string, { to: string; how: Occurrence }>()
}

/** Gives declared names a spelling of their own and turns := into =, some … in into a reference, in place. */
export class Renamer {
  #scopes: Scope[] = [new Scope()]

  constructor(
    readonly fresh: Fresh,
    readonly diagnostics: Diagnostics,
  ) {}

  /** Renames one clause of a rule; `head` are the terms of the head that may use what the body declares. */
  clause(clause: Clause, args: Term[], head: Term[]): void {
    for (const term of [...head, clause.value]) this.#closures(term)
    const names = new Set<string>()
    for (const arg of args) this.#argumentNames(arg, names)
    for (const name of names) this.#top.names.set(name, { to: this.fresh.name(name), how: 'argument' })
    for (const arg of args) this.#inTerm(arg)
    const used = new Set<string>()
    for (const term of [...head, clause.value]) collectVars(term, used)
    clause.body = this.body(clause.body, used)
    for (const term of [...head, clause.value]) this.#inHead(term)
  }

  /** What a declared name is spelled now; for the answers of a query. */
  spelled(): Map<string, string> {
    const spelled = new Map<string, string>()
    for (const [name, { to }] of this.#top.names) spelled.set(name, to)
    return spelled
  }

  get #top(): Scope {
    return this.#scopes.at(-1) as Scope
  }

  #argumentNames(arg: Term, names: Set<string>): void {
    walkTerm(arg, (term) => {
      if (term.kind === 'var') names.add(term.name)
      if (term.kind === 'root')
        this.diagnostics.add('rego_compile_error', `An argument may not hide ${term.name}`, term.at)
      return term.kind !== 'call' && !('body' in term) && term.kind !== 'ref'
    })
  }

  /** Closures in a head are scopes of their own, whatever the body declares. */
  #closures(term: Term): void {
    walkTerm(term, (one) => {
      if (!('body' in one)) return undefined
      this.#closure(one)
      return false
    })
  }

  #inHead(term: Term): void {
    walkTerm(term, (one) => {
      if (one.kind === 'var') {
        const known = this.#declared(one.name)
        if (known) one.name = known
      }
      if (one.kind === 'call') {
        for (const arg of one.args) this.#inHead(arg)
        return false
      }
      return undefined
    })
  }

  body(body: Expr[], used: Set<string>): Expr[] {
    const kept: Expr[] = []
    for (const expr of body) {
      const renamed = this.#expr(expr)
      if (renamed) kept.push(renamed)
    }
    if (kept.length === 0 && body.length > 0) {
      const at = (body[0] as Expr).at
      kept.push({
        at,
        negated: false,
        with: [],
        form: { kind: 'term', term: { kind: 'scalar', value: true, at } },
      })
    }
    this.#unused(body, kept, used)
    return kept
  }

  #unused(body: Expr[], kept: Expr[], used: Set<string>): void {
    const seen = new Set<string>()
    walkBody(kept, (term) => {
      if (term.kind === 'var') seen.add(term.name)
      return undefined
    })
    for (const { form } of kept)
      if (form.kind === 'every') for (const one of [form.key, form.value]) if (one) collectVars(one, seen)
    for (const name of used) seen.add(this.#declared(name) ?? name)
    for (const { form } of body) {
      for (const one of form.kind === 'some' ? form.names : []) {
        const to = this.#top.names.get(one.name)?.to
        if (to !== undefined && !seen.has(to) && !one.name.startsWith('_'))
          this.diagnostics.add('rego_compile_error', `some declares ${one.name}, which nothing uses`, one.at)
      }
    }
  }

  #expr(expr: Expr): Expr | undefined {
    const { form } = expr
    switch (form.kind) {
      case 'assign': {
        if (expr.negated)
          this.diagnostics.add('rego_compile_error', 'A negated statement cannot assign', expr.at)
        this.#inTerm(form.right)
        this.#withs(expr)
        this.#target(form.left)
        return { ...expr, form: { kind: 'unify', left: form.left, right: form.right } }
      }
      case 'some':
        for (const one of form.names) this.#declare(one.name, 'declared', one.at)
        return undefined
      case 'someIn':
        return this.#someIn(expr, form)
      case 'every': {
        this.#inTerm(form.domain)
        this.#scopes.push(new Scope())
        const key: Term = form.key ?? { kind: 'var', name: this.fresh.name(), at: form.value.at }
        for (const one of [key, form.value]) {
          if (one.kind === 'var' && !one.name.includes('#'))
            one.name = this.#declare(one.name, 'declared', one.at)
        }
        const body = this.body(form.body, new Set())
        this.#scopes.pop()
        this.#withs(expr)
        return { ...expr, form: { ...form, key, body } }
      }
      case 'term':
        this.#inTerm(form.term)
        break
      case 'unify':
        this.#inTerm(form.left)
        this.#inTerm(form.right)
        break
      case 'call':
        this.#operator(form.op)
        for (const arg of form.args) this.#inTerm(arg)
    }
    this.#withs(expr)
    return expr
  }

  #withs(expr: Expr): void {
    for (const one of expr.with) {
      this.#inTerm(one.target)
      this.#inTerm(one.value)
    }
  }

  /** `some k, v in xs` is `v = xs[k]` with the variables of k and v new. */
  #someIn(expr: Expr, form: Extract<Form, { kind: 'someIn' }>): Expr {
    const { domain } = form
    this.#inTerm(domain)
    const key: Term = form.key ?? { kind: 'var', name: this.fresh.name(), at: form.value.at }
    const names = new Set<string>()
    const outputs = (term: Term): void =>
      walkTerm(term, (one) => {
        if (one.kind === 'var' && !one.name.includes('#')) names.add(one.name)
        if (one.kind === 'root')
          this.diagnostics.add('rego_unsupported', `some cannot declare ${one.name} here`, one.at)
        if (one.kind === 'object') {
          for (const [, value] of one.entries) outputs(value)
          return false
        }
        return one.kind === 'array' || one.kind === 'var'
      })
    outputs(form.value)
    if (form.key) outputs(form.key)
    const inDomain = new Set<string>()
    collectVars(domain, inDomain)
    for (const name of names) {
      const known = this.#declared(name) ?? name
      if (inDomain.has(known))
        this.diagnostics.add(
          'rego_unsupported',
          `${name} is both declared and used by this some; use two names`,
          expr.at,
        )
      this.#declare(name, 'declared', expr.at)
    }
    this.#inTerm(key)
    this.#inTerm(form.value)
    this.#withs(expr)
    const right: Term =
      domain.kind === 'ref'
        ? { ...domain, path: [...domain.path, key] }
        : { kind: 'ref', head: domain, path: [key], at: domain.at }
    return { ...expr, form: { kind: 'unify', left: form.value, right } }
  }

  #target(term: Term): void {
    switch (term.kind) {
      case 'var':
        if (term.name.endsWith('#')) return
        term.name = this.#declare(term.name, 'assigned', term.at)
        return
      case 'array':
        for (const item of term.items) this.#target(item)
        return
      case 'object':
        for (const [key, value] of term.entries) {
          this.#inTerm(key)
          this.#target(value)
        }
        return
    }
    this.diagnostics.add(
      'rego_compile_error',
      'Only names, and arrays and objects of names, can be assigned to',
      term.at,
    )
  }

  #declare(name: string, how: Occurrence, at: Place): string {
    const known = this.#top.names.get(name)
    if (known) {
      const words = {
        argument: 'is an argument',
        seen: 'is used above',
        assigned: 'is assigned above',
        declared: 'is declared above',
      }
      this.diagnostics.add(
        'rego_compile_error',
        `${name} ${words[known.how]}, so it cannot be declared again`,
        at,
      )
      return known.to
    }
    const to = this.fresh.name(name)
    this.#top.names.set(name, { to, how })
    return to
  }

  #declared(name: string): string | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i -= 1) {
      const known = this.#scopes[i]?.names.get(name)
      if (known) return known.to
    }
    return undefined
  }

  #operator(op: Term): void {
    const head = op.kind === 'ref' ? op.head : op
    if (head.kind !== 'var') return
    const known = this.#declared(head.name)
    if (known !== undefined && known !== head.name)
      this.diagnostics.add(
        'rego_compile_error',
        `${head.name} is a variable here and cannot be called`,
        op.at,
      )
  }

  #inTerm(term: Term): void {
    switch (term.kind) {
      case 'var': {
        const known = this.#declared(term.name)
        if (known !== undefined) term.name = known
        else if (!term.name.includes('#')) this.#top.names.set(term.name, { to: term.name, how: 'seen' })
        return
      }
      case 'ref':
        this.#inTerm(term.head)
        for (const part of term.path) this.#inTerm(part)
        return
      case 'array':
      case 'set':
        for (const item of term.items) this.#inTerm(item)
        return
      case 'object':
        for (const [key, value] of term.entries) {
          this.#inTerm(key)
          this.#inTerm(value)
        }
        return
      case 'call':
        this.#operator(term.op)
        for (const arg of term.args) this.#inTerm(arg)
        return
      case 'arrayOf':
      case 'setOf':
      case 'objectOf':
        this.#closure(term)
    }
  }

  #closure(term: Extract<Term, { kind: 'arrayOf' | 'setOf' | 'objectOf' }>): void {
    const heads = term.kind === 'objectOf' ? [term.key, term.value] : [term.term]
    const used = new Set<string>()
    for (const head of heads) collectVars(head, used)
    this.#scopes.push(new Scope())
    term.body = this.body(term.body, used)
    for (const head of heads) this.#inTerm(head)
    this.#scopes.pop()
  }
}
