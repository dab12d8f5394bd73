/*
 * Rules by the path they have under data. A rule whose name has variables (`p[x].q`) lies at the longest constant part
 * of its name; what lies below such a rule is drawn up to it, since both build the same object.
 */
import type { Expr, Module, Rule, Term } from './ast'
import type { Diagnostics, Place } from './refusal'
import { keyOf, type Value } from './values'

/** A clause, ready to be evaluated. */
export interface ReadyClause {
  at: Place
  args: Term[]
  /** The parts of the name below the node the rule lies at. */
  path: Term[]
  key?: Term
  value: Term
  body: Expr[]
}

export interface ReadyRule {
  at: Place
  /** As written: `allow`, `a.b`, `p[x]`. */
  name: string
  isDefault: boolean
  clauses: ReadyClause[]
}

export type RuleKind = 'complete' | 'function' | 'set' | 'partial'

export class RuleNode {
  readonly children = new Map<string, RuleNode>()
  readonly rules: { rule: Rule; module: Module; path: Term[] }[] = []
  ready: ReadyRule[] = []
  kind: RuleKind | undefined

  constructor(
    readonly key: Value,
    readonly id: string,
  ) {}

  child(key: Value): RuleNode | undefined {
    return this.children.get(keyOf(key))
  }

  /** The child, made if it is missing. */
  grow(key: Value): RuleNode {
    const name = keyOf(key)
    let child = this.children.get(name)
    if (!child) {
      child = new RuleNode(key, `${this.id}/${name}`)
      this.children.set(name, child)
    }
    return child
  }

  /** How many arguments the function here takes. */
  get arity(): number | undefined {
    return this.kind === 'function' ? this.rules[0]?.rule.args?.length : undefined
  }

  get isFunction(): boolean {
    return this.kind === 'function'
  }

  /** Every node with rules at or below this one. */
  *withRules(): Iterable<RuleNode> {
    if (this.rules.length > 0) yield this
    for (const child of this.children.values()) yield* child.withRules()
  }
}

/** The tree of all rules. What cannot stand together is added to `diagnostics`. */
export function plantRules(modules: Module[], diagnostics: Diagnostics): RuleNode {
  const root = new RuleNode('data', '')
  for (const module of modules) {
    let home = root
    for (const part of module.package) home = home.grow(part)
    for (const rule of module.rules) {
      let node = home.grow(rule.name)
      let i = 0
      for (; i < rule.path.length; i += 1) {
        const part = rule.path[i] as Term
        if (part.kind !== 'scalar') break
        node = node.grow(part.value)
      }
      node.rules.push({ rule, module, path: rule.path.slice(i) })
    }
  }
  drawUp(root)
  for (const node of root.withRules()) settle(node, diagnostics)
  refusePackageConflicts(root, modules, diagnostics)
  return root
}

function drawUp(node: RuleNode): void {
  for (const child of node.children.values()) drawUp(child)
  if (!node.rules.some(({ path }) => path.length > 0)) return
  for (const child of node.children.values()) {
    for (const below of child.withRules())
      for (const { rule, module, path } of below.rules) {
        const cut = rule.path.length - path.length
        const depth = below.id.split('/').length - node.id.split('/').length
        node.rules.push({ rule, module, path: rule.path.slice(cut - depth) })
      }
  }
  node.children.clear()
}

/** Says what kind of node it is; rules of different kinds at one place are refused. */
function settle(node: RuleNode, diagnostics: Diagnostics): void {
  const kinds = new Set(node.rules.map(kindOf))
  const [first] = node.rules
  if (!first) return
  const last = node.rules.at(-1)?.rule as Rule
  node.kind = kinds.has('partial') ? 'partial' : kindOf(first)
  if (kinds.has('function') ? kinds.size > 1 : node.kind !== 'partial' && kinds.size > 1)
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} is defined in ways that do not go together`,
      last.at,
    )
  if (new Set(node.rules.map(({ rule }) => rule.args?.length)).size > 1 && kinds.size === 1)
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} is defined with different numbers of arguments`,
      last.at,
    )
  const defaults = node.rules.filter(({ rule }) => rule.isDefault)
  if (defaults.length > 1)
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} has more than one default`,
      defaults[1]?.rule.at ?? last.at,
    )
  if (defaults.length > 0 && node.kind !== 'complete' && node.kind !== 'function')
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} has a default but more than one value`,
      defaults[0]?.rule.at ?? last.at,
    )
  if (node.kind === 'partial' && node.rules.some(({ path, rule }) => path.length === 0 && !rule.key))
    diagnostics.add('rego_type_error', `${first.rule.name} is defined both as a whole and in parts`, last.at)
  if (node.kind === 'partial' && node.rules.some(({ path, rule }) => path.length === 0 && rule.key))
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} is defined both as a set and as an object`,
      last.at,
    )
  const below = [...node.withRules()].find((one) => one !== node)
  if (below)
    diagnostics.add(
      'rego_type_error',
      `${first.rule.name} conflicts with the rule ${below.rules[0]?.rule.name} below it`,
      below.rules[0]?.rule.at ?? last.at,
    )
}

function kindOf({ rule, path }: { rule: Rule; path: Term[] }): RuleKind {
  if (rule.args) return 'function'
  if (path.length > 0) return 'partial'
  return rule.key ? 'set' : 'complete'
}

function refusePackageConflicts(root: RuleNode, modules: Module[], diagnostics: Diagnostics): void {
  for (const module of modules) {
    let node: RuleNode | undefined = root
    for (const part of module.package) {
      node = node?.child(part)
      const [clash] = node?.rules ?? []
      if (clash)
        diagnostics.add(
          'rego_type_error',
          `The package ${module.package.join('.')} conflicts with the rule ${clash.rule.name}`,
          clash.rule.at,
        )
    }
  }
}

/** The nodes with rules that a reference into data can reach. */
export function reachedBy(root: RuleNode, path: Term[]): Set<RuleNode> {
  const reached = new Set<RuleNode>()
  const walk = (node: RuleNode, at: number): void => {
    if (node.rules.length > 0) {
      reached.add(node)
      return
    }
    const part = path[at]
    if (!part) for (const one of node.withRules()) reached.add(one)
    else if (part.kind === 'scalar') {
      const child = node.child(part.value)
      if (child) walk(child, at + 1)
    } else for (const child of node.children.values()) walk(child, at + 1)
  }
  walk(root, 0)
  return reached
}
