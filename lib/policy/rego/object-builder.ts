/*
 * Builds what a partial rule makes, solution by solution, and fails where two solutions disagree.
 */
import { type Place, RegoFailed } from './refusal'
import { equal, keyOf, RegoObject, RegoSet, type Value } from './values'

type Part = { kind: 'leaf'; value: Value } | { kind: 'set'; items: Map<string, Value> } | Branch
interface Branch {
  kind: 'branch'
  items: Map<string, { key: Value; part: Part }>
}

export class ObjectBuilder {
  readonly #root: Part

  constructor(asSet: boolean) {
    this.#root = asSet ? { kind: 'set', items: new Map() } : { kind: 'branch', items: new Map() }
  }

  /** A value at a path. */
  put(path: Value[], value: Value, at: Place): void {
    const [parent, key] = this.#parentOf(path, at)
    const name = keyOf(key)
    const known = parent.items.get(name)?.part
    if (!known) parent.items.set(name, { key, part: { kind: 'leaf', value } })
    else if (!equal(built(known), value)) throw conflict(at)
  }

  /** A member of the set at a path; an empty path is the rule's own set. */
  add(path: Value[], member: Value, at: Place): void {
    let set = this.#root
    if (path.length > 0) {
      const [parent, key] = this.#parentOf(path, at)
      const name = keyOf(key)
      if (!parent.items.has(name)) parent.items.set(name, { key, part: { kind: 'set', items: new Map() } })
      set = parent.items.get(name)?.part as Part
    }
    if (set.kind !== 'set') throw conflict(at)
    const name = keyOf(member)
    if (!set.items.has(name)) set.items.set(name, member)
  }

  value(): Value {
    return built(this.#root)
  }

  #parentOf(path: Value[], at: Place): [Branch, Value] {
    let branch = this.#root
    for (const key of path.slice(0, -1)) {
      if (branch.kind !== 'branch') throw conflict(at)
      const name = keyOf(key)
      if (!branch.items.has(name)) branch.items.set(name, { key, part: { kind: 'branch', items: new Map() } })
      branch = branch.items.get(name)?.part as Part
    }
    if (branch.kind !== 'branch') throw conflict(at)
    return [branch, path.at(-1) as Value]
  }
}

function built(part: Part): Value {
  if (part.kind === 'leaf') return part.value
  if (part.kind === 'set') return new RegoSet(part.items)
  return RegoObject.of([...part.items.values()].map(({ key, part: inner }) => [key, built(inner)] as const))
}

function conflict(at: Place): RegoFailed {
  return new RegoFailed('eval_conflict_error', 'An object has two different values for one key', at)
}
