/*
 * Dotted paths into JSON values: `load.content`, `hits.0.id`, `hits[0].id`. Every `*_from`, every `expr`, every
 * `{{key}}` and `json_select` goes through this one file (agentd section 11), so that a path means one thing.
 *
 * Only what a value itself holds is found: own members of objects and elements of arrays. Prototypes are never walked,
 * `length` of a list is not a member, and a text has no insides.
 */
import { isJsonObject, type Json } from '@/lib/base/json'

export const maxPathChars = 1_024
export const maxPathSegments = 64

const indexText = /^(0|[1-9]\d{0,8})$/

/**
 * The segments of a path, or undefined when the text is not one: empty, longer than 1,024 characters, more than 64
 * segments, an empty segment, or brackets that hold anything but a number.
 */
export function parsePath(path: string): string[] | undefined {
  if (path.length === 0 || path.length > maxPathChars) return undefined
  const segments: string[] = []
  for (const dotted of path.split('.')) {
    const open = dotted.indexOf('[')
    const name = open === -1 ? dotted : dotted.slice(0, open)
    if (name === '') return undefined
    segments.push(name)
    if (open !== -1) {
      const indexes = bracketIndexes(dotted.slice(open))
      if (!indexes) return undefined
      segments.push(...indexes)
    }
    if (segments.length > maxPathSegments) return undefined
  }
  return segments
}

/** `[0][12]` → `['0', '12']`. */
function bracketIndexes(text: string): string[] | undefined {
  if (!text.endsWith(']')) return undefined
  const indexes = text.slice(1, -1).split('][')
  return indexes.every((index) => indexText.test(index)) ? indexes : undefined
}

/** The value at a dotted path, or undefined when there is none or the text is not a path. A `null` that is there is found. */
export function valueAt(root: Json, path: string): Json | undefined {
  if (parsePath(path) === undefined) return undefined
  let here: Json | undefined = root
  for (const name of path.split('.')) {
    here = part(here, name)
    if (here === undefined) return undefined
  }
  return here
}

/**
 * The value at a path inside a value that has no root of its own: `{{key}}` and what json_select takes. Dots too many
 * do not count, and an empty path is the value itself.
 */
export function valueInside(root: Json, path: string): Json | undefined {
  const names = path.split('.').filter((name) => name !== '')
  return names.length === 0 ? root : valueAt(root, names.join('.'))
}

/** What stands between two dots: a member of exactly that name first (`items[2]` of a diff), else a member and indexes. */
function part(value: Json | undefined, name: string): Json | undefined {
  const literal = member(value, name)
  if (literal !== undefined || !name.includes('[')) return literal
  let here = value
  for (const segment of parsePath(name) ?? [name]) {
    here = member(here, segment)
    if (here === undefined) return undefined
  }
  return here
}

function member(value: Json | undefined, segment: string): Json | undefined {
  if (Array.isArray(value)) return indexText.test(segment) ? value[Number(segment)] : undefined
  if (isJsonObject(value)) return Object.hasOwn(value, segment) ? value[segment] : undefined
  return undefined
}
