/*
 * Sources into a program: parse, resolve names, take calls and references apart, put bodies in order, and check. Every
 * check that OPA makes before it runs a policy is made here or the construct is refused; all diagnostics come at once.
 */
import {
  cloneTerm,
  dotted,
  type Expr,
  type Module,
  type Rule,
  type Term,
  termsOf,
  walkBody,
  walkTerm,
} from './ast'
import { type Builtin, builtinNamed } from './builtins/table'
import { CallExpander, ReferenceExpander } from './expand'
import { Fresh } from './names'
import { parseModule, parseQuery } from './parser'
import { Diagnostics, type Place } from './refusal'
import { Renamer } from './rename'
import { globalsOf, resolveBody, resolveRule } from './resolve-names'
import { plantRules, type ReadyClause, RuleNode, reachedBy } from './rule-tree'
import { reorder, type Unsafe, varsOfTerm } from './safety'
import { checkTypes } from './types'

export interface Program {
  root: RuleNode
  modules: Module[]
}

/** A query, ready to be evaluated. */
export interface ReadyQuery {
  body: Expr[]
  /** Variable as written → as it is spelled in the body. */
  vars: Map<string, string>
}

/** Sources of one load; far more than a policy has. */
const maxModules = 200

export function compileModules(sources: { name: string; text: string }[]): Program {
  const diagnostics = new Diagnostics()
  if (sources.length > maxModules) {
    diagnostics.add('rego_unsupported', `More than ${maxModules} modules`, {
      source: sources[0]?.name ?? '',
      line: 1,
      column: 1,
    })
    diagnostics.throwIfAny()
  }
  const modules = sources.map(({ name, text }) => parseModule(name, text, diagnostics))
  for (const module of modules)
    if (module.package[0] === 'system')
      diagnostics.add('rego_unsupported', 'Packages below system are for OPA itself', {
        source: module.source,
        line: 1,
        column: 1,
      })
  // Later checks would only repeat in other words what the parser said.
  diagnostics.throwIfAny()
  for (const module of modules) {
    const globals = globalsOf(module, modules, diagnostics)
    for (const rule of module.rules) {
      if (rule.isDefault) checkDefault(rule, diagnostics)
      resolveRule(rule, globals)
    }
  }
  const root = plantRules(modules, diagnostics)
  diagnostics.throwIfAny()
  new Compiler(root, diagnostics).rules()
  diagnostics.throwIfAny()
  return { root, modules }
}

export function compileQuery(program: Program, text: string, imports: string[] = []): ReadyQuery {
  const diagnostics = new Diagnostics()
  const body = parseQuery('query', text, diagnostics)
  diagnostics.throwIfAny()
  resolveBody(body, new Map(imports.map((one) => [one.split('.').at(-1) as string, one.split('.')])))
  const query = new Compiler(program.root, diagnostics).query(body)
  diagnostics.throwIfAny()
  return query
}

function checkDefault(rule: Rule, diagnostics: Diagnostics): void {
  for (const clause of rule.clauses) {
    walkTerm(clause.value, (term) => {
      if (term.kind === 'var' || term.kind === 'ref' || term.kind === 'root' || term.kind === 'call') {
        diagnostics.add('rego_parse_error', 'The value of a default rule must be a constant', term.at)
        return false
      }
      if ('body' in term) {
        diagnostics.add(
          'rego_unsupported',
          'A comprehension as the value of a default rule is not known here',
          term.at,
        )
        return false
      }
      return undefined
    })
  }
  for (const arg of rule.args ?? []) {
    if (arg.kind !== 'var')
      diagnostics.add('rego_parse_error', 'The arguments of a default function must be names', arg.at)
  }
  const names = (rule.args ?? []).flatMap((arg) => (arg.kind === 'var' ? [arg.name] : []))
  if (new Set(names).size < names.length)
    diagnostics.add(
      'rego_parse_error',
      'The arguments of a default function must be different names',
      rule.at,
    )
}

class Compiler {
  readonly fresh = new Fresh()
  readonly calls = new CallExpander(this.fresh)
  readonly dependsOn = new Map<RuleNode, Set<RuleNode>>()

  constructor(
    readonly root: RuleNode,
    readonly diagnostics: Diagnostics,
  ) {}

  rules(): void {
    for (const node of this.root.withRules()) {
      for (const { rule, path } of node.rules) {
        const clauses = rule.clauses.map((clause) => this.#clause(node, rule, path, clause))
        node.ready.push({ at: rule.at, name: spelled(rule), isDefault: rule.isDefault, clauses })
      }
    }
    this.#refuseRecursion()
  }

  #clause(node: RuleNode, rule: Rule, path: Term[], clause: Rule['clauses'][number]): ReadyClause {
    const args = (rule.args ?? []).map(cloneTerm)
    const head = { path: path.map(cloneTerm), key: rule.key && cloneTerm(rule.key) }
    const whole = { ...clause }
    new Renamer(this.fresh, this.diagnostics).clause(
      whole,
      args,
      head.key ? [...head.path, head.key] : head.path,
    )
    const moved = this.calls.clause(whole, args, head)
    const ready: ReadyClause = {
      at: clause.at,
      args: moved.args,
      path: moved.path,
      key: moved.key,
      value: whole.value,
      body: whole.body,
    }
    this.#noteReferences(node, ready)
    const known = new Set<string>()
    for (const arg of ready.args) for (const name of varsOfTerm(arg)) known.add(name)
    ready.body = this.#body(ready.body, known, false)
    this.#headSafety(ready, known)
    return ready
  }

  query(body: Expr[]): ReadyQuery {
    const renamer = new Renamer(this.fresh, this.diagnostics)
    const renamed = this.calls.body(renamer.body(body, new Set()))
    const ready = this.#body(renamed, new Set(), true)
    const vars = new Map<string, string>()
    for (const [name, to] of renamer.spelled()) if (!name.includes('#')) vars.set(name, to)
    const bound = new Set<string>()
    walkBody(ready, (term) => {
      if (term.kind === 'var') bound.add(term.name)
      return 'body' in term ? false : undefined
    })
    for (const [name, to] of vars) if (!bound.has(to)) vars.delete(name)
    return { body: ready, vars }
  }

  #body(body: Expr[], known: Set<string>, keepEqual: boolean): Expr[] {
    this.#checkBody(body)
    const unsafe: Unsafe[] = []
    const ordered = reorder(body, known, (op) => this.#arity(op), unsafe)
    const told = new Set<string>()
    for (const { name, at } of unsafe) {
      const plain = name.replace(/#.*$/, '')
      const where = `${at.at.line}:${at.at.column}:${plain}`
      if (told.has(where)) continue
      told.add(where)
      const what = plain === '' || /^_\d+$/.test(plain) ? 'A part of this statement' : plain
      this.diagnostics.add('rego_unsafe_var_error', `${what} is unsafe: nothing binds it`, at.at)
    }
    const ready = new ReferenceExpander(this.fresh, keepEqual).body(ordered)
    if (unsafe.length === 0) checkTypes(ready, this.diagnostics)
    return ready
  }

  #headSafety(clause: ReadyClause, known: Set<string>): void {
    const bound = new Set(known)
    for (const expr of clause.body) {
      for (const term of termsOf(expr.form)) for (const name of varsOfTerm(term)) bound.add(name)
    }
    for (const term of [...clause.path, ...(clause.key ? [clause.key] : []), clause.value]) {
      for (const name of varsOfTerm(term)) {
        if (!bound.has(name))
          this.diagnostics.add(
            'rego_unsafe_var_error',
            `${name.replace(/#.*$/, '')} is unsafe: nothing binds it`,
            term.at,
          )
      }
    }
  }

  // --- calls and with ------------------------------------------------------------------------------------------------

  /** The function an operator names: a node of the tree, a built-in, or undefined. */
  #function(op: Term): RuleNode | Builtin | undefined {
    const path = dataPath(op)
    if (path) {
      let node: RuleNode | undefined = this.root
      for (const part of path) node = part.kind === 'scalar' ? node?.child(part.value) : undefined
      return node?.isFunction ? node : undefined
    }
    return builtinNamed(dotted(op) ?? '')
  }

  #arity(op: Term): number | undefined {
    const found = this.#function(op)
    return found instanceof RuleNode ? found.arity : found?.args.length
  }

  #checkBody(body: Expr[]): void {
    for (const expr of body) {
      this.#checkExpr(expr)
      const { form } = expr
      for (const term of form.kind === 'call' ? form.args : termsOf(form)) this.#checkClosures(term)
      for (const one of expr.with) this.#checkClosures(one.value)
    }
  }

  #checkClosures(term: Term): void {
    walkTerm(term, (one) => {
      if (one.kind === 'ref' && one.head.kind === 'root' && one.head.name === 'data')
        this.#checkReference(one.path, one.at)
      if (!('body' in one)) return undefined
      this.#checkBody(one.body)
      return false
    })
  }

  #checkReference(path: Term[], at: Place): void {
    let node: RuleNode | undefined = this.root
    for (const part of path) {
      node = part.kind === 'scalar' ? node?.child(part.value) : undefined
      if (!node) return
      if (node.isFunction) {
        this.diagnostics.add(
          'rego_type_error',
          `${node.rules[0]?.rule.name} is a function; it can only be called`,
          at,
        )
        return
      }
    }
  }

  #checkExpr(expr: Expr): void {
    const { form } = expr
    if (form.kind === 'call') this.#checkCall(form, expr.at)
    if (form.kind === 'every') this.#checkBody(form.body)
    for (const one of expr.with) this.#checkWith(one.target)
  }

  #checkCall(form: Extract<Expr['form'], { kind: 'call' }>, at: Place): void {
    const found = this.#function(form.op)
    const name = (dotted(form.op) ?? 'this').replace(/^internal\.member_[23]$/, 'in')
    if (!found) {
      this.diagnostics.add('rego_type_error', `${name} is not a function that is known here`, at)
      return
    }
    const arity = found instanceof RuleNode ? (found.arity ?? 0) : found.args.length
    // f(x, y) with one argument too many unifies the result with the last one.
    if (!form.out && form.args.length === arity + 1) {
      form.out = form.args.pop()
      form.explicit = true
    }
    if (form.args.length !== arity)
      this.diagnostics.add(
        'rego_type_error',
        `${name} takes ${arity} arguments and has ${form.args.length}`,
        at,
      )
    else if (!(found instanceof RuleNode))
      found.check?.(form.args, (message, place) => this.diagnostics.add('rego_unsupported', message, place))
  }

  #checkWith(target: Term): void {
    const refuse = (message: string): void => this.diagnostics.add('rego_type_error', message, target.at)
    const path =
      target.kind === 'root'
        ? []
        : target.kind === 'ref' && target.head.kind === 'root'
          ? target.path
          : undefined
    if (!path) {
      this.diagnostics.add(
        'rego_unsupported',
        'with can replace input and data here, and no functions',
        target.at,
      )
      return
    }
    if (path.some((part) => part.kind !== 'scalar' || typeof part.value !== 'string'))
      return refuse('The target of with is a path of names and strings')
    if (dataPath(target) === undefined) return
    let node: RuleNode | undefined = this.root
    for (const [i, part] of path.entries()) {
      node = part.kind === 'scalar' ? node?.child(part.value) : undefined
      if (node?.isFunction) {
        this.diagnostics.add('rego_unsupported', 'with cannot replace a function here', target.at)
        return
      }
      if (node && node.rules.length > 0 && i < path.length - 1)
        return refuse('with cannot replace a part of what a rule makes')
    }
  }

  // --- recursion -----------------------------------------------------------------------------------------------------

  #noteReferences(node: RuleNode, clause: ReadyClause): void {
    const reached = this.dependsOn.get(node) ?? new Set<RuleNode>()
    this.dependsOn.set(node, reached)
    const visit = (term: Term): undefined => {
      const path = dataPath(term)
      if (path) for (const one of reachedBy(this.root, path)) reached.add(one)
      return undefined
    }
    for (const term of [...clause.args, ...clause.path, clause.value, ...(clause.key ? [clause.key] : [])])
      walkTerm(term, visit)
    walkBody(clause.body, visit)
  }

  #refuseRecursion(): void {
    const state = new Map<RuleNode, 'open' | 'done'>()
    for (const start of this.dependsOn.keys()) {
      // Walked with a list of its own, so that long chains of rules do not fill the stack.
      const trail: { node: RuleNode; rest: RuleNode[] }[] = [
        { node: start, rest: [...(this.dependsOn.get(start) ?? [])] },
      ]
      if (state.has(start)) continue
      state.set(start, 'open')
      while (trail.length > 0) {
        const top = trail.at(-1) as { node: RuleNode; rest: RuleNode[] }
        const next = top.rest.pop()
        if (!next) {
          state.set(top.node, 'done')
          trail.pop()
        } else if (state.get(next) === 'open') {
          const rule = next.rules[0]?.rule as Rule
          this.diagnostics.add('rego_recursion_error', `${rule.name} depends on itself`, rule.at)
        } else if (!state.has(next)) {
          state.set(next, 'open')
          trail.push({ node: next, rest: [...(this.dependsOn.get(next) ?? [])] })
        }
      }
    }
  }
}

/** The path below data that a term refers to. */
function dataPath(term: Term): Term[] | undefined {
  if (term.kind === 'root') return term.name === 'data' ? [] : undefined
  return term.kind === 'ref' && term.head.kind === 'root' && term.head.name === 'data' ? term.path : undefined
}

function spelled(rule: Rule): string {
  const parts = rule.path.map((part) => {
    if (part.kind === 'var') return `[${part.name.replace(/#.*$/, '')}]`
    if (part.kind !== 'scalar') return '[…]'
    return typeof part.value === 'string' && /^[A-Za-z_]\w*$/.test(part.value) ? `.${part.value}` : '[…]'
  })
  return `${rule.isDefault ? 'default ' : ''}${rule.name}${parts.join('')}`
}
