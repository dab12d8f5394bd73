/* Documents, as rules and `with` see them: looked into, laid over one another, changed at a path. Nothing is changed in place. */
import { member } from './member'
import { numberOf } from './numbers'
import { isArray, keyOf, RegoObject, RegoSet, type Value } from './values'

/** Keys and values of a collection; a set's members are their own keys. */
export function* entriesOf(value: Value): Iterable<readonly [Value, Value]> {
  if (isArray(value)) for (const [i, item] of value.entries()) yield [numberOf(i), item]
  else if (value instanceof RegoObject) yield* value.sorted
  else if (value instanceof RegoSet) for (const item of value.sorted) yield [item, item]
}

/** OPA keeps data.system out of sight where data is looked at as a whole. */
export function withoutSystem(data: Value): Value {
  const hidden = keyOf('system')
  if (!(data instanceof RegoObject && data.items.has(hidden))) return data
  return new RegoObject(new Map([...data.items].filter(([key]) => key !== hidden)))
}

export function found(value: Value, path: readonly Value[]): Value | undefined {
  let at: Value | undefined = value
  for (const part of path) {
    if (at === undefined) return undefined
    at = member(at, part)
  }
  return at
}

/** Objects merged key by key; where both have something else, the first wins. */
export function merged(first: Value, second: Value): Value {
  if (!(first instanceof RegoObject && second instanceof RegoObject)) return first
  const items = new Map(second.items)
  for (const [key, [name, value]] of first.items) {
    const other = second.items.get(key)
    items.set(key, [name, other ? merged(value, other[1]) : value])
  }
  return new RegoObject(items)
}

/** The document with a value put at a path; what is no object and in the way of the path gives way. */
export function planted(document: Value | undefined, path: readonly Value[], value: Value): Value {
  const [key, ...rest] = path
  if (key === undefined) return value
  const base = document instanceof RegoObject ? document : undefined
  const items = new Map(base?.items)
  items.set(keyOf(key), [key, planted(base?.get(key), rest, value)])
  return new RegoObject(items)
}
