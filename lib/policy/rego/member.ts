import { RegoNumber } from './numbers'
import { isArray, RegoObject, RegoSet, type Value } from './values'

/** What a value has at a key: an object's value, an array's item, a set's member itself. */
export function member(value: Value, key: Value): Value | undefined {
  if (value instanceof RegoObject) return value.get(key)
  if (value instanceof RegoSet) return value.has(key) ? key : undefined
  if (isArray(value) && key instanceof RegoNumber && key.small !== undefined)
    return key.small < 0 ? undefined : value[key.small]
  return undefined
}
