/*
 * The first rewriting: what a name means. A name of a rule or an import becomes a reference into data or input. Names
 * declared with :=, some or every get a spelling of their own (`x#3`), so that later steps need not know about scopes.
 */
import {
  type Clause,
  type Expr,
  type Form,
  type Module,
  type Rule,
  type Term,
  walkBody,
  walkTerm,
} from './ast'
import type { Diagnostics, Place } from './refusal'

/** Names that operators stand for; a rule of that name would change what the operator means. */
const operatorNames = new Set(
  'assign eq equal neq lt lte gt gte plus minus mul div rem and or internal input data'.split(' '),
)

/** Makes names that no source can spell. */
export class Fresh {
  #next = 0

  name(base = ''): string {
    this.#next += 1
    return `${base}#${this.#next}`
  }

  var(at: Place): Term {
    return { kind: 'var', name: this.name(), at }
  }
}

/** What each global name of a module stands for: a path that starts with data or input. */
export function globalsOf(
  module: Module,
  modules: Module[],
  diagnostics: Diagnostics,
): Map<string, string[]> {
  const globals = new Map<string, string[]>()
  const same = modules.filter((one) => one.package.join('\0') === module.package.join('\0'))
  for (const rule of same.flatMap((one) => one.rules)) {
    globals.set(rule.name, ['data', ...module.package, rule.name])
  }
  for (const rule of module.rules) {
    if (operatorNames.has(rule.name))
      diagnostics.add(
        'rego_unsupported',
        `A rule may not be named ${rule.name}, which names an operator or a root`,
        rule.at,
      )
  }
  const seen = new Set<string>()
  for (const one of module.imports) {
    if (seen.has(one.alias))
      diagnostics.add('rego_compile_error', `Two imports are named ${one.alias}`, one.at)
    else if (globals.has(one.alias))
      diagnostics.add('rego_compile_error', `The import ${one.alias} has the name of a rule`, one.at)
    seen.add(one.alias)
    globals.set(one.alias, one.path)
  }
  return globals
}

// --- references --------------------------------------------------------------------------------------------------

/** Replaces global names in a rule by what they stand for, in place. Names declared in a body hide them. */
export function resolveRule(rule: Rule, globals: ReadonlyMap<string, string[]>): void {
  const resolver = new Resolver(globals)
  const args = new Set<string>()
  for (const arg of rule.args ?? []) collectVars(arg, args)
  resolver.hide(args, () => {
    for (const clause of rule.clauses) {
      resolver.hide(declaredIn(clause.body), () => {
        rule.path = rule.path.map((part) => resolver.term(part))
        if (rule.args) rule.args = rule.args.map((arg) => resolver.term(arg))
        if (rule.key) rule.key = resolver.term(rule.key)
        clause.value = resolver.term(clause.value)
        resolver.body(clause.body)
      })
    }
  })
}

/** The same for the body of a query. */
export function resolveBody(body: Expr[], globals: ReadonlyMap<string, string[]>): void {
  const resolver = new Resolver(globals)
  resolver.hide(declaredIn(body), () => resolver.body(body))
}

class Resolver {
  #hidden: Set<string>[] = []

  constructor(readonly globals: ReadonlyMap<string, string[]>) {}

  hide(names: Set<string>, work: () => void): void {
    this.#hidden.push(names)
    work()
    this.#hidden.pop()
  }

  body(body: Expr[]): void {
    for (const expr of body) {
      this.#form(expr.form)
      if (isPrint(expr.form)) {
        const value: Term = { kind: 'scalar', value: true, at: expr.at }
        expr.form = { kind: 'term', term: value }
      }
      for (const one of expr.with) {
        one.target = this.term(one.target)
        one.value = this.term(one.value)
      }
    }
  }

  #form(form: Form): void {
    switch (form.kind) {
      case 'term':
        form.term = this.term(form.term)
        return
      case 'unify':
      case 'assign':
        form.left = this.term(form.left)
        form.right = this.term(form.right)
        return
      case 'call':
        form.op = this.term(form.op)
        form.args = form.args.map((arg) => this.term(arg))
        return
      case 'some':
        return
      case 'someIn':
        if (form.key) form.key = this.term(form.key)
        form.value = this.term(form.value)
        form.domain = this.term(form.domain)
        return
      case 'every': {
        form.domain = this.term(form.domain)
        const own = new Set<string>()
        if (form.key) collectVars(form.key, own)
        collectVars(form.value, own)
        // Names assigned inside the body hide globals there as well.
        for (const name of declaredIn(form.body)) own.add(name)
        this.hide(own, () => this.body(form.body))
      }
    }
  }

  term(term: Term): Term {
    switch (term.kind) {
      case 'var': {
        const path = this.#pathOf(term.name)
        return path ? reference(path, [], term.at) : term
      }
      case 'ref': {
        const path = term.head.kind === 'var' ? this.#pathOf(term.head.name) : undefined
        const parts = term.path.map((part) => this.term(part))
        if (path) return reference(path, parts, term.at)
        return { ...term, head: this.term(term.head), path: parts }
      }
      case 'array':
      case 'set':
        return { ...term, items: term.items.map((item) => this.term(item)) }
      case 'object':
        return { ...term, entries: term.entries.map(([key, value]) => [this.term(key), this.term(value)]) }
      case 'call':
        return { ...term, op: this.term(term.op), args: term.args.map((arg) => this.term(arg)) }
      case 'arrayOf':
      case 'setOf':
        this.hide(declaredIn(term.body), () => {
          term.term = this.term(term.term)
          this.body(term.body)
        })
        return term
      case 'objectOf':
        this.hide(declaredIn(term.body), () => {
          term.key = this.term(term.key)
          term.value = this.term(term.value)
          this.body(term.body)
        })
        return term
      default:
        return term
    }
  }

  #pathOf(name: string): string[] | undefined {
    return this.#hidden.some((names) => names.has(name)) ? undefined : this.globals.get(name)
  }
}

/** `print(…)` always holds and, here as in an OPA without a print hook, does nothing. */
function isPrint(form: Form): boolean {
  return form.kind === 'call' && form.op.kind === 'var' && form.op.name === 'print'
}

/** A reference to a path that starts with data or input. */
export function reference(path: string[], rest: Term[], at: Place): Term {
  const [root, ...parts] = path
  const head: Term = { kind: 'root', name: root as 'data' | 'input', at }
  const whole = [...parts.map((value): Term => ({ kind: 'scalar', value, at })), ...rest]
  return whole.length === 0 ? head : { kind: 'ref', head, path: whole, at }
}

/** Every variable of a term, those of closures included. */
export function collectVars(term: Term, into: Set<string>): void {
  walkTerm(term, (one) => {
    if (one.kind === 'var') into.add(one.name)
    if (one.kind === 'call') {
      for (const arg of one.args) collectVars(arg, into)
      return false
    }
    return undefined
  })
}

/** Names that a body declares itself, closures not counted. */
function declaredIn(body: Expr[]): Set<string> {
  const names = new Set<string>()
  for (const { form } of body) {
    if (form.kind === 'assign') collectVars(form.left, names)
    if (form.kind === 'some') for (const one of form.names) names.add(one.name)
    if (form.kind === 'someIn') {
      if (form.key) collectVars(form.key, names)
      collectVars(form.value, names)
    }
    if (form.kind === 'every') for (const name of declaredIn(form.body)) names.add(name)
  }
  return names
}

// --- declared names ------------------------------------------------------------------------------------------------

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
