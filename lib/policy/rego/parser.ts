/*
 * Tokens into a tree, for Rego v1: `if` and `contains` are required where v1 requires them. A mistake is noted and
 * reading goes on at the next rule, so that one look shows them all. Nothing is guessed: what the grammar does not
 * know is a parse error.
 */
import {
  type Clause,
  type Expr,
  type Form,
  type Import,
  type Module,
  operators,
  type Rule,
  type Term,
  type With,
} from './ast'
import { isKeyword, type Token, tokensOf } from './lexer'
import { parseNumber, type RegoNumber } from './numbers'
import type { Diagnostics, Place } from './refusal'
import type { Value } from './values'

/** Terms and bodies inside one another; far beyond what a person writes, far below what a stack holds. */
const maxDepth = 100
/** Longest source that is read. */
export const maxSourceBytes = 1_048_576

/** Stops the reading of one rule; the diagnostic is already noted. */
class Lost extends Error {}

/** Reads a module. Mistakes are added to `diagnostics`. */
export function parseModule(source: string, text: string, diagnostics: Diagnostics): Module {
  return new Parser(source, text, diagnostics).module()
}

/** Reads the body of a query: `data.p.allow`, or several statements. */
export function parseQuery(source: string, text: string, diagnostics: Diagnostics): Expr[] {
  return new Parser(source, text, diagnostics).query()
}

class Parser {
  #tokens: Token[]
  #at = 0
  #depth = 0
  #wildcards = 0

  constructor(
    readonly source: string,
    text: string,
    readonly diagnostics: Diagnostics,
  ) {
    const place = { source, line: 1, column: 1 }
    if (text.length > maxSourceBytes) {
      diagnostics.add('rego_unsupported', `The source is longer than ${maxSourceBytes} characters`, place)
      text = ''
    }
    this.#tokens = tokensOf(source, text, diagnostics)
  }

  // --- modules and rules -------------------------------------------------------------------------------------------

  module(): Module {
    const module: Module = { source: this.source, package: [], imports: [], rules: [] }
    const header = this.#recover(() => this.#package())
    if (header) module.package = header
    while (this.#peek.kind !== 'end') {
      this.#recover(() => {
        if (this.#isKeyword('import') && !this.#isReferenceAhead()) {
          const found = this.#import()
          if (found) module.imports.push(found)
        } else module.rules.push(this.#rule())
        if (this.#peek.kind !== 'end' && !this.#peek.fresh && !this.#skip(';'))
          this.#fail(`${this.#found} stands where the line should end`)
      })
    }
    return module
  }

  query(): Expr[] {
    return (
      this.#recover(() => {
        const body = this.#body(undefined)
        if (this.#peek.kind !== 'end') this.#fail(`${this.#found} stands where the query should end`)
        return body
      }) ?? []
    )
  }

  #recover<T>(read: () => T): T | undefined {
    const from = this.#at
    try {
      return read()
    } catch (cause) {
      if (!(cause instanceof Lost)) throw cause
      this.#depth = 0
      if (this.#at === from) this.#at += 1
      while (this.#peek.kind !== 'end' && !(this.#peek.fresh && this.#peek.column === 1)) this.#at += 1
      return undefined
    }
  }

  #package(): string[] {
    if (!this.#isKeyword('package'))
      this.#fail(`${this.#found} stands first; a module starts with its package`)
    this.#at += 1
    const term = this.#term(true)
    const path = this.#plainPath(term)
    if (!path) this.#fail('A package is named by names and strings alone', term.at)
    return path as string[]
  }

  #plainPath(term: Term): string[] | undefined {
    if (term.kind === 'var' || term.kind === 'root') return [term.name]
    if (term.kind !== 'ref' || (term.head.kind !== 'var' && term.head.kind !== 'root')) return undefined
    const path: string[] = [term.head.name]
    for (const part of term.path) {
      if (part.kind !== 'scalar' || typeof part.value !== 'string') return undefined
      path.push(part.value)
    }
    return path
  }

  #import(): Import | undefined {
    const at = this.#take()
    const term = this.#term(true)
    const path = this.#plainPath(term)
    if (!path) this.#fail('An import is a path of names and strings', term.at)
    const [root, ...rest] = path as [string, ...string[]]
    let alias: string | undefined
    if (this.#isKeyword('as')) {
      this.#at += 1
      if (this.#peek.kind !== 'name')
        this.#fail(`${this.#found} stands where an import's new name is expected`)
      alias = this.#take().text
    }
    if (root === 'rego' || root === 'future') return this.#languageImport(root, rest, alias, at)
    if (root !== 'input' && root !== 'data')
      this.#fail(
        `An import starts with data, input, rego.v1 or future.keywords; this one with ${root}`,
        term.at,
      )
    const last = path?.at(-1) as string
    if (alias === undefined && isKeyword(last))
      this.#fail(`An import may not end with the keyword ${last}`, term.at)
    if ((alias === 'input' || alias === 'data') && alias !== path?.join('.'))
      this.#fail(`An import may not take the name ${alias}`, at)
    return { at, path: path as string[], alias: alias ?? last }
  }

  #languageImport(root: string, rest: string[], alias: string | undefined, at: Token): undefined {
    const path = [root, ...rest].join('.')
    const known = /^(rego\.v1|future\.keywords(\.(in|every|if|contains))?)$/
    if (!known.test(path)) this.#fail(`The import ${path} is not known; rego.v1 and future.keywords are`, at)
    if (alias !== undefined) this.#fail(`The import ${path} takes no other name`, at)
    // From OPA 1.17 on an import can change what `not` means; whether this one does depends on the version.
    if (
      path === 'future.keywords' &&
      this.#tokens.some((token) => token.kind === 'keyword' && token.text === 'not')
    )
      this.diagnostics.add(
        'rego_unsupported',
        'import future.keywords may change what not means; use import rego.v1',
        at,
      )
    return undefined
  }

  #rule(): Rule {
    const at = this.#peek
    let isDefault = false
    if (this.#isKeyword('default') && !this.#isReferenceAhead()) {
      this.#at += 1
      isDefault = true
    }
    const head = this.#ruleHead()
    const rule: Rule = { ...head, at, isDefault, clauses: [] }
    if (this.#isKeyword('contains')) {
      if (head.args) this.#fail('contains cannot be used with a function')
      if (isDefault) this.#fail('A default is for rules with one value, not for contains')
      this.#at += 1
      rule.key = this.#infix()
    }
    const value = rule.key ? undefined : this.#ruleValue()
    if (isDefault) return this.#defaultRule(rule, value)
    const yes: Term = { kind: 'scalar', value: true, at: head.at }
    if (this.#isKeyword('if') && !this.#isReferenceAhead()) {
      this.#at += 1
      rule.clauses.push({ at, value: value ?? yes, body: this.#ifBody() })
      this.#elses(rule)
      return rule
    }
    if (this.#is('{')) this.#fail('The keyword if is required before a rule body')
    if (value === undefined && !rule.key) {
      this.#fail(
        rule.path.length > 0
          ? 'The keyword contains is required for a partial set rule'
          : `${rule.name} is no rule: it has neither value nor body`,
        at,
      )
    }
    rule.clauses.push({ at, value: value ?? yes, body: [] })
    if (this.#isKeyword('else') && !this.#isReferenceAhead())
      this.#fail('else follows a rule body; this rule has none')
    return rule
  }

  #ruleHead(): { name: string; path: Term[]; args?: Term[]; at: Place } {
    const at = this.#peek
    const reference = at.kind === 'keyword' && this.#isReferenceAhead()
    if (at.kind !== 'name' && !reference) this.#fail(`${this.#found} stands where a rule is expected`)
    if (at.text === '_') this.#fail('A rule cannot be named _')
    this.#at += 1
    const path: Term[] = []
    for (;;) {
      if (this.#is('.') && !this.#peek.spaced) path.push(this.#dotPart())
      else if (this.#is('[') && (!this.#peek.spaced || path.length === 0) && !this.#peek.fresh)
        path.push(this.#bracketPart())
      else break
    }
    if (this.#is('(') && !this.#peek.fresh) {
      this.#at += 1
      const args = this.#list(')')
      if (path.some((part) => part.kind !== 'scalar'))
        this.#fail('A function is named by names and strings alone', at)
      if (this.#is('[') || this.#is('.')) this.#fail('Nothing may follow the arguments in the name of a rule')
      return { name: at.text, path, args, at }
    }
    return { name: at.text, path, at }
  }

  #ruleValue(): Term | undefined {
    if (!this.#is(':=') && !this.#is('=')) return undefined
    this.#at += 1
    return this.#infix()
  }

  #defaultRule(rule: Rule, value: Term | undefined): Rule {
    if (!value) this.#fail('A default rule needs a value', rule.at)
    else rule.clauses.push({ at: rule.at, value, body: [] })
    if (this.#isKeyword('if') || this.#is('{')) this.#fail('A default rule has no body')
    if (rule.path.some((part) => part.kind !== 'scalar'))
      this.#fail('A default rule is named by names and strings alone', rule.at)
    return rule
  }

  /** After `if`: one statement, or a body in braces (a set alone would always hold, so it is read as a body). */
  #ifBody(): Expr[] {
    const from = this.#at
    const noted = this.diagnostics.found.length
    try {
      const expr = this.#statement()
      if (!(expr.form.kind === 'term' && expr.form.term.kind === 'set')) return [expr]
    } catch (cause) {
      if (!(cause instanceof Lost) || this.#tokens[from]?.text !== '{') throw cause
      this.diagnostics.found.length = noted
    }
    this.#at = from
    return this.#braced()
  }

  #braced(): Expr[] {
    this.#expect('{')
    const body = this.#body('}')
    this.#expect('}')
    return body
  }

  #elses(rule: Rule): void {
    while (this.#isKeyword('else') && !this.#isReferenceAhead()) {
      const at = this.#take()
      if (rule.key) this.#fail('else cannot be used with contains', at)
      if (rule.path.some((part) => part.kind !== 'scalar'))
        this.#fail('else cannot be used on rules with variables in their name', at)
      const value = this.#ruleValue() ?? ({ kind: 'scalar', value: true, at } as Term)
      const clause: Clause = { at, value, body: [] }
      rule.clauses.push(clause)
      if (this.#isKeyword('if') && !this.#isReferenceAhead()) {
        this.#at += 1
        clause.body = this.#is('{') ? this.#ifBody() : [this.#statement()]
      } else if (this.#is('{')) this.#fail('The keyword if is required before a rule body')
      else if (clause.value.at === at) this.#fail('else needs a value or a body', at)
      else return
    }
    if (this.#is('{')) this.#fail('A rule has one body; write a second rule')
  }

  // --- statements --------------------------------------------------------------------------------------------------

  #body(end: string | undefined): Expr[] {
    const body: Expr[] = []
    this.#enter()
    for (;;) {
      if (body.length > 0 && this.#atEnd(end) && this.#tokens[this.#at - 1]?.text !== ';') break
      if (this.#atEnd(end))
        this.#fail(body.length > 0 ? 'A statement is missing after ;' : 'A body has no statement')
      body.push(this.#statement())
      if (this.#skip(';')) continue
      if (this.#atEnd(end)) break
      if (!this.#peek.fresh) this.#fail(`${this.#found} stands where a statement should end`)
    }
    this.#depth -= 1
    if (body.length > 500) this.#fail('A body has more than 500 statements')
    return body
  }

  #atEnd(end: string | undefined): boolean {
    return end === undefined ? this.#peek.kind === 'end' : this.#is(end)
  }

  #statement(): Expr {
    const at = this.#peek
    let negated = false
    if (this.#isKeyword('not') && !this.#isReferenceAhead()) {
      this.#at += 1
      negated = true
      if (this.#is('{')) {
        this.diagnostics.add(
          'rego_unsupported',
          'not before a brace is not known here; name the condition in a rule',
          at,
        )
        throw new Lost()
      }
    }
    const form = this.#form(negated)
    return { at, negated, form, with: this.#withs() }
  }

  #form(negated: boolean): Form {
    if (!this.#isReferenceAhead()) {
      for (const word of ['some', 'every'] as const) {
        if (!this.#isKeyword(word)) continue
        if (negated) this.#fail(`${word} cannot be negated`)
        return word === 'some' ? this.#some() : this.#every()
      }
    }
    const left = this.#infix()
    if (this.#is(':=') || this.#is('=')) {
      const kind = this.#take().text === ':=' ? 'assign' : 'unify'
      return { kind, left, right: this.#infix() }
    }
    return left.kind === 'call'
      ? { kind: 'call', op: left.op, args: left.args }
      : { kind: 'term', term: left }
  }

  #withs(): With[] {
    const found: With[] = []
    while (this.#isKeyword('with') && !this.#isReferenceAhead()) {
      const at = this.#take()
      const target = this.#term()
      if (!this.#isKeyword('as')) this.#fail(`${this.#found} stands where with's as is expected`)
      this.#at += 1
      found.push({ at, target, value: this.#infix() })
    }
    return found
  }

  #some(): Form {
    this.#at += 1
    const from = this.#at
    const term = this.#infix()
    const member = this.#memberOf(term)
    if (member) return { kind: 'someIn', ...member }
    if (term.kind === 'call') this.#fail('some is followed by names, or by x in xs', term.at)
    this.#at = from
    const names: { name: string; at: Place }[] = []
    do {
      const token = this.#take()
      if (token.kind !== 'name') this.#fail('some is followed by names, or by x in xs', token)
      names.push({ name: token.text === '_' ? this.#wildcard() : token.text, at: token })
    } while (this.#skip(','))
    return { kind: 'some', names }
  }

  #memberOf(term: Term): { key?: Term; value: Term; domain: Term } | undefined {
    if (term.kind !== 'call' || term.op.kind !== 'var') return undefined
    const [a, b, c] = term.args as [Term, Term, Term]
    if (term.op.name === 'internal.member_2') return { value: a, domain: b }
    if (term.op.name === 'internal.member_3') return { key: a, value: b, domain: c }
    return undefined
  }

  #every(): Form {
    this.#at += 1
    const term = this.#infix()
    const member = this.#memberOf(term)
    if (!member) return this.#fail('every is followed by x in xs or k, v in xs', term.at)
    if (member.key && member.key.kind !== 'var') this.#fail('The key of every is a name', member.key.at)
    if (member.value.kind !== 'var') this.#fail('The value of every is a name', member.value.at)
    return { kind: 'every', ...member, body: this.#braced() }
  }

  // --- terms -------------------------------------------------------------------------------------------------------

  #enter(): void {
    this.#depth += 1
    if (this.#depth > maxDepth) {
      this.diagnostics.add('rego_unsupported', `Terms are nested deeper than ${maxDepth} levels`, this.#peek)
      throw new Lost()
    }
  }

  /** A term with operators; `k, v in xs` is read unless a comma ends the term (in lists). */
  #infix(inList = false): Term {
    this.#enter()
    let left = this.#operation(0)
    if (!inList && this.#is(',')) left = this.#keyedMember(left)
    while (this.#isKeyword('in') && !this.#isReferenceAhead()) {
      this.#at += 1
      left = this.#callOf('internal.member_2', [left, this.#operation(0)], left.at)
      if (!inList && this.#is(',')) left = this.#keyedMember(left)
    }
    this.#depth -= 1
    return left
  }

  #keyedMember(left: Term): Term {
    const from = this.#at
    const noted = this.diagnostics.found.length
    const depth = this.#depth
    try {
      this.#at += 1
      const value = this.#operation(0)
      if (this.#isKeyword('in')) {
        this.#at += 1
        return this.#callOf('internal.member_3', [left, value, this.#operation(0)], left.at)
      }
    } catch (cause) {
      if (!(cause instanceof Lost)) throw cause
      this.diagnostics.found.length = noted
      this.#depth = depth
    }
    this.#at = from
    return left
  }

  static readonly levels = [['==', '!=', '<', '>', '<=', '>='], ['|'], ['&'], ['+', '-'], ['*', '/', '%']]

  #operation(level: number): Term {
    const marks = Parser.levels[level]
    if (!marks) return this.#term()
    let left = this.#operation(level + 1)
    while (this.#peek.kind === 'mark' && marks.includes(this.#peek.text)) {
      const mark = this.#take().text
      left = this.#callOf(operators[mark] as string, [left, this.#operation(level + 1)], left.at)
    }
    return left
  }

  #callOf(name: string, args: Term[], at: Place): Term {
    return { kind: 'call', op: { kind: 'var', name, at }, args, at }
  }

  /** A term without operators. `plain` reads the names of packages and imports, where roots are only names. */
  #term(plain = false): Term {
    this.#enter()
    const term = this.#suffixes(this.#primary(plain))
    this.#depth -= 1
    return term
  }

  #primary(plain: boolean): Term {
    const token = this.#peek
    const at: Place = token
    if (token.kind === 'string') return this.#scalar(this.#take().value as string, at)
    if (token.kind === 'number' || (token.kind === 'mark' && token.text === '-'))
      return this.#scalar(this.#number(), at)
    if (token.kind === 'keyword' && !this.#isReferenceAhead()) {
      const constants: Record<string, Value> = { null: null, true: true, false: false }
      if (token.text in constants) return this.#scalar(constants[this.#take().text] as Value, at)
      if (token.text !== 'contains') this.#fail(`The keyword ${token.text} stands where a term is expected`)
    }
    if (token.kind === 'name' || token.kind === 'keyword') return this.#name(plain)
    if (this.#is('[')) return this.#array()
    if (this.#is('{')) return this.#braces()
    if (this.#is('(')) {
      this.#at += 1
      const inner = this.#infix()
      this.#expect(')')
      return inner
    }
    return this.#fail(`${this.#found} stands where a term is expected`)
  }

  #scalar(value: Value, at: Place): Term {
    return { kind: 'scalar', value, at }
  }

  #number(): RegoNumber {
    const token = this.#take()
    if (token.text !== '-') return token.value as RegoNumber
    const next = this.#take()
    const value = next.kind === 'number' ? parseNumber(`-${next.text}`) : undefined
    return value ?? this.#fail('A number is expected after -', next)
  }

  #name(plain: boolean): Term {
    const token = this.#take()
    if (token.text === '_') return { kind: 'var', name: this.#wildcard(), at: token }
    if (!plain && (token.text === 'input' || token.text === 'data'))
      return { kind: 'root', name: token.text, at: token }
    return { kind: 'var', name: token.text, at: token }
  }

  #wildcard(): string {
    this.#wildcards += 1
    return `_${this.#wildcards}#`
  }

  /** `.name`, `[term]` and `(args)` that follow without white space. */
  #suffixes(head: Term): Term {
    let term = head
    for (;;) {
      const token = this.#peek
      if (token.kind !== 'mark' || token.spaced) return term
      if (token.text === '(') {
        if (term.kind !== 'var' && term.kind !== 'ref')
          this.#fail('Only what has a name can be called', term.at)
        this.#at += 1
        const args = this.#list(')')
        const emptySet = term.kind === 'var' && term.name === 'set' && args.length === 0
        term = emptySet
          ? { kind: 'set', items: [], at: term.at }
          : { kind: 'call', op: term, args, at: term.at }
        continue
      }
      if (token.text !== '.' && token.text !== '[') return term
      if (term.kind === 'scalar') this.#fail('A constant has no parts to refer to', term.at)
      const part = token.text === '.' ? this.#dotPart() : this.#bracketPart()
      term =
        term.kind === 'ref'
          ? { ...term, path: [...term.path, part] }
          : { kind: 'ref', head: term, path: [part], at: term.at }
    }
  }

  #dotPart(): Term {
    this.#at += 1
    const token = this.#take()
    if ((token.kind !== 'name' && token.kind !== 'keyword') || token.spaced)
      this.#fail('A name is expected after .', token)
    return this.#scalar(token.text, token)
  }

  #bracketPart(): Term {
    this.#at += 1
    const part = this.#infix()
    this.#expect(']')
    return part
  }

  #list(end: string): Term[] {
    const items: Term[] = []
    while (!this.#is(end)) {
      items.push(this.#infix(true))
      if (!this.#skip(',')) break
    }
    this.#expect(end)
    return items
  }

  #array(): Term {
    const at = this.#take()
    const body = this.#comprehension(']', () => this.#term())
    if (body) return { kind: 'arrayOf', term: body.head, body: body.body, at }
    return { kind: 'array', items: this.#list(']'), at }
  }

  #braces(): Term {
    const at = this.#take()
    if (this.#skip('}')) return { kind: 'object', entries: [], at }
    const set = this.#comprehension('}', () => this.#term())
    if (set) return { kind: 'setOf', term: set.head, body: set.body, at }
    const object = this.#comprehension('}', () => this.#pair(() => this.#term()))
    if (object) return { kind: 'objectOf', key: object.head[0], value: object.head[1], body: object.body, at }
    const first = this.#infix(true)
    if (!this.#is(':')) {
      this.#skip(',')
      return { kind: 'set', items: [first, ...this.#list('}')], at }
    }
    return this.#object(first, at)
  }

  #object(first: Term, at: Place): Term {
    this.#expect(':')
    const entries: [Term, Term][] = [[first, this.#infix(true)]]
    while (this.#skip(',') && !this.#is('}')) entries.push(this.#pair(() => this.#infix(true)))
    this.#expect('}')
    return { kind: 'object', entries, at }
  }

  #pair(read: () => Term): [Term, Term] {
    const key = read()
    this.#expect(':')
    return [key, read()]
  }

  /** `head | body end` when that is what follows, else undefined with nothing read. */
  #comprehension<T>(end: string, readHead: () => T): { head: T; body: Expr[] } | undefined {
    const from = this.#at
    const noted = this.diagnostics.found.length
    const depth = this.#depth
    if (!this.#barAhead()) return undefined
    try {
      const head = readHead()
      if (this.#skip('|')) {
        const body = this.#body(end)
        this.#expect(end)
        return { head, body }
      }
    } catch (cause) {
      if (!(cause instanceof Lost)) throw cause
    }
    this.diagnostics.found.length = noted
    this.#depth = depth
    this.#at = from
    return undefined
  }

  /** A look ahead, so that deep nests of brackets are not read twice at every level: is there a | before the end? */
  #barAhead(): boolean {
    let open = 0
    for (let i = this.#at; i < this.#tokens.length; i += 1) {
      const token = this.#tokens[i] as Token
      if (token.kind !== 'mark') continue
      if ('([{'.includes(token.text)) open += 1
      else if (')]}'.includes(token.text) && --open < 0) return false
      else if (open === 0 && token.text === '|') return true
      else if (open === 0 && token.text === ',') return false
    }
    return false
  }

  // --- tokens ------------------------------------------------------------------------------------------------------

  get #peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] as Token
  }

  get #found(): string {
    return this.#peek.kind === 'end' ? 'The end of the source' : JSON.stringify(this.#peek.text.slice(0, 40))
  }

  #take(): Token {
    const token = this.#peek
    this.#at += 1
    return token
  }

  #is(mark: string): boolean {
    return this.#peek.kind === 'mark' && this.#peek.text === mark
  }

  #isKeyword(word: string): boolean {
    return this.#peek.kind === 'keyword' && this.#peek.text === word
  }

  /** A keyword directly followed by . or [ is the head of a reference. */
  #isReferenceAhead(): boolean {
    const next = this.#tokens[this.#at + 1]
    if (this.#peek.kind !== 'keyword') return false
    return next?.kind === 'mark' && !next.spaced && (next.text === '.' || next.text === '[')
  }

  #skip(mark: string): boolean {
    if (!this.#is(mark)) return false
    this.#at += 1
    return true
  }

  #expect(mark: string): void {
    if (!this.#skip(mark)) this.#fail(`${this.#found} stands where ${mark} is expected`)
  }

  #fail(message: string, at: Place = this.#peek): never {
    this.diagnostics.add('rego_parse_error', message, at)
    throw new Lost()
  }
}
