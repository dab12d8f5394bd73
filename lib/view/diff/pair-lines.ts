/*
 * Which line became which. A hunk of a diff says that these lines went and those came; this says which of the new ones
 * is an old one rewritten, so that the words that differ can be marked. Pairs never cross: lines keep their order.
 *
 *   went                                    came
 *   route-map LP-90 in        ◀─────────▶   description transit-b
 *                                  ╲
 *                                   ╰────▶  route-map LP-200 in
 */
import type { Work } from './work'

/** Lines whose common words are less than this of the longer one are not the same line rewritten. */
const minShare = 0.2
/** Each line that went is held against each that came: past this many, lines go by their place. */
const maxCompared = 10_000
/** Characters of all lines of a hunk whose words are looked at. */
const maxChars = 200_000

export interface LinePair {
  /** Index of the line that went, and of the one it became. */
  from: number
  to: number
}

/** Pairs of lines in order: those that together have the most in common. `work`: what the comparisons are taken from. */
export function pairLines(went: readonly string[], came: readonly string[], work: Work): LinePair[] {
  if (went.length === 0 || came.length === 0) return []
  const compared = went.length * came.length
  if (compared > maxCompared || charsOf(went) + charsOf(came) > maxChars || !work.take(compared)) {
    return went.length === came.length ? went.map((_, at) => ({ from: at, to: at })) : []
  }
  const a = went.map(wordsOf)
  const b = came.map(wordsOf)
  return bestPairs(a.map((line) => b.map((other) => sharedOf(line, other))))
}

/** Pairs that keep the order of both sides and together share the most; `share[i][j]` of 0 is no pair. */
export function bestPairs(share: readonly (readonly number[])[]): LinePair[] {
  return walk(share, best(share, share[0]?.length ?? 0))
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}

interface Words {
  counts: ReadonlyMap<string, number>
  /** Characters of all words; spaces do not count. */
  chars: number
}

function wordsOf(line: string): Words {
  const counts = new Map<string, number>()
  let chars = 0
  for (const word of line.split(/\s+/)) {
    if (word === '') continue
    counts.set(word, (counts.get(word) ?? 0) + 1)
    chars += word.length
  }
  return { counts, chars }
}

/** The part of the longer line, 0 to 1, that is words of both; 0 where it is too little to pair them. */
function sharedOf(a: Words, b: Words): number {
  let shared = 0
  for (const [word, n] of a.counts) shared += word.length * Math.min(n, b.counts.get(word) ?? 0)
  const share = shared / Math.max(a.chars, b.chars, 1)
  return share < minShare ? 0 : share
}

/** `best[i][j]`: the most that the lines from i and from j on can have in common. */
function best(share: readonly (readonly number[])[], width: number): number[][] {
  const table = Array.from({ length: share.length + 1 }, () => new Array<number>(width + 1).fill(0))
  for (let i = share.length - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      const paired = at(share, i, j) > 0 ? at(share, i, j) + at(table, i + 1, j + 1) : 0
      ;(table[i] as number[])[j] = Math.max(paired, at(table, i + 1, j), at(table, i, j + 1))
    }
  }
  return table
}

function walk(share: readonly (readonly number[])[], table: readonly number[][]): LinePair[] {
  const pairs: LinePair[] = []
  for (let i = 0, j = 0; at(table, i, j) > 0; ) {
    if (at(share, i, j) > 0 && at(table, i, j) === at(share, i, j) + at(table, i + 1, j + 1)) {
      pairs.push({ from: i++, to: j++ })
    } else if (at(table, i, j) === at(table, i + 1, j)) i++
    else j++
  }
  return pairs
}

function at(table: readonly (readonly number[])[], i: number, j: number): number {
  return table[i]?.[j] ?? 0
}
