/*
 * What differs within a line that was rewritten. Whole words, as the eye takes them: "02:00" is one, and so is "LP-90".
 * A line too long for that (a whole file without a line break) is cut to where it differs, with what stands around it.
 */
import { diffArrays } from 'diff'
import type { Work } from './work'

/** A stretch of a line; `changed` ones are what differs within it. */
export interface DiffPart {
  text: string
  changed: boolean
  /** Characters that are left out after `text`. */
  omitted?: number
}

/** Lines longer than this are not compared word by word: they are cut to where they differ. */
const maxWordCompared = 600
const maxWordEdits = 200
/** Characters of a line that are drawn; and of what is the same, around what differs in a longer one. */
export const maxLineChars = 2_000
const around = 200

/** A line whole, cut where it is longer than can be drawn. */
export function wholeLine(text: string, changed = false): DiffPart[] {
  return [clipped(text, changed)]
}

/** What goes and what comes in a line that was replaced. Lines with little in common are left unmarked. */
export function compareWords(before: string, after: string, work: Work): [DiffPart[], DiffPart[]] {
  if (before.length > maxWordCompared || after.length > maxWordCompared) return compareLong(before, after)
  const words = [before.split(/(\s+)/), after.split(/(\s+)/)] as const
  const most = Math.min(maxWordEdits, words[0].length + words[1].length)
  if (!work.take(words[0].length + words[1].length + most)) return plain(before, after)
  const found = diffArrays(words[0], words[1], { maxEditLength: maxWordEdits })
  if (!found) return plain(before, after)
  const parts = found.map((part) => ({ ...part, value: part.value.join('') }))
  const kept = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0)
  if (kept * 6 < Math.max(before.trim().length, after.trim().length)) return plain(before, after)
  const side = (skip: 'added' | 'removed') =>
    joined(
      parts
        .filter((part) => !part[skip])
        .map((part) => ({ text: part.value, changed: part.added || part.removed })),
    )
  return [side('added'), side('removed')]
}

const plain = (before: string, after: string): [DiffPart[], DiffPart[]] => [
  wholeLine(before),
  wholeLine(after),
]

/** The beginning and the end that two long lines share are cut to what stands next to the difference. */
function compareLong(before: string, after: string): [DiffPart[], DiffPart[]] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const side = (line: string): DiffPart[] => {
    const from = Math.max(0, head - around)
    const until = line.length - tail
    return [
      ...(from > 0 ? [{ text: '', changed: false, omitted: from }] : []),
      { text: line.slice(from, head), changed: false },
      clipped(line.slice(head, until), true),
      clipped(line.slice(until), false, around),
    ].filter((part) => part.text !== '' || part.omitted)
  }
  return [side(before), side(after)]
}

function clipped(text: string, changed: boolean, most = maxLineChars): DiffPart {
  if (text.length <= most) return { text, changed }
  return { text: text.slice(0, most), changed, omitted: text.length - most }
}

/** The space between two words that differ differs with them: one mark, not two. */
function joined(parts: DiffPart[]): DiffPart[] {
  const out: DiffPart[] = []
  parts.forEach((part, index) => {
    const changed =
      part.changed || (part.text.trim() === '' && !!parts[index - 1]?.changed && !!parts[index + 1]?.changed)
    const last = out.at(-1)
    if (last && last.changed === changed) last.text += part.text
    else out.push({ text: part.text, changed })
  })
  return out
}
