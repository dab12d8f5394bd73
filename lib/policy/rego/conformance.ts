/*
 * Judges this evaluator by cases in the form in which Open Policy Agent publishes its own: modules, data, input, a
 * query, and what is wanted. An answer is right, refused (which is safe) or wrong (which is a hole).
 */
import type { Json } from '@/lib/base/json'
import { compileModules, compileQuery } from './compile'
import { defaultLimits } from './limits'
import { numberOf, RegoNumber } from './numbers'
import { RegoFailed, RegoRefused } from './refusal'
import { answers, startEvaluation } from './rego'
import { compare, emptyObject, fromJson, isArray, jsonText, RegoObject, RegoSet, type Value } from './values'

export interface ConformanceCase {
  note: string
  query: string
  modules?: string[]
  data?: Json
  input?: Json
  /** The input as Rego text, where it is more than JSON. */
  input_term?: string
  want_result?: Record<string, Json>[]
  want_defined?: boolean
  want_error_code?: string
  want_error?: string
  sort_bindings?: boolean
  strict_error?: boolean
}

export interface Verdict {
  verdict: 'right' | 'refused' | 'wrong'
  why: string
}

type Outcome =
  | { kind: 'answers'; answers: Map<string, Value>[] }
  | { kind: 'failed'; error: RegoFailed }
  | { kind: 'refused'; error: RegoRefused }

/** Runs one case; `now` is milliseconds since the epoch. */
export function runCase(one: ConformanceCase, now = 0): Verdict {
  const outcome = outcomeOf(one, now)
  const wantsError = one.want_error_code !== undefined || one.want_error !== undefined
  return wantsError ? judgeError(one, outcome) : judgeAnswers(one, outcome)
}

function outcomeOf(one: ConformanceCase, now: number): Outcome {
  try {
    const program = compileModules((one.modules ?? []).map((text, i) => ({ name: `module-${i}.rego`, text })))
    const query = compileQuery(program, one.query)
    const data = one.data === undefined || one.data === null ? emptyObject : fromJson(one.data)
    const evaluation = startEvaluation(
      program,
      inputOf(one),
      data,
      now,
      defaultLimits,
      one.strict_error === true,
    )
    return { kind: 'answers', answers: answers(evaluation, query) }
  } catch (error) {
    if (error instanceof RegoRefused) return { kind: 'refused', error }
    if (error instanceof RegoFailed) return { kind: 'failed', error }
    throw error
  }
}

function inputOf(one: ConformanceCase): Value | undefined {
  if (one.input_term === undefined) return one.input === undefined ? undefined : fromJson(one.input)
  const program = compileModules([])
  const query = compileQuery(program, `wanted = ${one.input_term}`)
  const [answer] = answers(startEvaluation(program, undefined, emptyObject, 0, defaultLimits), query)
  return answer?.get('wanted')
}

function judgeError(one: ConformanceCase, outcome: Outcome): Verdict {
  const wanted = one.want_error_code ?? 'an error'
  if (outcome.kind === 'answers')
    return { verdict: 'wrong', why: `wanted ${wanted}, got ${shown(outcome.answers)}` }
  if (outcome.kind === 'refused') {
    const codes = outcome.error.diagnostics.map((found) => found.code)
    const same = one.want_error_code === undefined || codes.some((code) => code === one.want_error_code)
    return { verdict: same ? 'right' : 'refused', why: outcome.error.message }
  }
  const same = one.want_error_code === undefined || outcome.error.code === one.want_error_code
  return { verdict: same ? 'right' : 'refused', why: outcome.error.message }
}

function judgeAnswers(one: ConformanceCase, outcome: Outcome): Verdict {
  if (outcome.kind === 'refused') return { verdict: 'refused', why: outcome.error.message }
  if (outcome.kind === 'failed') {
    const unknown = outcome.error.code === 'eval_unsupported' || outcome.error.code === 'eval_bound'
    return { verdict: unknown ? 'refused' : 'wrong', why: outcome.error.message }
  }
  const { answers: found } = outcome
  if (one.want_defined !== undefined && one.want_result === undefined) {
    const defined = found.length > 0
    return defined === one.want_defined
      ? right
      : { verdict: 'wrong', why: `wanted defined ${one.want_defined}, got ${shown(found)}` }
  }
  const wanted = RegoSet.of((one.want_result ?? []).map((answer) => wantedAnswer(answer)))
  const got = RegoSet.of(found.map((answer) => gotAnswer(answer, one.sort_bindings === true)))
  return compare(wanted, got) === 0
    ? right
    : { verdict: 'wrong', why: `wanted ${jsonText(wanted)}, got ${jsonText(got)}` }
}

const right: Verdict = { verdict: 'right', why: '' }

function wantedAnswer(answer: Record<string, Json>): Value {
  return RegoObject.of(Object.entries(answer).map(([name, value]) => [name, fromJson(value)] as const))
}

function gotAnswer(answer: Map<string, Value>, sorted: boolean): Value {
  return RegoObject.of(
    [...answer].map(([name, value]) => {
      const plain = asJson(value)
      return [name, sorted && isArray(plain) ? [...plain].sort(compare) : plain] as const
    }),
  )
}

/** The value as a case's file can say it: sets as arrays, keys as texts, numbers no finer than a double. */
function asJson(value: Value): Value {
  if (value instanceof RegoNumber) return value.small === undefined ? asDouble(value) : value
  if (value instanceof RegoSet) return value.sorted.map(asJson)
  if (isArray(value)) return value.map(asJson)
  if (!(value instanceof RegoObject)) return value
  return RegoObject.of(
    value.sorted.map(([key, item]) => [typeof key === 'string' ? key : jsonText(key), asJson(item)] as const),
  )
}

function asDouble(number: RegoNumber): Value {
  const near = Number(number.text)
  return Number.isFinite(near) ? numberOf(near) : number
}

function shown(found: Map<string, Value>[]): string {
  return jsonText(found.map((answer) => gotAnswer(answer, false))).slice(0, 400)
}
