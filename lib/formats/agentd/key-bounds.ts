/*
 * How long the dotted keys of a text are, found before the parser sees it: one key of a million parts, or fifty thousand
 * of sixty, would hold the parser for seconds. Strings and comments are passed over; the dot of a number counts too,
 * which does no harm. In a text that is no TOML the count may be wrong, and then the parser stops where it is.
 */
import { endOfString } from './toml-places'

export interface DottedKeys {
  /** Most dots between two of `=`, a bracket, a brace, a comma or a line's end. */
  longest: number
  /** Offset behind the longest. */
  at: number
  total: number
}

/** Counts the dots outside strings and comments. */
export function dottedKeys(text: string): DottedKeys {
  const found: DottedKeys = { longest: 0, at: 0, total: 0 }
  const telling = /["'#.=,\n[\]{}]/g
  let dots = 0
  for (let match = telling.exec(text); match; match = telling.exec(text)) {
    const { index } = match
    switch (match[0]) {
      case '"':
      case "'":
        telling.lastIndex = endOfString(text, index)
        break
      case '#': {
        const end = text.indexOf('\n', index)
        telling.lastIndex = end < 0 ? text.length : end
        break
      }
      case '.':
        dots += 1
        found.total += 1
        if (dots > found.longest) Object.assign(found, { longest: dots, at: index })
        break
      default:
        dots = 0
    }
  }
  return found
}
