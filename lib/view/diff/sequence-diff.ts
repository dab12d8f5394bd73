/*
 * What two lists have in common, in order: lines of two texts, items of two JSON arrays. Each thing is a number here;
 * equal things have equal numbers. The shortest edit is found where that is cheap (Myers, from the package `diff`);
 * where it is not, things that occur once on both sides hold the lists together and what lies between is compared:
 *
 *   before  a b c X d e f Y g          X, Y once in both: anchors
 *   after   p q X r s t Y g            ╰ a b c → p q     ╰ d e f → r s t
 *
 * A stretch with too many edits and nothing to hold on to is said to be replaced whole, and `exact` is false. The cost
 * is bounded by units of work, never by a clock.
 */
import { diffArrays } from 'diff'
import type { Work } from './work'

/** `same` stands in both; `gap` went and came. Places are from 0; `gap` may be empty on one side. */
export interface Span {
  kind: 'same' | 'gap'
  before: number
  after: number
  /** How many things of each side it covers; equal for `same`. */
  beforeCount: number
  afterCount: number
}

export interface SequenceDiff {
  spans: Span[]
  /** False when some stretch was too costly to compare and counts as replaced. */
  exact: boolean
}

/** Edits looked for at once: half a million units, some 30 ms. */
const maxEdits = 1_000
/** How often a stretch between anchors is looked at for anchors of its own. */
const maxDepth = 8

/** The spans of two lists, in order, covering both whole. */
export function diffSequences(before: readonly number[], after: readonly number[], work: Work): SequenceDiff {
  const found = new Spans()
  align(before, after, { b0: 0, b1: before.length, a0: 0, a1: after.length }, work, found, 0)
  return { spans: found.list, exact: found.exact }
}

/** A stretch of both lists, ends excluded. */
interface Region {
  b0: number
  b1: number
  a0: number
  a1: number
}

class Spans {
  readonly list: Span[] = []
  exact = true

  same(before: number, after: number, n: number): void {
    if (n === 0) return
    const last = this.list.at(-1)
    if (last?.kind === 'same') {
      last.beforeCount += n
      last.afterCount += n
    } else this.list.push({ kind: 'same', before, after, beforeCount: n, afterCount: n })
  }

  gap(before: number, after: number, beforeCount: number, afterCount: number): void {
    if (beforeCount + afterCount === 0) return
    const last = this.list.at(-1)
    if (last?.kind === 'gap') {
      last.beforeCount += beforeCount
      last.afterCount += afterCount
    } else this.list.push({ kind: 'gap', before, after, beforeCount, afterCount })
  }
}

function align(
  before: readonly number[],
  after: readonly number[],
  { b0, b1, a0, a1 }: Region,
  work: Work,
  found: Spans,
  depth: number,
): void {
  let head = 0
  while (b0 + head < b1 && a0 + head < a1 && before[b0 + head] === after[a0 + head]) head++
  let tail = 0
  while (b1 - tail > b0 + head && a1 - tail > a0 + head && before[b1 - tail - 1] === after[a1 - tail - 1])
    tail++
  found.same(b0, a0, head)
  const middle = { b0: b0 + head, b1: b1 - tail, a0: a0 + head, a1: a1 - tail }
  between(before, after, middle, work, found, depth)
  found.same(b1 - tail, a1 - tail, tail)
}

function between(
  before: readonly number[],
  after: readonly number[],
  region: Region,
  work: Work,
  found: Spans,
  depth: number,
): void {
  const { b0, b1, a0, a1 } = region
  if (b0 === b1 || a0 === a1) return found.gap(b0, a0, b1 - b0, a1 - a0)
  if (shortest(before, after, region, work, found)) return
  const anchors = depth < maxDepth ? anchorsOf(before, after, region) : []
  if (anchors.length === 0) {
    found.exact = false
    return found.gap(b0, a0, b1 - b0, a1 - a0)
  }
  let b = b0
  let a = a0
  for (const anchor of anchors) {
    align(before, after, { b0: b, b1: anchor.before, a0: a, a1: anchor.after }, work, found, depth + 1)
    found.same(anchor.before, anchor.after, 1)
    b = anchor.before + 1
    a = anchor.after + 1
  }
  align(before, after, { b0: b, b1, a0: a, a1 }, work, found, depth + 1)
}

/** The shortest edit, when it is short enough for the work that is left. */
function shortest(
  before: readonly number[],
  after: readonly number[],
  { b0, b1, a0, a1 }: Region,
  work: Work,
  found: Spans,
): boolean {
  const most = Math.min(maxEdits, Math.floor(Math.sqrt(2 * work.left)), b1 - b0 + a1 - a0)
  if (most < 2) return false
  const parts = diffArrays(before.slice(b0, b1), after.slice(a0, a1), { maxEditLength: most })
  if (!parts) {
    work.take(Math.ceil((most * most) / 2))
    return false
  }
  let b = b0
  let a = a0
  let edits = 0
  for (const { added, removed, value } of parts) {
    const n = value.length
    if (!added && !removed) found.same(b, a, n)
    else found.gap(b, a, removed ? n : 0, added ? n : 0)
    if (added || removed) edits += n
    if (!added) b += n
    if (!removed) a += n
  }
  work.take(Math.min(work.left, Math.ceil((edits * edits) / 2) + (b1 - b0)))
  return true
}

/** Things that occur once in each side of the region, in the longest order that both keep. */
function anchorsOf(
  before: readonly number[],
  after: readonly number[],
  { b0, b1, a0, a1 }: Region,
): { before: number; after: number }[] {
  const inBefore = places(before, b0, b1)
  const inAfter = places(after, a0, a1)
  const pairs: { before: number; after: number }[] = []
  for (const [thing, at] of inBefore) {
    const there = inAfter.get(thing)
    if (at !== -1 && there !== undefined && there !== -1) pairs.push({ before: at, after: there })
  }
  return longestRising(pairs.sort((x, y) => x.before - y.before))
}

/** Where each thing stands; -1 when it stands there more than once. */
function places(list: readonly number[], from: number, to: number): Map<number, number> {
  const found = new Map<number, number>()
  for (let at = from; at < to; at++) {
    const thing = list[at] as number
    found.set(thing, found.has(thing) ? -1 : at)
  }
  return found
}

/** The longest subsequence whose `after` rises (patience sorting). */
function longestRising(pairs: readonly { before: number; after: number }[]) {
  const tops: number[] = []
  const below = new Int32Array(pairs.length).fill(-1)
  pairs.forEach((pair, index) => {
    let low = 0
    let high = tops.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tops[middle] as number]?.after ?? 0) < pair.after) low = middle + 1
      else high = middle
    }
    below[index] = low > 0 ? (tops[low - 1] as number) : -1
    tops[low] = index
  })
  const chain: { before: number; after: number }[] = []
  for (let at = tops.at(-1) ?? -1; at !== -1; at = below[at] as number) {
    chain.push(pairs[at] as { before: number; after: number })
  }
  return chain.reverse()
}
