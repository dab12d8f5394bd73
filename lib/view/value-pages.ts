/*
 * A large value, page by page: as lines, so that a screen can show the beginning and more of it when asked. JSON is
 * written out; a line without end is broken, because what is cut could not be read at all.
 */
import { linesOf } from './diff/json-rows'
import { contentOf, hexRows, type ValueContent } from './value-content'

/** Characters of a line before it is broken. */
const brokenAt = 2_000
/** Lines of a JSON value that are written out. */
const maxJsonLines = 500_000
/** Rows of hex: the head of what is no text, 4 kB. */
const hexHead = 256

export interface ValuePage {
  is: ValueContent['is']
  lines: string[]
  /** Lines there are in all. */
  total: number
}

/** All lines of a value, for pages to be cut from. */
export function valueLines(
  mediaType: string,
  bytes: Uint8Array,
): { is: ValueContent['is']; lines: string[] } {
  const content = contentOf(mediaType, bytes)
  if (content.is === 'bytes') return { is: 'bytes', lines: hexRows(bytes, hexHead) }
  return {
    is: content.is,
    lines: content.is === 'json' ? written(content).flatMap(broken) : brokenLines(content.text),
  }
}

function written({ json, text }: Extract<ValueContent, { is: 'json' }>): string[] {
  try {
    return linesOf(json, '', '', maxJsonLines)
  } catch {
    // Nested deeper than the stack is high.
    return text.split('\n')
  }
}

/** A text as lines; one without end is broken. */
export function brokenLines(text: string): string[] {
  return text.split('\n').flatMap(broken)
}

/** Lines from a place on: so many, or as many as have so many characters together, and at least one. */
export function pageFrom(
  lines: readonly string[],
  from: number,
  most: { lines: number; chars: number },
): string[] {
  let until = from
  for (let chars = 0; until < lines.length && until - from < most.lines; until++) {
    chars += (lines[until] as string).length
    if (chars > most.chars && until > from) break
  }
  return lines.slice(from, until)
}

function broken(line: string): string[] {
  if (line.length <= brokenAt) return [line]
  return Array.from({ length: Math.ceil(line.length / brokenAt) }, (_, at) =>
    line.slice(at * brokenAt, (at + 1) * brokenAt),
  )
}
