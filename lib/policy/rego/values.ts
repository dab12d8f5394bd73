/*
 * Values as OPA has them: JSON plus sets, and objects whose keys may be any value. They do not change once built.
 * Order (for iteration, sort, comparison operators): null, booleans, numbers, strings, arrays, objects, sets.
 * Equal values have one key (`keyOf`), which is what sets and objects look up by.
 */
import type { Json } from '@/lib/base/json'
import { compareNumbers, numberOf, RegoNumber } from './numbers'
import { RegoFailed } from './refusal'

export type Value = null | boolean | RegoNumber | string | readonly Value[] | RegoObject | RegoSet

/** Nesting of a document that is still worked with. */
const maxDepth = 256

export class RegoSet {
  #sorted: readonly Value[] | undefined
  key: string | undefined

  constructor(readonly items: ReadonlyMap<string, Value>) {}

  static of(values: Iterable<Value>): RegoSet {
    const items = new Map<string, Value>()
    for (const value of values) {
      const key = keyOf(value)
      if (!items.has(key)) items.set(key, value)
    }
    return new RegoSet(items)
  }

  get size(): number {
    return this.items.size
  }

  has(value: Value): boolean {
    return this.items.has(keyOf(value))
  }

  /** The members in order. */
  get sorted(): readonly Value[] {
    this.#sorted ??= [...this.items.values()].sort(compare)
    return this.#sorted
  }
}

export class RegoObject {
  #sorted: readonly (readonly [Value, Value])[] | undefined
  key: string | undefined

  constructor(readonly items: ReadonlyMap<string, readonly [Value, Value]>) {}

  /** Later entries win over earlier ones with the same key. */
  static of(entries: Iterable<readonly [Value, Value]>): RegoObject {
    const items = new Map<string, readonly [Value, Value]>()
    for (const entry of entries) items.set(keyOf(entry[0]), entry)
    return new RegoObject(items)
  }

  get size(): number {
    return this.items.size
  }

  get(key: Value): Value | undefined {
    return this.items.get(keyOf(key))?.[1]
  }

  /** The entries in the order of their keys. */
  get sorted(): readonly (readonly [Value, Value])[] {
    this.#sorted ??= [...this.items.values()].sort((a, b) => compare(a[0], b[0]))
    return this.#sorted
  }
}

export const emptyObject = new RegoObject(new Map())
export const emptySet = new RegoSet(new Map())

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

/** Values inside of a value, shared ones counted as often as they appear, that are still worked with. */
const maxWeight = 5_000_000
const weights = new WeakMap<object, number>()

/**
 * The value, if its whole is no bigger than is worked with; parts may be shared, so that a few statements can name a
 * value that no memory holds once it is written out. Throws RegoFailed.
 */
export function weighed<T extends Value>(value: T): T {
  if (weightOf(value) > maxWeight)
    throw new RegoFailed('eval_bound', `A value has more than ${maxWeight} parts`)
  return value
}

function weightOf(value: Value): number {
  if (typeof value === 'string') return 1 + (value.length >> 6)
  if (typeof value !== 'object' || value === null || value instanceof RegoNumber) return 1
  let weight = weights.get(value)
  if (weight === undefined) {
    weight = 1
    if (value instanceof RegoObject)
      for (const [, [key, item]] of value.items) weight += weightOf(key) + weightOf(item)
    else for (const item of value instanceof RegoSet ? value.items.values() : value) weight += weightOf(item)
    weights.set(value, weight)
  }
  return weight
}

const arrayKeys = new WeakMap<readonly Value[], string>()

/** One text per value: two values are equal exactly when their keys are. */
export function keyOf(value: Value): string {
  if (typeof value === 'string') return `s${JSON.stringify(value)}`
  if (value === null) return 'z'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (value instanceof RegoNumber) return `n${value.key}`
  if (value instanceof RegoSet) {
    value.key ??= `{${[...value.items.keys()].sort().join(',')}}`
    return value.key
  }
  if (value instanceof RegoObject) {
    value.key ??= `(${[...value.items]
      .map(([key, entry]) => `${key}:${keyOf(entry[1])}`)
      .sort()
      .join(',')})`
    return value.key
  }
  let key = arrayKeys.get(value)
  if (key === undefined) {
    key = `[${value.map(keyOf).join(',')}]`
    arrayKeys.set(value, key)
  }
  return key
}

export function equal(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a === 'string' || typeof b === 'string' || a === null || b === null) return false
  if (typeof a === 'boolean' || typeof b === 'boolean') return false
  return keyOf(a) === keyOf(b)
}

function rank(value: Value): number {
  if (value === null) return 0
  if (typeof value === 'boolean') return 1
  if (value instanceof RegoNumber) return 2
  if (typeof value === 'string') return 3
  if (isArray(value)) return 4
  return value instanceof RegoObject ? 5 : 6
}

/** Order of strings by code point, as Go orders their UTF-8. */
export function compareText(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i += 1) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // Surrogates stand for code points above every other unit.
    const high = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
    return high(x) < high(y) ? -1 : 1
  }
  return Math.sign(a.length - b.length)
}

/** Negative, zero or positive, in OPA's order. */
export function compare(a: Value, b: Value): number {
  if (a === b) return 0
  const kinds = rank(a) - rank(b)
  if (kinds !== 0) return kinds < 0 ? -1 : 1
  if (typeof a === 'boolean') return a ? 1 : -1
  if (a instanceof RegoNumber) return compareNumbers(a, b as RegoNumber)
  if (typeof a === 'string') return compareText(a, b as string)
  if (isArray(a)) return compareLists(a, b as readonly Value[])
  if (a instanceof RegoSet) return compareLists(a.sorted, (b as RegoSet).sorted)
  if (a instanceof RegoObject) return compareObjects(a, b as RegoObject)
  return 0
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i += 1) {
    const order = compare(a[i] as Value, b[i] as Value)
    if (order !== 0) return order
  }
  return Math.sign(a.length - b.length)
}

function compareObjects(a: RegoObject, b: RegoObject): number {
  const end = Math.min(a.size, b.size)
  for (let i = 0; i < end; i += 1) {
    const [keyA, valueA] = a.sorted[i] as readonly [Value, Value]
    const [keyB, valueB] = b.sorted[i] as readonly [Value, Value]
    const order = compare(keyA, keyB) || compare(valueA, valueB)
    if (order !== 0) return order
  }
  return Math.sign(a.size - b.size)
}

/** A parsed JSON document as a value. Throws RegoFailed when it nests too deep. */
export function fromJson(json: Json, depth = 0): Value {
  if (depth > maxDepth) throw new RegoFailed('eval_bound', `A document nests deeper than ${maxDepth} levels`)
  if (json === null || typeof json === 'boolean') return json
  if (typeof json === 'number') return numberOf(json)
  if (typeof json === 'string') return json.isWellFormed() ? json : json.toWellFormed()
  if (Array.isArray(json)) return json.map((item) => fromJson(item, depth + 1))
  return RegoObject.of(
    Object.entries(json).map(([key, item]) => [key.toWellFormed(), fromJson(item, depth + 1)] as const),
  )
}

/**
 * A value as JSON: sets become sorted arrays, keys that are no strings become their JSON text. Throws RegoFailed for
 * an integer that a JavaScript number cannot hold exactly.
 */
export function toJson(value: Value): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (value instanceof RegoNumber) return numberToJson(value)
  if (value instanceof RegoSet) return value.sorted.map(toJson)
  if (isArray(value)) return value.map(toJson)
  const json: { [key: string]: Json } = {}
  for (const [key, item] of value.sorted) {
    const name = typeof key === 'string' ? key : jsonText(key)
    Object.defineProperty(json, name, {
      value: toJson(item),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return json
}

function numberToJson(number: RegoNumber): number {
  if (number.small !== undefined) return number.small
  const near = Number(number.text)
  const exact = Number.isFinite(near) && compareNumbers(numberOf(near), number) === 0
  if (!exact && (!Number.isFinite(near) || Math.abs(near) > Number.MAX_SAFE_INTEGER))
    throw new RegoFailed(
      'eval_unsupported',
      `${number.text.slice(0, 40)} cannot be said exactly in the answer`,
    )
  return near
}

/** Strings as Go's encoding/json writes them: <, >, & and the line separators escaped as well. */
export function jsonString(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029\u007f]/g, (found) =>
    found === '\u007f' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A value's JSON text as Go writes it: no white space, keys in order. */
export function jsonText(value: Value, write: (text: string) => string = jsonString): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof RegoNumber) return value.text
  if (typeof value === 'string') return write(value)
  if (value instanceof RegoSet) return `[${value.sorted.map((item) => jsonText(item, write)).join(',')}]`
  if (isArray(value)) return `[${value.map((item) => jsonText(item, write)).join(',')}]`
  const entries = value.sorted.map(
    ([key, item]) => [typeof key === 'string' ? key : jsonText(key, write), item] as const,
  )
  entries.sort((a, b) => compareText(a[0], b[0]))
  return `{${entries.map(([key, item]) => `${write(key)}:${jsonText(item, write)}`).join(',')}}`
}

/** What type_name says. */
export function typeName(value: Value): string {
  return ['null', 'boolean', 'number', 'string', 'array', 'object', 'set'][rank(value)] as string
}
