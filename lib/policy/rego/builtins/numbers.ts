/** Arithmetic, comparison, bits and ranges. */
import * as num from '../numbers'
import { asInteger, integerOf, numberOf, type RegoNumber } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import { compare, equal, RegoSet, type Value } from '../values'
import { builtin, letterOf } from './builtin'

function binary(name: string, work: (a: RegoNumber, b: RegoNumber) => RegoNumber) {
  return builtin(name, ['n', 'n'], 'n', (_, a: RegoNumber, b: RegoNumber) => work(a, b))
}

function comparison(name: string, holds: (order: number) => boolean) {
  return builtin(name, ['*', '*'], 'b', (_, a: Value, b: Value) => holds(compare(a, b)))
}

function minus(a: Value, b: Value): Value {
  if (a instanceof num.RegoNumber && b instanceof num.RegoNumber) return num.subtract(a, b)
  if (a instanceof RegoSet && b instanceof RegoSet)
    return new RegoSet(new Map([...a.items].filter(([key]) => !b.items.has(key))))
  throw new BuiltinError(`operand 2 must be ${letterOf(a) === 'n' ? 'number' : 'set'}`, 'eval_type_error')
}

function bits(name: string, work: (a: bigint, b: bigint) => bigint) {
  return builtin(name, ['n', 'n'], 'n', (_, a: RegoNumber, b: RegoNumber) =>
    integerOf(work(whole(a, 1), whole(b, 2))),
  )
}

function whole(number: RegoNumber, position: number): bigint {
  const value = asInteger(number)
  if (value === undefined)
    throw new BuiltinError(
      `operand ${position} must be integer number but got floating-point number`,
      'eval_type_error',
    )
  return value
}

function shift(name: string, left: boolean) {
  return builtin(name, ['n', 'n'], 'n', (_, a: RegoNumber, b: RegoNumber) => {
    const by = whole(b, 2)
    if (by < 0n)
      throw new BuiltinError(
        'operand 2 must be an unsigned integer number but got a negative integer',
        'eval_type_error',
      )
    if (by > 10_000n) throw new RegoFailed('eval_bound', 'A shift by more than 10,000 bits')
    return integerOf(left ? whole(a, 1) << by : whole(a, 1) >> by)
  })
}

const longestRange = 1_000_000n

function range(from: RegoNumber, to: RegoNumber, step: RegoNumber): Value {
  const start = whole(from, 1)
  const end = whole(to, 2)
  const by = whole(step, 3)
  if (by <= 0n) throw new BuiltinError('step must be a positive integer')
  const length = (start < end ? end - start : start - end) / by
  if (length > longestRange)
    throw new RegoFailed('eval_bound', `A range of more than ${longestRange} numbers`)
  const stride = start <= end ? by : -by
  return Array.from({ length: Number(length) + 1 }, (_, i) => integerOf(start + BigInt(i) * stride))
}

export const numberBuiltins = [
  binary('plus', num.add),
  builtin('minus', ['nt', 'nt'], 'nt', (_, a: Value, b: Value) => minus(a, b)),
  binary('mul', num.multiply),
  binary('div', num.divide),
  binary('rem', num.remainder),
  builtin('abs', ['n'], 'n', (_, a: RegoNumber) => num.absolute(a)),
  builtin('round', ['n'], 'n', (_, a: RegoNumber) => num.round(a)),
  builtin('ceil', ['n'], 'n', (_, a: RegoNumber) => num.ceil(a)),
  builtin('floor', ['n'], 'n', (_, a: RegoNumber) => num.floor(a)),
  builtin('equal', ['*', '*'], 'b', (_, a: Value, b: Value) => equal(a, b)),
  builtin('neq', ['*', '*'], 'b', (_, a: Value, b: Value) => !equal(a, b)),
  comparison('lt', (order) => order < 0),
  comparison('lte', (order) => order <= 0),
  comparison('gt', (order) => order > 0),
  comparison('gte', (order) => order >= 0),
  bits('bits.or', (a, b) => a | b),
  bits('bits.and', (a, b) => a & b),
  bits('bits.xor', (a, b) => a ^ b),
  builtin('bits.negate', ['n'], 'n', (_, a: RegoNumber) => integerOf(~whole(a, 1))),
  shift('bits.lsh', true),
  shift('bits.rsh', false),
  builtin('numbers.range', ['n', 'n'], 'a', (_, a: RegoNumber, b: RegoNumber) => range(a, b, numberOf(1))),
  builtin('numbers.range_step', ['n', 'n', 'n'], 'a', (_, a: RegoNumber, b: RegoNumber, c: RegoNumber) =>
    range(a, b, c),
  ),
]
