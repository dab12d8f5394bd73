/*
 * Two values of an artifact, compared in the way that tells most: JSON by structure, text by line and word, bytes by
 * their head. What is missing on one side is missing, not empty. Past the bounds of the structural comparison the texts
 * are compared by line, and that is said.
 */
import { contentOf, hexRows, sizeWords, type ValueContent } from '../value-content'
import { jsonDiff } from './json-diff'
import { jsonRows, linesOf } from './json-rows'
import { type DiffRow, type DiffRows, diffRows, lineWords } from './text-diff'

/** Bytes of a value, whole. */
export interface ComparedValue {
  mediaType: string
  bytes: Uint8Array
}

export interface ValueDiff extends DiffRows {
  by: 'structure' | 'line' | 'bytes'
  /** "1 value changed, 2 added", "5 lines change, 3 stay". */
  words: string
  /** What the reader has to know of how it was compared; absent where it is all that can be asked. */
  note?: string
}

/** Rows of hex that are compared: 4 kB. */
const hexRowsCompared = 256
/** Lines of a JSON value that is written out to be compared by line. */
const maxLines = 400_000

/** What differs; undefined stands for a value that is missing. */
export function valueDiff(before: ComparedValue | undefined, after: ComparedValue | undefined): ValueDiff {
  const was = before && contentOf(before.mediaType, before.bytes)
  const is = after && contentOf(after.mediaType, after.bytes)
  if (was?.is === 'bytes' || is?.is === 'bytes') return bytesDiff(before, after)
  if (was?.is === 'json' && is?.is === 'json') {
    const found = jsonDiff(was.json, is.json)
    if (found) {
      return {
        ...jsonRows(found.root),
        exact: found.exact,
        by: 'structure',
        words: structureWords(found),
        ...(found.exact ? {} : { note: 'A long list changed so much that part of it is shown as replaced.' }),
      }
    }
  }
  return linesDiff(was, is)
}

function linesDiff(was: ValueContent | undefined, is: ValueContent | undefined): ValueDiff {
  const found = diffRows(readable(was), readable(is))
  const large = was?.is === 'json' && is?.is === 'json'
  const note = large
    ? 'Too large or too deep to be compared by structure: compared by line.'
    : found.exact
      ? undefined
      : 'So much changed that part of it is shown as replaced.'
  return { ...found, by: 'line', words: lineWords(found), ...(note && { note }) }
}

/** A value as lines. One JSON value alone is written out, so that it reads as the other would. */
function readable(content: ValueContent | undefined): string {
  if (!content || content.is === 'bytes') return ''
  if (content.is === 'text') return content.text
  try {
    return linesOf(content.json, '', '', maxLines).join('\n')
  } catch {
    // Nested deeper than the stack is high.
    return content.text
  }
}

function bytesDiff(before: ComparedValue | undefined, after: ComparedValue | undefined): ValueDiff {
  const head = (value: ComparedValue | undefined) =>
    value ? hexRows(value.bytes, hexRowsCompared).join('\n') : ''
  const longest = Math.max(before?.bytes.length ?? 0, after?.bytes.length ?? 0)
  const sizes = [before, after].map((value) => (value ? sizeWords(value.bytes.length) : 'missing'))
  return {
    ...diffRows(head(before), head(after)),
    by: 'bytes',
    words: `bytes, ${sizes[0]} to ${sizes[1]}`,
    ...(longest > hexRowsCompared * 16 && {
      note: 'The first 4 kB are shown; the hashes stand for the rest.',
    }),
  }
}

function structureWords({
  added,
  removed,
  changed,
}: {
  added: number
  removed: number
  changed: number
}): string {
  const parts = [
    changed > 0 && `${counted(changed, 'value')} changed`,
    added > 0 && `${added.toLocaleString('en')} added`,
    removed > 0 && `${removed.toLocaleString('en')} removed`,
  ].filter(Boolean)
  return parts.length === 0 ? 'the same value' : parts.join(', ')
}

function counted(n: number, one: string): string {
  return `${n.toLocaleString('en')} ${one}${n === 1 ? '' : 's'}`
}

/** The two sides of a diff next to each other: a line and what it became on one row. */
export type SideRow =
  | { kind: 'pair'; before?: Exclude<DiffRow, { kind: 'skip' }>; after?: Exclude<DiffRow, { kind: 'skip' }> }
  | { kind: 'skip'; count: number }

/** Rows for two columns. Lines that went and came in a row stand beside each other. */
export function sideBySide(rows: readonly DiffRow[]): SideRow[] {
  const out: SideRow[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as DiffRow
    if (row.kind === 'same') {
      out.push({ kind: 'pair', before: row, after: row })
      at++
    } else if (row.kind === 'skip') {
      out.push({ kind: 'skip', count: row.count })
      at++
    } else {
      at = hunkSides(rows, at, out)
    }
  }
  return out
}

/** A hunk holds pairs (a line that went, then the one it became) and lines without a partner. */
function hunkSides(rows: readonly DiffRow[], from: number, out: SideRow[]): number {
  let at = from
  while (at < rows.length) {
    const row = rows[at] as DiffRow
    const next = rows[at + 1]
    if (row.kind === 'del' && next?.kind === 'add') {
      out.push({ kind: 'pair', before: row, after: next })
      at += 2
    } else if (row.kind === 'del') {
      out.push({ kind: 'pair', before: row })
      at++
    } else if (row.kind === 'add') {
      out.push({ kind: 'pair', after: row })
      at++
    } else break
  }
  return at
}
