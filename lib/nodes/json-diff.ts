/*
 * The difference of two JSON values by path (agentd section 1.2): `config.timeout`, `items[2].name`, and `$` when the
 * values differ as a whole. Lists are compared by position. Values are equal when they are the same JSON value: 1 is
 * not "1" and not true.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'

/** Characters of all paths together. Deep and wide values would otherwise spell each way down a million times. */
export const maxDiffPathChars = 4_194_304

/** Differences as the step gives them; added and removed parts are not descended into. */
export interface JsonDiff {
  added: JsonObject
  removed: JsonObject
  changed: { [path: string]: { from: Json; to: Json } }
  unchanged: boolean
}

/** What turns `left` into `right`. Throws Problem `too_large` past 4 MiB of paths. */
export function jsonDiff(left: Json, right: Json): JsonDiff {
  const found = new Differences()
  found.walk('', left, right)
  return found.all()
}

class Differences {
  // Entries and not members while collecting: a path may be `__proto__`.
  private readonly added: [string, Json][] = []
  private readonly removed: [string, Json][] = []
  private readonly changed: [string, { from: Json; to: Json }][] = []
  private pathCharsLeft = maxDiffPathChars

  walk(path: string, left: Json, right: Json): void {
    if (Array.isArray(left) && Array.isArray(right)) this.lists(path, left, right)
    else if (isJsonObject(left) && isJsonObject(right)) this.objects(path, left, right)
    // Of two values of one type only scalars come here; those of different types always differ.
    else if (left !== right) this.changed.push([this.counted(path || '$'), { from: left, to: right }])
  }

  private objects(path: string, left: JsonObject, right: JsonObject): void {
    for (const [key, value] of Object.entries(left)) {
      const inner = path === '' ? key : `${path}.${key}`
      const other = Object.hasOwn(right, key) ? right[key] : undefined
      if (other === undefined) this.removed.push([this.counted(inner), value])
      else this.walk(inner, value, other)
    }
    for (const [key, value] of Object.entries(right)) {
      if (!Object.hasOwn(left, key))
        this.added.push([this.counted(path === '' ? key : `${path}.${key}`), value])
    }
  }

  private lists(path: string, left: Json[], right: Json[]): void {
    const shared = Math.min(left.length, right.length)
    for (const [at, value] of left.entries()) {
      if (at < shared) this.walk(`${path}[${at}]`, value, right[at] ?? null)
      else this.removed.push([this.counted(`${path}[${at}]`), value])
    }
    for (let at = shared; at < right.length; at++) {
      this.added.push([this.counted(`${path}[${at}]`), right[at] ?? null])
    }
  }

  private counted(path: string): string {
    this.pathCharsLeft -= path.length
    if (this.pathCharsLeft >= 0) return path
    throw new Problem('too_large', 'The two values differ in too many places to list; compare smaller parts.')
  }

  all(): JsonDiff {
    const { added, removed, changed } = this
    return {
      added: Object.fromEntries(added),
      removed: Object.fromEntries(removed),
      changed: Object.fromEntries(changed),
      unchanged: added.length + removed.length + changed.length === 0,
    }
  }
}
