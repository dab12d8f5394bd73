/*
 * Two texts, as rows of a diff: what decision cards show of a file, and artifacts of two moments of a run. A line and
 * what it became stand together, with the words that differ marked.
 *
 * The cost is bounded by units of work (sequence-diff.ts). Past them the diff is coarser, never wrong: from the rows,
 * each text can be put together again, and `exact` says whether the rows are the shortest way from one to the other.
 * Long stretches that are the same are said with a count, not listed.
 */
import { pairLines } from './pair-lines'
import { diffSequences, type Span } from './sequence-diff'
import { compareWords, type DiffPart, wholeLine } from './words'
import { Work } from './work'

export type DiffRow =
  | { kind: 'same'; before: number; after: number; parts: DiffPart[] }
  | { kind: 'del'; before: number; parts: DiffPart[] }
  | { kind: 'add'; after: number; parts: DiffPart[] }
  /** Unchanged lines that are not listed: too many. */
  | { kind: 'skip'; before: number; after: number; count: number }

export interface DiffRows {
  rows: DiffRow[]
  /** Lines that change: a line and its replacement count once. */
  changes: number
  same: number
  /** False when some stretch was too costly to compare and counts as replaced. */
  exact: boolean
  /** Rows that change and are not listed: too many. */
  unlisted: number
  /** Only one side ends with a line break: which. */
  lastBreak?: 'before' | 'after'
}

/** Units: one comparison of two lines, or of two words. About a tenth of a second in all. */
const lineWork = 2_000_000
const wordWork = 1_000_000
/** Of an unchanged stretch longer than twice this, so many lines are listed at each end. */
const listedSame = 1_000
const maxRows = 50_000

/** Two texts as rows of a diff, lines counted from 1. */
export function diffRows(before: string, after: string): DiffRows {
  const went = linesOf(before)
  const came = linesOf(after)
  const numbers = new Map<string, number>()
  const numbered = (line: string) => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  const { spans, exact } = diffSequences(went.map(numbered), came.map(numbered), new Work(lineWork))
  const rows = rowsOf(spans, went, came)
  const lastBreak = lastBreakOf(before, after)
  return { ...rows, exact, ...(lastBreak && { lastBreak }) }
}

/** The rows of spans over two lists of lines. */
export function rowsOf(
  spans: readonly Span[],
  went: readonly string[],
  came: readonly string[],
): Omit<DiffRows, 'exact'> {
  const words = new Work(wordWork)
  const rows: DiffRow[] = []
  let changes = 0
  let same = 0
  let unlisted = 0
  for (const span of spans) {
    if (span.kind === 'same') {
      same += span.beforeCount
      if (rows.length < maxRows) listSame(rows, span, went)
      continue
    }
    changes += Math.max(span.beforeCount, span.afterCount)
    const room = Math.max(0, maxRows - rows.length)
    const gone = went.slice(span.before, span.before + Math.min(span.beforeCount, room))
    const come = came.slice(
      span.after,
      span.after + Math.min(span.afterCount, Math.max(0, room - gone.length)),
    )
    unlisted += span.beforeCount + span.afterCount - gone.length - come.length
    hunkRows(rows, gone, come, span.before + 1, span.after + 1, words)
  }
  return { rows, changes, same, unlisted }
}

function listSame(
  rows: DiffRow[],
  { before, after, beforeCount: count }: Span,
  lines: readonly string[],
): void {
  const list = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const parts = wholeLine(lines[before + at] as string)
      rows.push({ kind: 'same', before: before + at + 1, after: after + at + 1, parts })
    }
  }
  if (count <= 2 * listedSame) return list(0, count)
  list(0, listedSame)
  const left = count - 2 * listedSame
  rows.push({ kind: 'skip', before: before + listedSame + 1, after: after + listedSame + 1, count: left })
  list(count - listedSame, count)
}

/** A hunk's rows: a line and what it became stand together; lines without a partner come before the next pair. */
function hunkRows(
  rows: DiffRow[],
  gone: readonly string[],
  come: readonly string[],
  oldLine: number,
  newLine: number,
  words: Work,
): void {
  let i = 0
  let j = 0
  const del = (parts: DiffPart[]) => {
    rows.push({ kind: 'del', before: oldLine + i++, parts })
  }
  const add = (parts: DiffPart[]) => {
    rows.push({ kind: 'add', after: newLine + j++, parts })
  }
  const alone = (from: number, to: number) => {
    while (i < from) del(wholeLine(gone[i] as string))
    while (j < to) add(wholeLine(come[j] as string))
  }
  for (const { from, to } of pairLines(gone, come, words)) {
    alone(from, to)
    const [before, after] = compareWords(gone[from] as string, come[to] as string, words)
    del(before)
    add(after)
  }
  alone(gone.length, come.length)
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** A last line with a break and one without are the same line; that one side has it is said beside the rows. */
function lastBreakOf(before: string, after: string): DiffRows['lastBreak'] {
  if (before === '' || after === '') return undefined
  const [here, there] = [before.endsWith('\n'), after.endsWith('\n')]
  return here === there ? undefined : here ? 'before' : 'after'
}

/** How much differs: `1 line changes, 3 stay`; what is none is not named. */
export function lineWords({ changes, same, lastBreak }: DiffRows): string {
  if (changes === 0) return lastBreak ? 'only the last line break differs' : 'nothing changes'
  const change = `${changes.toLocaleString('en')} ${changes === 1 ? 'line changes' : 'lines change'}`
  if (same === 0) return change
  return `${change}, ${same.toLocaleString('en')} ${same === 1 ? 'stays' : 'stay'}`
}

type FoldedRow = DiffRow | { kind: 'fold'; rows: DiffRow[] }

/** Rows with the long unchanged stretches folded: only `context` lines stay around each change. */
export function foldRows(rows: readonly DiffRow[], context: number): FoldedRow[] {
  const near = new Uint8Array(rows.length)
  rows.forEach((row, index) => {
    if (row.kind === 'same') return
    const reach = row.kind === 'skip' ? 0 : context
    near.fill(1, Math.max(0, index - reach), Math.min(rows.length, index + reach + 1))
  })
  const shown: FoldedRow[] = []
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
