/*
 * What a global name means: a name of a rule or an import becomes a reference into data or input, unless a body declares
 * the same name for itself.
 */
import type { Expr, Form, Module, Rule, Term } from './ast'
import { collectVars } from './names'
import type { Diagnostics, Place } from './refusal'

/** Names that operators stand for; a rule of that name would change what the operator means. */
const operatorNames = new Set(
  'assign eq equal neq lt lte gt gte plus minus mul div rem and or internal input data'.split(' '),
)

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
