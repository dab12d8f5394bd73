/*
 * Two JSON values by structure: what was added, removed and changed, and where. Members of an object are matched by
 * their names, whatever their order. Items of an array are matched by what they are, not by their place: a list with one
 * more item at its head has one item more, and is not changed throughout. An item that changed is known again by its
 * `id` or `name`, or by what it still shares with the one before.
 *
 *   { commit: "abc", cases: [a, b] }          commit   changed  "abc" → "def"
 *   { commit: "def", cases: [x, a, b'] }  ─▶  cases/0  added    x
 *                                             cases/2  …what differs in b
 *
 * Values past the bounds are not compared this way: `jsonDiff` answers undefined, and their texts are compared by line.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { bestPairs, type LinePair } from './pair-lines'
import { diffSequences } from './sequence-diff'
import { Work } from './work'

/** `same` stands in both; `changed` is another value in its place; containers say it of each member. */
export type JsonDelta =
  | { kind: 'same'; value: Json }
  | { kind: 'changed'; before: Json; after: Json }
  | { kind: 'object'; members: JsonMember[] }
  | { kind: 'array'; items: JsonItem[] }

export type JsonItem =
  | { kind: 'kept'; delta: JsonDelta }
  | { kind: 'gone'; value: Json }
  | { kind: 'come'; value: Json }
export type JsonMember = JsonItem & { name: string }

export interface JsonDiff {
  root: JsonDelta
  /** Values that were added, removed and changed, each counted at the place where it differs. */
  added: number
  removed: number
  changed: number
  /** False when some array was too costly to compare and counts as replaced. */
  exact: boolean
}

/** Values of one side, containers included, and how deep they may lie. */
const maxNodes = 200_000
const maxDepth = 200
const arrayWork = 2_000_000
/** Items of a gap that are held against each other. */
const maxPaired = 10_000
/** Items that share less than this are not the same item changed. */
const minShare = 0.2
/** Members that name an item, the first that both have counts. */
const identities = ['id', 'uuid', 'key', 'name', 'path', 'file', 'title']

/** What differs between two values; undefined where they are too large or too deep to compare by structure. */
export function jsonDiff(before: Json, after: Json): JsonDiff | undefined {
  if (!isWithinBounds(before) || !isWithinBounds(after)) return undefined
  const comparing = new Comparing()
  const root = comparing.delta(before, after)
  return { root, ...counted(root), exact: comparing.exact }
}

function isWithinBounds(value: Json): boolean {
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let seen = 0; open.length > 0; ) {
    const { value: next, depth } = open.pop() as { value: Json; depth: number }
    if (typeof next !== 'object' || next === null) continue
    const inside = Array.isArray(next) ? next : Object.values(next)
    seen += inside.length
    if (seen > maxNodes || depth >= maxDepth) return false
    for (const child of inside) open.push({ value: child, depth: depth + 1 })
  }
  return true
}

class Comparing {
  readonly #work = new Work(arrayWork)
  readonly #numbers = new Map<string, number>()
  readonly #known = new Map<object, number>()
  exact = true

  /** A number that equal values share. */
  #numberOf(value: Json): number {
    if (typeof value !== 'object' || value === null) return this.#numbered(JSON.stringify(value))
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const text = Array.isArray(value)
      ? `[${value.map((item) => this.#numberOf(item)).join()}]`
      : `{${Object.entries(value)
          .map(([name, member]) => `${JSON.stringify(name)}:${this.#numberOf(member)}`)
          .sort()
          .join()}}`
    const number = this.#numbered(text)
    this.#known.set(value, number)
    return number
  }

  #numbered(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#numbers.size)
    return this.#numbers.size - 1
  }

  delta(before: Json, after: Json): JsonDelta {
    if (this.#numberOf(before) === this.#numberOf(after)) return { kind: 'same', value: after }
    if (Array.isArray(before) && Array.isArray(after)) return this.#array(before, after)
    if (isJsonObject(before) && isJsonObject(after)) return this.#object(before, after)
    return { kind: 'changed', before, after }
  }

  /** Members in the order of the newer value; what went stands behind the member it stood behind. */
  #object(before: JsonObject, after: JsonObject): JsonDelta {
    const gone = new Map<string | undefined, JsonMember[]>()
    let behind: string | undefined
    for (const [name, value] of Object.entries(before)) {
      if (Object.hasOwn(after, name)) behind = name
      else push(gone, behind, { kind: 'gone', name, value })
    }
    const members: JsonMember[] = [...(gone.get(undefined) ?? [])]
    for (const [name, value] of Object.entries(after)) {
      if (!Object.hasOwn(before, name)) members.push({ kind: 'come', name, value })
      else {
        members.push({ kind: 'kept', name, delta: this.delta(before[name] as Json, value) })
        members.push(...(gone.get(name) ?? []))
      }
    }
    return { kind: 'object', members }
  }

  #array(before: Json[], after: Json[]): JsonDelta {
    const numbers = (list: Json[]) => list.map((item) => this.#numberOf(item))
    const { spans, exact } = diffSequences(numbers(before), numbers(after), this.#work)
    if (!exact) this.exact = false
    const items = spans.flatMap((span): JsonItem[] => {
      const come = after.slice(span.after, span.after + span.afterCount)
      if (span.kind === 'same') return come.map((value) => ({ kind: 'kept', delta: { kind: 'same', value } }))
      return this.#gap(before.slice(span.before, span.before + span.beforeCount), come)
    })
    return { kind: 'array', items }
  }

  #gap(gone: Json[], come: Json[]): JsonItem[] {
    const items: JsonItem[] = []
    let i = 0
    let j = 0
    const alone = (from: number, to: number) => {
      while (i < from) items.push({ kind: 'gone', value: gone[i++] as Json })
      while (j < to) items.push({ kind: 'come', value: come[j++] as Json })
    }
    for (const { from, to } of this.#pairs(gone, come)) {
      alone(from, to)
      items.push({ kind: 'kept', delta: this.delta(gone[i++] as Json, come[j++] as Json) })
    }
    alone(gone.length, come.length)
    return items
  }

  /** Which of the items that went is which of those that came. */
  #pairs(gone: Json[], come: Json[]): LinePair[] {
    if (gone.length === 0 || come.length === 0) return []
    const byPlace = () => gone.map((_, at) => ({ from: at, to: at }))
    const areScalars = [...gone, ...come].every((item) => typeof item !== 'object' || item === null)
    if (areScalars) return gone.length === come.length ? byPlace() : []
    const compared = gone.length * come.length
    if (compared > maxPaired || !this.#work.take(compared))
      return gone.length === come.length ? byPlace() : []
    return bestPairs(gone.map((item) => come.map((other) => this.#shared(item, other))))
  }

  /** How much of two items is the same, 0 to 1; 0 where they are not the same item. */
  #shared(a: Json, b: Json): number {
    if (Array.isArray(a) && Array.isArray(b)) return minShare
    if (!isJsonObject(a) || !isJsonObject(b)) return 0
    const identity = identities.find((name) => isName(a[name]) && isName(b[name]))
    if (identity !== undefined && a[identity] !== b[identity]) return 0
    const names = Object.keys(a)
    let equal = 0
    for (const name of names) {
      if (!Object.hasOwn(b, name)) continue
      equal += this.#numberOf(a[name] as Json) === this.#numberOf(b[name] as Json) ? 1 : 0.25
    }
    const share = equal / Math.max(names.length, Object.keys(b).length, 1)
    if (identity !== undefined) return 0.5 + share / 2
    return share < minShare ? 0 : share
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

const isName = (value: Json | undefined) => typeof value === 'string' || typeof value === 'number'

function counted(root: JsonDelta): Pick<JsonDiff, 'added' | 'removed' | 'changed'> {
  const counts = { added: 0, removed: 0, changed: 0 }
  const open: JsonDelta[] = [root]
  for (let delta = open.pop(); delta; delta = open.pop()) {
    if (delta.kind === 'changed') counts.changed++
    const inside = delta.kind === 'object' ? delta.members : delta.kind === 'array' ? delta.items : []
    for (const item of inside) {
      if (item.kind === 'kept') open.push(item.delta)
      else counts[item.kind === 'come' ? 'added' : 'removed']++
    }
  }
  return counts
}
