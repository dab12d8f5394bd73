/*
 * An evaluator for the core of Rego v1, Open Policy Agent's language, that runs where Holdpoint runs: in Node and in a
 * browser, without a process or an address of its own.
 *
 * What it protects: the answer. A policy decides whether an agent may act, so a wrong answer is a hole and no answer
 * is only a nuisance. Hence two rules. What this evaluator does not know is refused when the policy is loaded, with
 * its place and a sentence; and what goes wrong while it runs (two values where one is allowed, a bound, a construct
 * that turns out to be unknown only then) is RegoFailed, which every caller reads as a denial. Nothing is guessed.
 *
 * How a policy goes through: `lexer` and `parser` read it; `names` says what each name means; `expand` takes calls and
 * references out of terms; `safety` puts statements in an order in which every variable is known when it is needed;
 * `compile` checks functions, recursion and types along the way; `evaluate` searches. These are OPA's own steps, in
 * OPA's order, because what a policy means depends on them.
 *
 * It never reads a clock, chance, a disk or the network: `time.now_ns` is the moment that the caller passes in.
 */
import type { Json } from '@/lib/base/json'
import type { Expr, Term } from './ast'
import { compileModules, compileQuery, type Program, type ReadyQuery } from './compile'
import { Evaluation, type Tried } from './evaluate'
import { defaultLimits, type Limits } from './limits'
import { Diagnostics, RegoFailed } from './refusal'
import type { RuleNode } from './rule-tree'
import { emptyObject, fromJson, toJson, type Value } from './values'

export type { RegoDiagnostic } from './refusal'
export { RegoFailed, RegoRefused } from './refusal'

export interface RegoSource {
  /** What diagnostics call it: a file's name, a field. */
  name: string
  text: string
}

export interface RegoExplanation {
  value: Json | undefined
  /** The clauses of the rule that the query names, in the order they were tried. */
  tried: { rule: string; source: string; line: number; holds: boolean }[]
}

export interface RegoPolicy {
  /**
   * The value of the query: of a single reference its value, of a body `true` when it holds; undefined when undefined.
   * `now` is milliseconds since the epoch. Throws RegoFailed.
   */
  evaluate(input: Json | undefined, data: Json, now: number): Json | undefined
  /** Every way in which the query holds, each with the values of its variables. Throws RegoFailed. */
  query(input: Json | undefined, data: Json, now: number): Record<string, Json>[]
  /** The value, and which clauses of the rule said so. Throws RegoFailed. */
  explain(input: Json | undefined, data: Json, now: number): RegoExplanation
}

export interface RegoOptions {
  /** `data.agent.allow`, or a body. Without it `data` as a whole is asked for. */
  query?: string
  limits?: Limits
}

/** Parses and checks a policy and its query. Throws RegoRefused with all diagnostics. */
export function compileRego(modules: RegoSource[], options: RegoOptions = {}): RegoPolicy {
  const program = compileModules(modules)
  if (options.query === usualQuery) requirePackage(program, modules)
  const query = compileQuery(program, options.query ?? 'data')
  return new Policy(program, query, options.limits ?? defaultLimits)
}

/** What agentd asks when a workflow names no query of its own. */
const usualQuery = 'data.agent.allow'

/** A policy without `package agent` would deny everything in silence; it is refused as it is loaded. */
function requirePackage({ modules }: Program, sources: RegoSource[]): void {
  if (modules.some(({ package: name }) => name.length === 1 && name[0] === 'agent')) return
  const diagnostics = new Diagnostics()
  for (const [at, { name, text }] of sources.entries()) {
    const lines = text.split('\n')
    const line = Math.max(
      0,
      lines.findIndex((one) => /^\s*package\b/.test(one)),
    )
    diagnostics.add(
      'rego_compile_error',
      `The query is ${usualQuery}, and the package is ${modules[at]?.package.join('.') ?? 'another'}; package agent was expected`,
      { source: name, line: line + 1, column: Math.max(0, lines[line]?.indexOf('package') ?? 0) + 1 },
    )
  }
  diagnostics.throwIfAny()
}

/** How many answers a query may have. */
const maxAnswers = 10_000

class Policy implements RegoPolicy {
  constructor(
    readonly program: Program,
    readonly ready: ReadyQuery,
    readonly limits: Limits,
  ) {}

  evaluate(input: Json | undefined, data: Json, now: number): Json | undefined {
    const value = firstValue(this.#start(input, data, now), this.ready.body)
    return value === undefined ? undefined : toJson(value)
  }

  query(input: Json | undefined, data: Json, now: number): Record<string, Json>[] {
    return answers(this.#start(input, data, now), this.ready).map((one) =>
      Object.fromEntries([...one].map(([name, value]) => [name, toJson(value)])),
    )
  }

  explain(input: Json | undefined, data: Json, now: number): RegoExplanation {
    const evaluation = this.#start(input, data, now)
    const node = ruleOf(this.program.root, this.ready.body)
    const tried: Tried[] = node ? evaluation.watch(node) : []
    const value = firstValue(evaluation, this.ready.body)
    return {
      value: value === undefined ? undefined : toJson(value),
      tried: tried.map(({ rule, place, holds }) => ({ rule, source: place.source, line: place.line, holds })),
    }
  }

  #start(input: Json | undefined, data: Json, now: number): Evaluation {
    return startEvaluation(
      this.program,
      input === undefined ? undefined : fromJson(input),
      fromJson(data),
      now,
      this.limits,
    )
  }
}

export function startEvaluation(
  program: Program,
  input: Value | undefined,
  data: Value,
  now: number,
  limits: Limits,
  strict = false,
): Evaluation {
  return new Evaluation({ root: program.root, input, data: data ?? emptyObject, now, limits, strict })
}

/** The first value of a query that is one term; of a body, true when it holds. */
function firstValue(evaluation: Evaluation, body: Expr[]): Value | undefined {
  const term = singleTerm(body)
  let value: Value | undefined
  if (term) {
    evaluation.values(term, (found) => {
      value = found
      return true
    })
    return value
  }
  evaluation.search(body, () => {
    value = true
    return true
  })
  return value
}

function singleTerm(body: Expr[]): Term | undefined {
  const [only] = body
  if (body.length !== 1 || !only || only.negated || only.with.length > 0 || only.form.kind !== 'term')
    return undefined
  return only.form.term
}

/** The node of the rule that the query asks for. */
function ruleOf(root: RuleNode, body: Expr[]): RuleNode | undefined {
  const term = singleTerm(body)
  if (term?.kind !== 'ref' || term.head.kind !== 'root' || term.head.name !== 'data') return undefined
  let node: RuleNode | undefined = root
  for (const part of term.path) {
    if (part.kind !== 'scalar') return undefined
    node = node?.child(part.value)
    if (node && node.rules.length > 0) return node
  }
  return undefined
}

/** All answers of a query; two that are alike are both there, as in OPA. */
export function answers(evaluation: Evaluation, query: ReadyQuery): Map<string, Value>[] {
  const found: Map<string, Value>[] = []
  evaluation.search(query.body, (frame) => {
    const answer = new Map<string, Value>()
    for (const [name, to] of query.vars) {
      const value = frame.get(to)
      if (value !== undefined) answer.set(name, value)
    }
    found.push(answer)
    if (found.length > maxAnswers)
      throw new RegoFailed('eval_bound', `The query has more than ${maxAnswers} answers`)
    return false
  })
  return found
}
