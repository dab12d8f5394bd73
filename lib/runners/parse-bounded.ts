import { type ParseError, parse } from 'jsonc-parser'
import type { Json } from '@/lib/base/json'
import { refusal } from './resolved'

/** Deeper values are refused: what folds over values recurses, and 100 is beyond any honest document. */
export const maxJsonDepth = 100

/**
 * A JSON text as a value. Throws EffectFailed `not_json` with line and column, or `too_deep`; never with a piece of
 * the text. `what` names the text: `The text at "load.content"`.
 */
export function parseBounded(text: string, what: string): Json {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    throw refusal('not_json', `${what} is not JSON${placeOfFault(text)}; one JSON value was expected.`)
  }
  if (deeperThan(value, maxJsonDepth)) {
    throw refusal('too_deep', `${what} is nested deeper than ${maxJsonDepth} levels; flatten it.`)
  }
  return value
}

function placeOfFault(text: string): string {
  const errors: ParseError[] = []
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  } catch {
    return '' // Nested so deep that finding the place ran out of stack.
  }
  const offset = errors[0]?.offset
  if (offset === undefined) return ''
  const before = text.slice(0, offset)
  return ` (line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')})`
}

/** True when objects and lists are nested more than `levels` deep. Keeps its own stack, so that no value can exhaust ours. */
export function deeperThan(value: Json, levels: number): boolean {
  let layer: Json[] = [value]
  for (let depth = 0; depth <= levels; depth++) {
    layer = layer.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []))
    if (layer.length === 0) return false
  }
  return true
}
