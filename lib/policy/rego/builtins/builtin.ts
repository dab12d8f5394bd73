/*
 * What a built-in function is, and how one is declared: its name, the types of its operands and of its result, and
 * what it does. Operands of other types make the call undefined, as in OPA.
 *
 * Types are letters: z null, b boolean, n number, s string, a array, o object, t set, * anything; `at` is an array or
 * a set.
 */
import type { Term } from '../ast'
import type { Meter } from '../limits'
import { asInteger, RegoNumber } from '../numbers'
import { BuiltinError, type Place, RegoFailed } from '../refusal'
import { isArray, RegoObject, RegoSet, type Value, weighed } from '../values'

export interface CallContext {
  meter: Meter
  /** Milliseconds since the epoch. */
  now: number
}

export interface Builtin {
  name: string
  args: string[]
  result: string
  /** The results, usually one; none for undefined. Throws BuiltinError. */
  call(args: Value[], context: CallContext): Iterable<Value>
  /** Looks at the operands as written, before anything runs. */
  check?(args: Term[], refuse: (message: string, place: Place) => void): void
}

type Work = (context: CallContext, ...args: never[]) => Value | undefined

/** A built-in with one result at most. The operand types of `work` must be those that `args` names. */
export function builtin(
  name: string,
  args: string[],
  result: string,
  work: Work,
  check?: Builtin['check'],
): Builtin {
  return {
    name,
    args,
    result,
    check,
    call(values, context) {
      requireTypes(args, values)
      context.meter.step()
      const value = (work as (context: CallContext, ...args: Value[]) => Value | undefined)(
        context,
        ...values,
      )
      if (value === undefined) return []
      context.meter.keep(sizeOf(value))
      return [weighed(value)]
    },
  }
}

function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length
  if (isArray(value)) return value.length
  return value instanceof RegoObject || value instanceof RegoSet ? value.size : 1
}

/** Throws BuiltinError when a value is none of the types that are taken. */
export function requireTypes(args: string[], values: Value[]): void {
  for (const [i, types] of args.entries()) {
    if (types !== '*' && !types.includes(letterOf(values[i] as Value)))
      throw new BuiltinError(`operand ${i + 1} must be ${wordsFor(types)}`, 'eval_type_error')
  }
}

const words: Record<string, string> = {
  z: 'null',
  b: 'boolean',
  n: 'number',
  s: 'string',
  a: 'array',
  o: 'object',
  t: 'set',
}

export function wordsFor(types: string): string {
  return [...types].map((one) => words[one] ?? 'any').join(' or ')
}

/** The letter of a value's type. */
export function letterOf(value: Value): string {
  if (value === null) return 'z'
  if (typeof value === 'boolean') return 'b'
  if (typeof value === 'string') return 's'
  if (value instanceof RegoNumber) return 'n'
  if (isArray(value)) return 'a'
  return value instanceof RegoObject ? 'o' : 't'
}

/** An operand as a JavaScript integer; throws BuiltinError for fractions, RegoFailed for what is too big. */
export function integerOperand(number: RegoNumber, position: number): number {
  const value = asInteger(number)
  if (value === undefined)
    throw new BuiltinError(
      `operand ${position} must be integer number but got floating-point number`,
      'eval_type_error',
    )
  const small = Number(value)
  if (!Number.isSafeInteger(small))
    throw new RegoFailed('eval_unsupported', `Operand ${position} is a bigger integer than is known here`)
  return small
}

/** The strings in an array or set; throws BuiltinError for other members. */
export function stringsIn(value: readonly Value[] | RegoSet, position: number): string[] {
  const items = value instanceof RegoSet ? value.sorted : value
  return items.map((item) => {
    if (typeof item !== 'string')
      throw new BuiltinError(`operand ${position} must have strings as members`, 'eval_type_error')
    return item
  })
}

export function itemsOf(value: readonly Value[] | RegoSet): readonly Value[] {
  return value instanceof RegoSet ? value.sorted : value
}
