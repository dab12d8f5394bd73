/*
 * Runs a program. A body is a row of statements; each gives zero or more ways to go on, and the search goes through
 * all of them, first statement outermost. Everything is written with a continuation: `next` runs the rest and says
 * true when the search may stop. Variables live in a frame per clause, bound on the way in and unbound on the way out.
 *
 * Nothing here reads a clock or the outside. Each run has bounds; past one it ends with RegoFailed, a denial.
 */
import { type Comprehension, dotted, type Expr, type Form, type Term, type With } from './ast'
import { type Builtin, builtinNamed } from './builtins/table'
import { entriesOf, found, merged, planted, withoutSystem } from './documents'
import { type Limits, Meter } from './limits'
import { member } from './member'
import { ObjectBuilder } from './object-builder'
import { BuiltinError, type Place, RegoFailed } from './refusal'
import type { ReadyClause, ReadyRule, RuleNode } from './rule-tree'
import { compare, equal, isArray, keyOf, RegoObject, RegoSet, type Value, weighed } from './values'

/** Runs the rest of the search; true stops it. */
type Next = () => boolean

type Emit = (value: Value) => boolean

export type Frame = Map<string, Value>

/** What `with` changes: the documents, and the paths whose rules are out of play. */
interface World {
  input: Value | undefined
  /** Replacements below data; they lie over the base document. */
  overlay: Value | undefined
  targets: readonly (readonly Value[])[]
  /** Values of rules, arguments included; good for this world alone. */
  cache: Map<string, Value | undefined>
}

export interface Start {
  root: RuleNode
  input: Value | undefined
  data: Value
  /** Milliseconds since the epoch. */
  now: number
  limits: Limits
  /** Errors of built-ins end the evaluation instead of making a call undefined. */
  strict: boolean
}

/** A clause that was tried; for the console's "which rule said no". */
export interface Tried {
  rule: string
  place: Place
  holds: boolean
}

export class Evaluation {
  #world: World
  readonly #meter: Meter
  /** Set by `watch`: the node whose clauses are noted. */
  #watched: { node: RuleNode; tried: Tried[] } | undefined

  constructor(readonly start: Start) {
    this.#meter = new Meter(start.limits)
    this.#world = { input: start.input, overlay: undefined, targets: [], cache: new Map() }
  }

  /** Notes which clauses of a node hold when it is evaluated. */
  watch(node: RuleNode): Tried[] {
    const tried: Tried[] = []
    this.#watched = { node, tried }
    return tried
  }

  /** Calls `found` with the frame of each way in which the body holds; stops when it returns true. */
  search(body: Expr[], found: (frame: Frame) => boolean): void {
    const frame: Frame = new Map()
    this.#guard(() => this.#body(body, 0, frame, () => found(frame)))
  }

  /** The values of a term, in order; stops when `emit` returns true. */
  values(term: Term, emit: Emit): void {
    this.#guard(() => this.#values(term, new Map(), emit))
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (cause) {
      // The stack, or the length of a text: either way more than can be worked with.
      if (cause instanceof RangeError)
        throw new RegoFailed('eval_bound', 'The policy nests deeper, or says more, than can be evaluated')
      throw cause
    }
  }

  // --- statements ----------------------------------------------------------------------------------------------------

  #body(body: Expr[], at: number, frame: Frame, next: Next): boolean {
    const expr = body[at]
    if (!expr) return next()
    this.#meter.step()
    const rest = (): boolean => this.#body(body, at + 1, frame, next)
    return expr.with.length > 0 ? this.#with(expr, frame, rest) : this.#statement(expr, frame, rest)
  }

  #statement(expr: Expr, frame: Frame, next: Next): boolean {
    if (!expr.negated) return this.#form(expr.form, expr.at, frame, next)
    let found = false
    this.#form(expr.form, expr.at, frame, () => {
      found = true
      return true
    })
    return found ? false : next()
  }

  #form(form: Form, at: Place, frame: Frame, next: Next): boolean {
    switch (form.kind) {
      case 'term':
        return this.#values(form.term, frame, (value) => value !== false && next())
      case 'unify':
        return this.#unify(form.left, form.right, frame, next)
      case 'call':
        return this.#call(form, at, frame, next)
      case 'every':
        return this.#every(form, frame, next)
      default:
        throw new RegoFailed('eval_unsupported', `A statement of kind ${form.kind} was not taken apart`, at)
    }
  }

  #with(expr: Expr, frame: Frame, next: Next): boolean {
    const outer = this.#world
    const inner = this.#changed(expr.with, frame, outer, expr.at)
    this.#world = inner
    const stop = this.#statement(expr, frame, () => {
      this.#world = outer
      const done = next()
      this.#world = inner
      return done
    })
    this.#world = outer
    return stop
  }

  #changed(withs: With[], frame: Frame, outer: World, at: Place): World {
    const world: World = { ...outer, targets: [...outer.targets], cache: new Map() }
    for (const { target, value } of withs) {
      const put = this.#build(value, frame)
      const path = target.kind === 'ref' ? target.path.map((part) => (part as { value: Value }).value) : []
      const root = target.kind === 'ref' ? target.head : target
      if (root.kind === 'root' && root.name === 'input') world.input = planted(world.input, path, put)
      else {
        world.overlay = planted(world.overlay, path, put)
        world.targets = [...world.targets, path]
      }
    }
    if (world.overlay !== undefined && !(world.overlay instanceof RegoObject))
      throw new RegoFailed('eval_with_merge_error', 'data can only be replaced by an object', at)
    return world
  }

  #every(form: Extract<Form, { kind: 'every' }>, frame: Frame, next: Next): boolean {
    const domain = this.#build(form.domain, frame)
    if (!(isArray(domain) || domain instanceof RegoObject || domain instanceof RegoSet)) return false
    for (const [key, value] of entriesOf(domain)) {
      this.#meter.step()
      let holds = false
      const matched = (): boolean =>
        this.#match(form.value, value, frame, () =>
          this.#body(form.body, 0, frame, () => {
            holds = true
            return true
          }),
        )
      if (form.key) this.#match(form.key, key, frame, matched)
      else matched()
      if (!holds) return false
    }
    return next()
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  #call(form: Extract<Form, { kind: 'call' }>, at: Place, frame: Frame, next: Next): boolean {
    const args = form.args.map((arg) => this.#build(arg, frame))
    const { out } = form
    const use: Emit = (value) => (out ? this.#equate(out, value, frame, next) : value !== false && next())
    if (form.op.kind === 'ref' && form.op.head.kind === 'root') {
      let node: RuleNode | undefined = this.start.root
      for (const part of form.op.path) node = node?.child((part as { value: Value }).value)
      if (form.explicit) this.#refuseKnownOutput(form, node as RuleNode, frame)
      const value = this.#function(node as RuleNode, args)
      return value === undefined ? false : use(value)
    }
    const builtin = builtinNamed(dotted(form.op) ?? '') as Builtin
    return this.#builtin(builtin, args, at, use)
  }

  /**
   * A result given as the last argument chooses among a function's clauses in OPA when it is already known, which
   * changes what else and default mean. That is not done here.
   */
  #refuseKnownOutput(form: Extract<Form, { kind: 'call' }>, node: RuleNode, frame: Frame): void {
    const { out } = form
    const open = !out || (out.kind === 'var' && !frame.has(out.name))
    if (!open && node.ready.flatMap(({ clauses }) => clauses).length > 1)
      throw new RegoFailed(
        'eval_unsupported',
        'A known result as the last argument is not known here; compare with ==',
        out?.at,
      )
  }

  #builtin(builtin: Builtin, args: Value[], at: Place, use: Emit): boolean {
    let results: Iterable<Value>
    try {
      results = builtin.call(args, { meter: this.#meter, now: this.start.now })
    } catch (cause) {
      if (!(cause instanceof BuiltinError)) throw cause
      if (this.start.strict) throw new RegoFailed(cause.code, `${builtin.name}: ${cause.message}`, at)
      return false
    }
    for (const value of results) if (use(value)) return true
    return false
  }

  #function(node: RuleNode, args: Value[]): Value | undefined {
    const key = `${node.id}(${args.map(keyOf).join(',')})`
    return this.#remembered(key, () => this.#single(node, args))
  }

  #remembered(key: string, work: () => Value | undefined): Value | undefined {
    const { cache } = this.#world
    if (cache.has(key)) return cache.get(key)
    this.#meter.enter()
    const value = work()
    this.#meter.leave()
    this.#meter.keep(key.length)
    cache.set(key, value)
    return value
  }

  /** The one value of a complete rule or a function call. Throws RegoFailed for two different ones. */
  #single(node: RuleNode, args: Value[]): Value | undefined {
    const same = sameConstant(node)
    let value: Value | undefined
    for (const rule of node.ready) {
      if (rule.isDefault) continue
      const found = this.#rule(node, rule, args, value, same)
      if (found !== undefined) value = found
      if (same && value !== undefined && !this.#watched) return value
    }
    if (value !== undefined) return value
    const fallback = node.ready.find((rule) => rule.isDefault)
    return fallback && this.#rule(node, fallback, args, undefined, true)
  }

  #rule(
    node: RuleNode,
    rule: ReadyRule,
    args: Value[],
    before: Value | undefined,
    first: boolean,
  ): Value | undefined {
    for (const clause of rule.clauses) {
      const value = this.#clause(clause, args, before, first)
      if (this.#watched?.node === node)
        this.#watched.tried.push({ rule: rule.name, place: clause.at, holds: value !== undefined })
      if (value !== undefined) return value
    }
    return undefined
  }

  #clause(clause: ReadyClause, args: Value[], before: Value | undefined, first: boolean): Value | undefined {
    const frame: Frame = new Map()
    let value = before
    let found: Value | undefined
    this.#matchAll(clause.args, args, 0, frame, () =>
      this.#body(clause.body, 0, frame, () => {
        found = this.#build(clause.value, frame)
        if (value !== undefined && !equal(value, found))
          throw new RegoFailed(
            'eval_conflict_error',
            args.length > 0
              ? 'A function has two different values for the same arguments'
              : 'A rule has two different values',
            clause.at,
          )
        value = found
        return first
      }),
    )
    return found
  }

  #matchAll(patterns: Term[], values: Value[], at: number, frame: Frame, next: Next): boolean {
    const pattern = patterns[at]
    if (!pattern) return next()
    return this.#match(pattern, values[at] as Value, frame, () =>
      this.#matchAll(patterns, values, at + 1, frame, next),
    )
  }

  // --- terms ---------------------------------------------------------------------------------------------------------

  /** Every value of a term. */
  #values(term: Term, frame: Frame, emit: Emit): boolean {
    switch (term.kind) {
      case 'root':
        if (term.name === 'data') return this.#tree(this.start.root, [], [], frame, emit)
        return this.#world.input === undefined ? false : emit(this.#world.input)
      case 'ref':
        return this.#reference(term, frame, emit)
      case 'arrayOf':
      case 'setOf':
      case 'objectOf':
        return emit(this.#comprehension(term, frame))
      default:
        return emit(this.#build(term, frame))
    }
  }

  /** The value of a term without references, all of whose variables are bound. */
  #build(term: Term, frame: Frame): Value {
    switch (term.kind) {
      case 'scalar':
        return term.value
      case 'var': {
        const value = frame.get(term.name)
        if (value === undefined)
          throw new RegoFailed(
            'eval_unsupported',
            `${term.name.replace(/#.*$/, '')} is used before it is bound`,
            term.at,
          )
        return value
      }
      case 'array':
        this.#meter.keep(term.items.length)
        return weighed(term.items.map((item) => this.#build(item, frame)))
      case 'set':
        this.#meter.keep(term.items.length)
        return weighed(RegoSet.of(term.items.map((item) => this.#build(item, frame))))
      case 'object':
        this.#meter.keep(term.entries.length)
        return this.#object(term, frame)
      case 'arrayOf':
      case 'setOf':
      case 'objectOf':
        return this.#comprehension(term, frame)
      default:
        throw new RegoFailed('eval_unsupported', `A term of kind ${term.kind} was not taken apart`, term.at)
    }
  }

  #object(term: Extract<Term, { kind: 'object' }>, frame: Frame): Value {
    const items = new Map<string, readonly [Value, Value]>()
    for (const [keyTerm, valueTerm] of term.entries) {
      const key = this.#build(keyTerm, frame)
      const value = this.#build(valueTerm, frame)
      const name = keyOf(key)
      const known = items.get(name)
      if (known && !equal(known[1], value))
        throw new RegoFailed('eval_unsupported', 'An object is written with one key twice', keyTerm.at)
      items.set(name, [key, value])
    }
    return weighed(new RegoObject(items))
  }

  #comprehension(term: Comprehension, frame: Frame): Value {
    this.#meter.enter()
    const value = weighed(this.#collected(term, frame))
    this.#meter.leave()
    return value
  }

  #collected(term: Comprehension, frame: Frame): Value {
    if (term.kind === 'objectOf') {
      const items = new Map<string, readonly [Value, Value]>()
      this.#body(term.body, 0, frame, () => {
        const key = this.#build(term.key, frame)
        const value = this.#build(term.value, frame)
        const name = keyOf(key)
        const known = items.get(name)
        if (known && !equal(known[1], value))
          throw new RegoFailed(
            'eval_conflict_error',
            'An object comprehension gives one key two different values',
            term.at,
          )
        if (!known) this.#meter.keep(1)
        items.set(name, [key, value])
        return false
      })
      return new RegoObject(items)
    }
    const values: Value[] = []
    this.#body(term.body, 0, frame, () => {
      this.#meter.keep(1)
      values.push(this.#build(term.term, frame))
      return false
    })
    return term.kind === 'arrayOf' ? values : RegoSet.of(values)
  }

  // --- unification ---------------------------------------------------------------------------------------------------

  #isGround(term: Term, frame: Frame): boolean {
    switch (term.kind) {
      case 'scalar':
        return true
      case 'var':
        return frame.has(term.name)
      case 'array':
      case 'set':
        return term.items.every((item) => this.#isGround(item, frame))
      case 'object':
        return term.entries.every(
          ([key, value]) => this.#isGround(key, frame) && this.#isGround(value, frame),
        )
      default:
        return true
    }
  }

  #unify(left: Term, right: Term, frame: Frame, next: Next): boolean {
    if (evaluated(left)) return this.#values(left, frame, (value) => this.#equate(right, value, frame, next))
    if (evaluated(right)) return this.#values(right, frame, (value) => this.#equate(left, value, frame, next))
    return this.#pairs([[left, right]], frame, next)
  }

  /** A term, which may be a reference, made equal to a value. */
  #equate(term: Term, value: Value, frame: Frame, next: Next): boolean {
    if (evaluated(term)) return this.#values(term, frame, (own) => equal(own, value) && next())
    return this.#match(term, value, frame, next)
  }

  /** Makes pairs of patterns equal, those first that have a known side. */
  #pairs(pairs: [Term, Term][], frame: Frame, next: Next): boolean {
    if (pairs.length === 0) return next()
    for (const [i, [a, b]] of pairs.entries()) {
      const rest = [...pairs.slice(0, i), ...pairs.slice(i + 1)]
      if (this.#isGround(a, frame))
        return this.#match(b, this.#build(a, frame), frame, () => this.#pairs(rest, frame, next))
      if (this.#isGround(b, frame))
        return this.#match(a, this.#build(b, frame), frame, () => this.#pairs(rest, frame, next))
      if (a.kind === 'array' && b.kind === 'array') {
        if (a.items.length !== b.items.length) return false
        const inner = a.items.map((item, j): [Term, Term] => [item, b.items[j] as Term])
        return this.#pairs([...inner, ...rest], frame, next)
      }
      if (a.kind === 'object' && b.kind === 'object') {
        const inner = this.#objectPairs(a, b, frame)
        return inner ? this.#pairs([...inner, ...rest], frame, next) : false
      }
      if (a.kind !== 'var' && b.kind !== 'var') return false
    }
    throw new RegoFailed('eval_unsupported', 'Two unknowns cannot be made equal', pairs[0]?.[0].at)
  }

  #objectPairs(
    a: Extract<Term, { kind: 'object' }>,
    b: Extract<Term, { kind: 'object' }>,
    frame: Frame,
  ): [Term, Term][] | undefined {
    const others = new Map(b.entries.map(([key, value]) => [keyOf(this.#build(key, frame)), value]))
    if (others.size !== a.entries.length) return undefined
    const pairs: [Term, Term][] = []
    for (const [key, value] of a.entries) {
      const other = others.get(keyOf(this.#build(key, frame)))
      if (!other) return undefined
      pairs.push([value, other])
    }
    return pairs
  }

  /** Makes a pattern equal to a value, binding its open variables while `next` runs. */
  #match(pattern: Term, value: Value, frame: Frame, next: Next): boolean {
    switch (pattern.kind) {
      case 'var': {
        const known = frame.get(pattern.name)
        if (known !== undefined) return equal(known, value) && next()
        frame.set(pattern.name, value)
        const stop = next()
        frame.delete(pattern.name)
        return stop
      }
      case 'scalar':
        return equal(pattern.value, value) && next()
      case 'array':
        if (!isArray(value) || value.length !== pattern.items.length) return false
        return this.#matchAll(pattern.items, value as Value[], 0, frame, next)
      case 'object': {
        if (!(value instanceof RegoObject) || value.size !== pattern.entries.length) return false
        const values: Value[] = []
        for (const [key] of pattern.entries) {
          const found = value.get(this.#build(key, frame))
          if (found === undefined) return false
          values.push(found)
        }
        return this.#matchAll(
          pattern.entries.map(([, one]) => one),
          values,
          0,
          frame,
          next,
        )
      }
      default:
        return equal(this.#build(pattern, frame), value) && next()
    }
  }

  // --- references ----------------------------------------------------------------------------------------------------

  #reference(term: Extract<Term, { kind: 'ref' }>, frame: Frame, emit: Emit): boolean {
    const { head, path } = term
    if (head.kind !== 'root') return this.#below(this.#build(head, frame), path, 0, frame, emit)
    if (head.name === 'data') return this.#tree(this.start.root, [], path, frame, emit)
    const { input } = this.#world
    return input === undefined ? false : this.#below(input, path, 0, frame, emit)
  }

  /** The values that a path leads to inside a value. */
  #below(value: Value, path: Term[], at: number, frame: Frame, emit: Emit): boolean {
    const part = path[at]
    if (!part) return emit(value)
    this.#meter.step()
    if (this.#isGround(part, frame)) {
      const found = member(value, this.#build(part, frame))
      return found === undefined ? false : this.#below(found, path, at + 1, frame, emit)
    }
    if (isArray(value) && part.kind !== 'var') return false
    for (const [key, item] of entriesOf(value)) {
      this.#meter.step()
      if (this.#match(part, key, frame, () => this.#below(item, path, at + 1, frame, emit))) return true
    }
    return false
  }

  /** The values below data: rules where there are rules, documents elsewhere. */
  #tree(node: RuleNode | undefined, walked: Value[], path: Term[], frame: Frame, emit: Emit): boolean {
    const part = path[walked.length]
    if (!part) {
      const value = this.#extent(node, walked)
      return value === undefined ? false : emit(value)
    }
    const go = (key: Value): boolean => this.#treeNext(node, [...walked, key], path, frame, emit)
    if (this.#isGround(part, frame)) return go(this.#build(part, frame))
    const document = this.#document(walked)
    const seen = new Set<string>()
    for (const [key] of document === undefined ? [] : entriesOf(document)) {
      this.#meter.step()
      seen.add(keyOf(key))
      if (this.#match(part, key, frame, () => go(key))) return true
    }
    for (const child of sortedChildren(node))
      if (!seen.has(keyOf(child.key)) && this.#match(part, child.key, frame, () => go(child.key))) return true
    return false
  }

  #treeNext(node: RuleNode | undefined, walked: Value[], path: Term[], frame: Frame, emit: Emit): boolean {
    const child = this.#replaced(walked) ? undefined : node?.child(walked.at(-1) as Value)
    if (child && child.rules.length > 0) return this.#virtual(child, path, walked.length, frame, emit)
    return this.#tree(child, walked, path, frame, emit)
  }

  /** True when `with` put a document at or above this path. */
  #replaced(walked: readonly Value[]): boolean {
    return this.#world.targets.some(
      (target) =>
        target.length <= walked.length && target.every((part, i) => equal(part, walked[i] as Value)),
    )
  }

  /** The document at a path: what `with` put there, over the base. */
  #document(walked: readonly Value[]): Value | undefined {
    const over = this.#world.overlay === undefined ? undefined : found(this.#world.overlay, walked)
    if (this.#replaced(walked)) return over
    const base = walked.length > 0 ? found(this.start.data, walked) : withoutSystem(this.start.data)
    return over === undefined ? base : base === undefined ? over : merged(over, base)
  }

  #extent(node: RuleNode | undefined, walked: Value[]): Value | undefined {
    const document = this.#document(walked)
    const virtual = node && this.#leaves(node, walked)
    if (virtual === undefined) return document
    return document === undefined ? virtual : merged(document, virtual)
  }

  #leaves(node: RuleNode, walked: Value[]): Value {
    const items: [Value, Value][] = []
    for (const child of sortedChildren(node)) {
      const path = [...walked, child.key]
      if (this.#replaced(path)) {
        const put = this.#document(path)
        if (put !== undefined) items.push([child.key, put])
        continue
      }
      const value = child.rules.length > 0 ? this.#whole(child) : this.#leaves(child, path)
      if (value !== undefined) items.push([child.key, value])
    }
    return RegoObject.of(items)
  }

  #whole(node: RuleNode): Value | undefined {
    if (node.isFunction) return undefined
    if (node.kind === 'complete') return this.#remembered(node.id, () => this.#single(node, []))
    return this.#remembered(node.id, () => this.#parts(node, []))
  }

  #virtual(node: RuleNode, path: Term[], at: number, frame: Frame, emit: Emit): boolean {
    const value =
      node.kind === 'complete' || node.isFunction || path.length === at
        ? this.#whole(node)
        : this.#keyed(node, path, at, frame)
    return value === undefined ? false : this.#below(value, path, at, frame, emit)
  }

  /** What a partial rule makes, as far as the known parts of the path ask for it. */
  #keyed(node: RuleNode, path: Term[], at: number, frame: Frame): Value | undefined {
    if (this.#world.cache.has(node.id) || !this.#isGround(path[at] as Term, frame)) return this.#whole(node)
    const longest = Math.max(
      ...node.ready.flatMap(({ clauses }) => clauses.map((one) => one.path.length + (one.key ? 1 : 0))),
    )
    const wanted = path
      .slice(at, at + longest)
      .map((part) => (this.#isGround(part, frame) ? this.#build(part, frame) : undefined))
    const name = wanted.map((one) => (one === undefined ? '_' : keyOf(one))).join('][')
    return this.#remembered(`${node.id}[${name}]`, () => this.#parts(node, wanted))
  }

  #parts(node: RuleNode, wanted: (Value | undefined)[]): Value {
    const builder = new ObjectBuilder(node.kind === 'set')
    for (const rule of node.ready) {
      for (const clause of rule.clauses) {
        let holds = false
        const frame: Frame = new Map()
        const heads = clause.key ? [...clause.path, clause.key] : clause.path
        this.#matchWanted(heads, wanted, 0, frame, () =>
          this.#body(clause.body, 0, frame, () => {
            holds = true
            this.#meter.keep(1)
            const place = clause.path.map((part) => this.#build(part, frame))
            if (clause.key) builder.add(place, this.#build(clause.key, frame), clause.at)
            else builder.put(place, this.#build(clause.value, frame), clause.at)
            return false
          }),
        )
        if (this.#watched?.node === node)
          this.#watched.tried.push({ rule: rule.name, place: clause.at, holds })
      }
    }
    return weighed(builder.value())
  }

  #matchWanted(heads: Term[], wanted: (Value | undefined)[], at: number, frame: Frame, next: Next): boolean {
    if (at >= heads.length || at >= wanted.length) return next()
    const value = wanted[at]
    const go = (): boolean => this.#matchWanted(heads, wanted, at + 1, frame, next)
    if (value === undefined) return go()
    return this.#match(heads[at] as Term, value, frame, go)
  }
}

/** True when a rule's clauses all have the same constant value, so that the first that holds decides. */
function sameConstant(node: RuleNode): boolean {
  const values = node.ready
    .filter((rule) => !rule.isDefault)
    .flatMap((rule) => rule.clauses.map((clause) => clause.value))
  const [first] = values
  if (first?.kind !== 'scalar') return false
  return values.every((one) => one.kind === 'scalar' && compare(one.value, first.value) === 0)
}

function evaluated(term: Term): boolean {
  return term.kind === 'ref' || term.kind === 'root' || 'body' in term
}

function sortedChildren(node: RuleNode | undefined): RuleNode[] {
  return node ? [...node.children.values()].sort((a, b) => compare(a.key, b.key)) : []
}
