/** Aggregates, arrays, sets, types and membership. */
import { numberOf, parseNumber, productOf, RegoNumber, sumOf } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import { compare, emptySet, equal, isArray, RegoObject, RegoSet, typeName, type Value } from '../values'
import { type Builtin, builtin, type CallContext, integerOperand, itemsOf, letterOf } from './builtin'

type List = readonly Value[] | RegoSet

function numbersIn(list: List): RegoNumber[] {
  return itemsOf(list).map((item) => {
    if (!(item instanceof RegoNumber))
      throw new BuiltinError('operand 1 must have numbers as members', 'eval_type_error')
    return item
  })
}

function count(value: Value): Value {
  if (typeof value === 'string') return numberOf([...value].length)
  if (isArray(value)) return numberOf(value.length)
  return numberOf((value as RegoSet | RegoObject).size)
}

function extreme(list: List, sign: number): Value | undefined {
  let best: Value | undefined
  for (const item of itemsOf(list)) if (best === undefined || compare(item, best) * sign >= 0) best = item
  return best
}

function both(a: RegoSet, b: RegoSet): RegoSet {
  return new RegoSet(new Map([...a.items].filter(([key]) => b.items.has(key))))
}

function either(a: RegoSet, b: RegoSet): RegoSet {
  return new RegoSet(new Map([...a.items, ...[...b.items].filter(([key]) => !a.items.has(key))]))
}

function setsIn(sets: RegoSet): RegoSet[] {
  return sets.sorted.map((one) => {
    if (!(one instanceof RegoSet))
      throw new BuiltinError('operand 1 must be a set of sets', 'eval_type_error')
    return one
  })
}

function slice(list: readonly Value[], start: RegoNumber, stop: RegoNumber): Value {
  const from = Math.max(0, integerOperand(start, 2))
  const to = Math.min(list.length, integerOperand(stop, 3))
  return to <= from ? [] : list.slice(from, to)
}

function isType(name: string, letter: string): Builtin {
  return builtin(name, ['*'], 'b', (_, value: Value) => letterOf(value) === letter)
}

function contains(value: Value, list: Value): Value {
  if (isArray(list)) return list.some((item) => equal(item, value))
  if (list instanceof RegoSet) return list.has(value)
  if (list instanceof RegoObject) return [...list.items.values()].some(([, item]) => equal(item, value))
  return false
}

function containsAt(key: Value, value: Value, list: Value): Value {
  if (list instanceof RegoObject) return sameOr(list.get(key), value)
  if (list instanceof RegoSet) return equal(key, value) && list.has(key)
  if (isArray(list) && key instanceof RegoNumber && key.small !== undefined)
    return sameOr(list[key.small], value)
  return false
}

function sameOr(found: Value | undefined, value: Value): boolean {
  return found !== undefined && equal(found, value)
}

/** What OPA's to_number takes: null, booleans, numbers, and texts of numbers. */
function toNumber(value: Value): Value {
  if (value === null) return numberOf(0)
  if (typeof value === 'boolean') return numberOf(value ? 1 : 0)
  if (value instanceof RegoNumber) return value
  const text = value as string
  if (/^[+-]*(inf|infinity|nan)$/i.test(text))
    throw new BuiltinError('operand 1 must be valid number string', 'eval_type_error')
  const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? parseNumber(text) : undefined
  if (number) {
    if (!Number.isFinite(Number(text))) throw new BuiltinError('value out of range')
    return number
  }
  if (/^[+-]?(0[xX]|[\d_]*\.?[\d_]+|\d+\.)/.test(text) && !/[^\d+\-._eExXpPa-fA-F]/.test(text))
    throw new RegoFailed(
      'eval_unsupported',
      `to_number of ${JSON.stringify(text.slice(0, 40))}, which is not how JSON writes a number`,
    )
  throw new BuiltinError('invalid syntax')
}

/** Every [path, value] inside a value, the value itself first. */
function* walk(value: Value, context: CallContext, path: Value[] = []): Iterable<Value> {
  context.meter.step()
  context.meter.keep(path.length + 1)
  yield [path, value]
  if (isArray(value))
    for (const [i, item] of value.entries()) yield* walk(item, context, [...path, numberOf(i)])
  else if (value instanceof RegoObject)
    for (const [key, item] of value.sorted) yield* walk(item, context, [...path, key])
  else if (value instanceof RegoSet)
    for (const item of value.sorted) yield* walk(item, context, [...path, item])
}

/** Nodes that can be reached in a graph given as node → neighbours. */
function reachable(graph: RegoObject, start: List): Value {
  const reached: Value[] = []
  const seen = new Set<string>()
  const open = [...itemsOf(start)]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const entry = graph.get(node)
    const key = entry === undefined ? undefined : RegoSet.of([node]).items.keys().next().value
    if (entry === undefined || key === undefined || seen.has(key)) continue
    seen.add(key)
    reached.push(node)
    if (isArray(entry) || entry instanceof RegoSet) open.push(...itemsOf(entry))
  }
  return RegoSet.of(reached)
}

export const collectionBuiltins: Builtin[] = [
  builtin('count', ['saot'], 'n', (_, value: Value) => count(value)),
  builtin('sum', ['at'], 'n', (_, list: List) => sumOf(numbersIn(list))),
  builtin('product', ['at'], 'n', (_, list: List) => productOf(numbersIn(list))),
  builtin('max', ['at'], '*', (_, list: List) => extreme(list, 1)),
  builtin('min', ['at'], '*', (_, list: List) => extreme(list, -1)),
  builtin('sort', ['at'], 'a', (_, list: List) => [...itemsOf(list)].sort(compare)),
  builtin('array.concat', ['a', 'a'], 'a', (_, a: readonly Value[], b: readonly Value[]) => [...a, ...b]),
  builtin('array.slice', ['a', 'n', 'n'], 'a', (_, list: readonly Value[], a: RegoNumber, b: RegoNumber) =>
    slice(list, a, b),
  ),
  builtin('array.reverse', ['a'], 'a', (_, list: readonly Value[]) => [...list].reverse()),
  builtin('array.flatten', ['a'], 'a', (_, list: readonly Value[]) =>
    list.flatMap((item) => (isArray(item) ? [...item] : [item])),
  ),
  builtin('and', ['t', 't'], 't', (_, a: RegoSet, b: RegoSet) => both(a, b)),
  builtin('or', ['t', 't'], 't', (_, a: RegoSet, b: RegoSet) => either(a, b)),
  builtin('intersection', ['t'], 't', (_, sets: RegoSet) => {
    const [first, ...rest] = setsIn(sets)
    return first ? rest.reduce(both, first) : emptySet
  }),
  builtin('union', ['t'], 't', (_, sets: RegoSet) => setsIn(sets).reduce(either, emptySet)),
  isType('is_null', 'z'),
  isType('is_boolean', 'b'),
  isType('is_number', 'n'),
  isType('is_string', 's'),
  isType('is_array', 'a'),
  isType('is_object', 'o'),
  isType('is_set', 't'),
  builtin('type_name', ['*'], 's', (_, value: Value) => typeName(value)),
  builtin('to_number', ['nszb'], 'n', (_, value: Value) => toNumber(value)),
  builtin('internal.member_2', ['*', '*'], 'b', (_, value: Value, list: Value) => contains(value, list)),
  builtin('internal.member_3', ['*', '*', '*'], 'b', (_, key: Value, value: Value, list: Value) =>
    containsAt(key, value, list),
  ),
  builtin('graph.reachable', ['o', 'at'], 't', (_, graph: RegoObject, start: List) =>
    reachable(graph, start),
  ),
  builtin('trace', ['s'], 'b', () => true),
  { name: 'walk', args: ['*'], result: 'a', call: ([value], context) => walk(value as Value, context) },
]
