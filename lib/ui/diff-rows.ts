import { diffArrays, diffLines } from 'diff'
import { pairLines } from './pair-lines'

/** A stretch of a line; `changed` ones are what differs within it. */
export interface DiffPart {
  text: string
  changed: boolean
}

export type DiffRow =
  | { kind: 'same'; before: number; after: number; parts: DiffPart[] }
  | { kind: 'del'; before: number; parts: DiffPart[] }
  | { kind: 'add'; after: number; parts: DiffPart[] }

export interface DiffRows {
  rows: DiffRow[]
  /** Lines that change: a line and its replacement count once. */
  changes: number
  same: number
}

/** Past this many edits a line-by-line comparison tells a person nothing, and would hold the page up. */
const maxEdits = 4_000
/** Lines longer than this are not compared word by word. */
const maxWordCompared = 2_000

/** Two texts as rows of a unified diff, lines counted from 1. A line and what replaces it stand together. */
export function diffRows(before: string, after: string): DiffRows {
  const found = diffLines(before, after, { maxEditLength: maxEdits }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const rows: DiffRow[] = []
  let oldLine = 1
  let newLine = 1
  let changes = 0
  let same = 0
  for (let at = 0; at < found.length; at++) {
    const part = found[at] as (typeof found)[number]
    if (!part.removed && !part.added) {
      for (const text of linesOf(part.value)) {
        rows.push({ kind: 'same', before: oldLine++, after: newLine++, parts: [{ text, changed: false }] })
        same++
      }
      continue
    }
    const next = found[at + 1]
    const gone = part.removed ? linesOf(part.value) : []
    const come = part.added ? linesOf(part.value) : next?.added ? linesOf(next.value) : []
    if (part.removed && next?.added) at++
    changes += Math.max(gone.length, come.length)
    rows.push(...hunkRows(gone, come, oldLine, newLine))
    oldLine += gone.length
    newLine += come.length
  }
  return { rows, changes, same }
}

/** A hunk's rows: a line and what it became stand together; lines without a partner come before the next pair. */
function hunkRows(gone: string[], come: string[], oldLine: number, newLine: number): DiffRow[] {
  const rows: DiffRow[] = []
  let i = 0
  let j = 0
  const del = (parts: DiffPart[]) => {
    rows.push({ kind: 'del', before: oldLine + i++, parts })
  }
  const add = (parts: DiffPart[]) => {
    rows.push({ kind: 'add', after: newLine + j++, parts })
  }
  const alone = (from: number, to: number) => {
    while (i < from) del(whole(gone[i] as string))
    while (j < to) add(whole(come[j] as string))
  }
  for (const { from, to } of pairLines(gone, come)) {
    alone(from, to)
    const [before, after] = compareWords(gone[from] as string, come[to] as string)
    del(before)
    add(after)
  }
  alone(gone.length, come.length)
  return rows
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const whole = (text: string): DiffPart[] => [{ text, changed: false }]

/** What goes and what comes in a line that was replaced. Lines with little in common are left unmarked. */
function compareWords(before: string, after: string): [DiffPart[], DiffPart[]] {
  if (before.length > maxWordCompared || after.length > maxWordCompared) return [whole(before), whole(after)]
  // Whole words, as the eye takes them: "02:00" is one, and so is "LP-90".
  const parts = diffArrays(before.split(/(\s+)/), after.split(/(\s+)/)).map((part) => ({
    ...part,
    value: part.value.join(''),
  }))
  const kept = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0)
  if (kept * 6 < Math.max(before.trim().length, after.trim().length)) return [whole(before), whole(after)]
  const side = (skip: 'added' | 'removed') =>
    joined(
      parts
        .filter((part) => !part[skip])
        .map((part) => ({ text: part.value, changed: part.added || part.removed })),
    )
  return [side('added'), side('removed')]
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

/** Rows with the long unchanged stretches folded: only `context` lines stay around each change. */
export function foldRows(rows: DiffRow[], context: number): (DiffRow | { kind: 'fold'; rows: DiffRow[] })[] {
  const near = new Uint8Array(rows.length)
  rows.forEach((row, index) => {
    if (row.kind === 'same') return
    near.fill(1, Math.max(0, index - context), Math.min(rows.length, index + context + 1))
  })
  const shown: (DiffRow | { kind: 'fold'; rows: DiffRow[] })[] = []
  for (let at = 0; at < rows.length; ) {
    if (near[at]) {
      shown.push(rows[at++] as DiffRow)
      continue
    }
    let end = at
    while (end < rows.length && !near[end]) end++
    const hidden = rows.slice(at, end)
    // One line folded away costs a line to say so.
    if (hidden.length <= 1) shown.push(...hidden)
    else shown.push({ kind: 'fold', rows: hidden })
    at = end
  }
  return shown
}
