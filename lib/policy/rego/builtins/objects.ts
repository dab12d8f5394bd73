/** Objects, and the parts of JSON documents. */

import { member } from '../member'
import { BuiltinError, RegoFailed } from '../refusal'
import { emptyObject, equal, isArray, RegoObject, RegoSet, type Value } from '../values'
import { type Builtin, builtin } from './builtin'

type Keys = readonly Value[] | RegoSet | RegoObject

function get(object: RegoObject, key: Value, fallback: Value): Value {
  if (!isArray(key)) return object.get(key) ?? fallback
  let at: Value | undefined = object
  for (const part of key) at = at === undefined ? undefined : member(at, part)
  return at ?? fallback
}

function keySet(keys: Keys): RegoSet {
  if (keys instanceof RegoSet) return keys
  return RegoSet.of(keys instanceof RegoObject ? [...keys.items.values()].map(([key]) => key) : keys)
}

function kept(object: RegoObject, keep: (key: string) => boolean): RegoObject {
  return new RegoObject(new Map([...object.items].filter(([key]) => keep(key))))
}

/** Both objects in one, key by key all the way down; the second wins. */
function union(a: RegoObject, b: RegoObject): RegoObject {
  const items = new Map(a.items)
  for (const [key, [name, value]] of b.items) {
    const known = items.get(key)?.[1]
    const both = known instanceof RegoObject && value instanceof RegoObject
    items.set(key, [name, both ? union(known, value) : value])
  }
  return new RegoObject(items)
}

function unionAll(list: readonly Value[]): Value {
  return list.reduce<RegoObject>((all, one) => {
    if (!(one instanceof RegoObject))
      throw new BuiltinError('operand 1 must be an array of objects', 'eval_type_error')
    return union(all, one)
  }, emptyObject)
}

function subset(whole: Value, part: Value): Value {
  if (whole instanceof RegoObject && part instanceof RegoObject) return objectSubset(whole, part)
  if (whole instanceof RegoSet && part instanceof RegoSet)
    return [...part.items.keys()].every((key) => whole.items.has(key))
  if (isArray(whole) && isArray(part)) return arraySubset(whole, part)
  if (isArray(whole) && part instanceof RegoSet) return setInArray(whole, part)
  throw new BuiltinError('both arguments object.subset must be of the same type or array and set')
}

/** OPA counts members that match; what it makes of doubles, and of the empty set, is not guessed at. */
function setInArray(whole: readonly Value[], part: RegoSet): boolean {
  const members = RegoSet.of(whole)
  if (part.size === 0 || members.size < whole.length)
    throw new RegoFailed(
      'eval_unsupported',
      'object.subset of an array with doubles and a set is not known here',
    )
  return [...part.items.keys()].every((key) => members.items.has(key))
}

function objectSubset(whole: RegoObject, part: RegoObject): boolean {
  return [...part.items].every(([key, [, value]]) => {
    const found = whole.items.get(key)?.[1]
    if (found === undefined) return false
    const together =
      (found instanceof RegoObject && value instanceof RegoObject) ||
      (found instanceof RegoSet && value instanceof RegoSet) ||
      (isArray(found) && isArray(value))
    return together ? subset(found, value) === true : equal(found, value)
  })
}

/** The part must stand in the whole as one row. */
function arraySubset(whole: readonly Value[], part: readonly Value[]): boolean {
  for (let at = 0; at + part.length <= whole.length; at += 1)
    if (part.every((one, i) => equal(one, whole[at + i] as Value))) return true
  return false
}

// --- json.filter and json.remove -----------------------------------------------------------------------------------

function pathOf(path: Value): Value[] {
  if (isArray(path)) return [...path]
  if (typeof path !== 'string')
    throw new BuiltinError(
      'operand 2 must be one of {set, array} containing string paths or array of path segments',
      'eval_type_error',
    )
  if (path === '') return []
  return path
    .replace(/^\/+/, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Paths as a tree: null where a path ends. A path below one that ended adds nothing. */
interface PathTree {
  items: Map<string, { key: Value; below: PathTree | null }>
}

function pathTree(paths: readonly Value[] | RegoSet): Value {
  const root: PathTree = { items: new Map() }
  for (const path of paths instanceof RegoSet ? paths.sorted : paths) {
    const parts = pathOf(path)
    let node: PathTree | null = root
    for (const [i, part] of parts.entries()) {
      const name: string = RegoSet.of([part]).items.keys().next().value as string
      const last = i === parts.length - 1
      if (!node) break
      if (last) node.items.set(name, { key: part, below: null })
      else {
        if (!node.items.has(name)) node.items.set(name, { key: part, below: { items: new Map() } })
        node = node.items.get(name)?.below ?? null
      }
    }
  }
  return asValue(root)
}

function asValue(tree: PathTree | null): Value {
  if (!tree) return null
  return RegoObject.of([...tree.items.values()].map(({ key, below }) => [key, asValue(below)] as const))
}

function filtered(value: Value, filter: Value): Value {
  if (!(filter instanceof RegoObject)) return value
  if (isArray(value))
    return value.flatMap((item, i) => {
      const inner = filter.get(`${i}`)
      return inner === undefined ? [] : [filtered(item, inner)]
    })
  if (value instanceof RegoSet)
    return RegoSet.of(
      value.sorted.flatMap((item) => {
        const inner = filter.get(item)
        return inner === undefined ? [] : [filtered(item, inner)]
      }),
    )
  if (value instanceof RegoObject)
    return RegoObject.of(
      [...value.items.values()].flatMap(([key, item]) => {
        const inner = filter.get(key)
        return inner === undefined ? [] : [[key, filtered(item, inner)] as const]
      }),
    )
  return value
}

/** Undefined where a path ends. */
function removed(value: Value, paths: Value | undefined): Value | undefined {
  if (paths === null) return undefined
  if (!(paths instanceof RegoObject)) return value
  if (isArray(value)) return value.flatMap((item, i) => present(removed(item, paths.get(`${i}`))))
  if (value instanceof RegoSet)
    return RegoSet.of(value.sorted.flatMap((item) => present(removed(item, paths.get(item)))))
  if (value instanceof RegoObject)
    return RegoObject.of(
      [...value.items.values()].flatMap(([key, item]) => {
        const left = removed(item, paths.get(key))
        return left === undefined ? [] : [[key, left] as const]
      }),
    )
  return value
}

function present(value: Value | undefined): Value[] {
  return value === undefined ? [] : [value]
}

export const objectBuiltins: Builtin[] = [
  builtin('object.get', ['o', '*', '*'], '*', (_, object: RegoObject, key: Value, fallback: Value) =>
    get(object, key, fallback),
  ),
  builtin('object.keys', ['o'], 't', (_, object: RegoObject) => keySet(object)),
  builtin('object.remove', ['o', 'ato'], 'o', (_, object: RegoObject, keys: Keys) => {
    const drop = keySet(keys)
    return kept(object, (key) => !drop.items.has(key))
  }),
  builtin('object.filter', ['o', 'ato'], 'o', (_, object: RegoObject, keys: Keys) => {
    const keep = keySet(keys)
    return kept(object, (key) => keep.items.has(key))
  }),
  builtin('object.union', ['o', 'o'], 'o', (_, a: RegoObject, b: RegoObject) => union(a, b)),
  builtin('object.union_n', ['a'], 'o', (_, list: readonly Value[]) => unionAll(list)),
  builtin('object.subset', ['ota', 'ota'], 'b', (_, whole: Value, part: Value) => subset(whole, part)),
  builtin('json.filter', ['o', 'at'], 'o', (_, object: RegoObject, paths: readonly Value[] | RegoSet) =>
    filtered(object, pathTree(paths)),
  ),
  builtin('json.remove', ['o', 'at'], 'o', (_, object: RegoObject, paths: readonly Value[] | RegoSet) =>
    removed(object, pathTree(paths)),
  ),
]
