/*
 * How an object of a descriptor becomes part of the graph and comes back as it was.
 *
 * Members the graph has no word for stay in `extra` by their name. What is left is how the object was written: which
 * members stood there although their value was the default, and in what order. When that differs from how it would be
 * written anyway, the names go into `extra` too, as `$shape`; so a descriptor written in the usual way carries nothing
 * extra, and a graph drawn in the editor has the same version after a trip through text.
 *
 *   { "to": "b", "from": "a", "note": 1 }   ⇄   from a, to b, extra { note: 1, $shape: ["to", "from", "note"] }
 *
 * A member that is itself called `$shape` gets one more `$` in the graph and loses it on the way out.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'

/** One member the graph has a word for, ready to be written. */
export interface Member {
  name: string
  /** Absent: there is nothing to write. */
  value: Json | undefined
  /** True when leaving it out would be read back as the same value. */
  implied: boolean
  /** True when it is written although it is implied, because a reader looks for it. */
  usual?: boolean
}

const shapeName = '$shape'
const shapeLike = /^\$+shape$/

/** The members of a source object that are not among the known ones, under the names they have in `extra`. */
export function unknownMembers(source: JsonObject, known: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(source)
      .filter(([name]) => !known.includes(name))
      .map(([name, value]) => [shapeLike.test(name) ? `$${name}` : name, value]),
  )
}

/** The object that members and `extra` make: as its `$shape` says, else in the usual order with unknown members last. */
export function arrange(
  members: readonly Member[],
  extra: JsonObject,
  nested: readonly string[],
): JsonObject {
  const known = new Map(members.map((member) => [member.name, member]))
  const unknown = new Map(
    Object.entries(extra)
      .filter(([name]) => name !== shapeName && !nested.includes(name))
      .map(([name, value]) => [shapeLike.test(name) ? name.slice(1) : name, value]),
  )
  const shape = shapeOf(extra)
  const first = shape ?? members.filter((member) => !member.implied || member.usual).map(({ name }) => name)
  const rest = members.filter((member) => !member.implied).map(({ name }) => name)
  const written = new Map<string, Json>()
  for (const name of [...first, ...rest, ...unknown.keys()]) {
    const value = known.has(name) ? known.get(name)?.value : unknown.get(name)
    if (value !== undefined && !written.has(name)) written.set(name, value)
  }
  return Object.fromEntries(written)
}

/**
 * `extra` with a `$shape` where one is needed: `write` gives the object as it would be written with a given extra, and
 * when its names or their order are not the source's, the source's names are kept.
 */
export function withShape(
  source: JsonObject,
  extra: JsonObject,
  write: (extra: JsonObject) => JsonObject,
): JsonObject {
  const names = Object.keys(source)
  const usual = Object.keys(write(extra))
  const same = names.length === usual.length && names.every((name, at) => name === usual[at])
  return same ? extra : { ...extra, [shapeName]: names }
}

/** `extra` of a part inside, kept under the part's name in the extra of what is around it. */
export function innerExtra(extra: JsonObject, name: string): JsonObject {
  const inner = Object.hasOwn(extra, name) ? extra[name] : undefined
  return isJsonObject(inner) ? inner : {}
}

/** The extra with a part's own extra in it, when that says anything. */
export function withInner(extra: JsonObject, name: string, inner: JsonObject): JsonObject {
  return Object.keys(inner).length === 0 ? extra : { ...extra, [name]: inner }
}

function shapeOf(extra: JsonObject): string[] | undefined {
  const shape = Object.hasOwn(extra, shapeName) ? extra[shapeName] : undefined
  return Array.isArray(shape) ? shape.filter((name) => typeof name === 'string') : undefined
}
