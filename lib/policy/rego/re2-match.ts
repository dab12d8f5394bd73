/*
 * Runs a pattern in time proportional to pattern × text, whatever either is: all ways to match go forward together,
 * code point by code point, in the order in which a backtracking matcher would prefer them. So the match found is the
 * one that Go finds, and no pattern blows up.
 */
import type { Meter } from './limits'
import { type CharSet, type Pattern, readPattern, wordChar } from './re2-syntax'
import { RegoFailed } from './refusal'

type Step =
  | { op: 'char'; set: CharSet }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'save'; slot: number }
  | { op: 'assert'; kind: 'start' | 'end' | 'lineStart' | 'lineEnd' | 'boundary' | 'noBoundary' }
  | { op: 'match' }

/** Steps that a pattern may compile to. */
const mostSteps = 5_000
const mostGroups = 50

export interface Match {
  /** Positions in code points: [from, to) of the whole and of each group; -1 for a group that took no part. */
  slots: number[]
}

export class Matcher {
  readonly steps: Step[] = []
  readonly groups: number
  readonly names: Map<string, number>

  constructor(text: string) {
    const { pattern, groups, names } = readPattern(text)
    if (groups > mostGroups)
      throw new RegoFailed('eval_bound', `A pattern has more than ${mostGroups} groups`)
    this.groups = groups
    this.names = names
    this.#compile({ kind: 'group', item: pattern, index: 0 })
    this.#add({ op: 'match' })
  }

  /** A matcher for a tree that was made without text (globs). */
  static of(pattern: Pattern): Matcher {
    const matcher = new Matcher('')
    matcher.steps.length = 0
    matcher.#compile({ kind: 'group', item: pattern, index: 0 })
    matcher.#add({ op: 'match' })
    return matcher
  }

  /** The leftmost match that starts at or after `from`. */
  match(runes: readonly number[], from: number, meter: Meter): Match | undefined {
    return new Search(this.steps, runes, meter).run(from, 2 * (this.groups + 1))
  }

  /** All matches that do not overlap, as Go's FindAll gives them: an empty one right after another is left out. */
  all(runes: readonly number[], limit: number, meter: Meter): Match[] {
    const found: Match[] = []
    let lastEnd = -1
    for (let at = 0; at <= runes.length && found.length < limit; ) {
      const match = this.match(runes, at, meter)
      if (!match) break
      const [start, end] = match.slots as [number, number]
      const empty = end === start
      if (!(empty && start === lastEnd)) {
        found.push(match)
        meter.keep(1)
      }
      lastEnd = end
      at = empty ? end + 1 : end
    }
    return found
  }

  #add(step: Step): number {
    this.steps.push(step)
    if (this.steps.length > mostSteps) throw new RegoFailed('eval_bound', 'A pattern is too big')
    return this.steps.length - 1
  }

  #compile(pattern: Pattern): void {
    switch (pattern.kind) {
      case 'empty':
        return
      case 'char':
        this.#add({ op: 'char', set: pattern.set })
        return
      case 'sequence':
        for (const item of pattern.items) this.#compile(item)
        return
      case 'choice':
        this.#choice(pattern.items)
        return
      case 'group':
        this.#add({ op: 'save', slot: 2 * pattern.index })
        this.#compile(pattern.item)
        this.#add({ op: 'save', slot: 2 * pattern.index + 1 })
        return
      case 'repeat':
        this.#repeat(pattern)
        return
      default:
        this.#add({ op: 'assert', kind: pattern.kind })
    }
  }

  #choice(items: Pattern[]): void {
    const ends: number[] = []
    for (const [i, item] of items.entries()) {
      if (i === items.length - 1) {
        this.#compile(item)
        continue
      }
      const split = this.#add({ op: 'split', first: this.steps.length + 1, second: 0 })
      this.#compile(item)
      ends.push(this.#add({ op: 'jump', to: 0 }))
      ;(this.steps[split] as { second: number }).second = this.steps.length
    }
    for (const end of ends) (this.steps[end] as { to: number }).to = this.steps.length
  }

  #repeat({ item, least, most, greedy }: Extract<Pattern, { kind: 'repeat' }>): void {
    for (let i = 0; i < least; i += 1) this.#compile(item)
    if (most === Number.POSITIVE_INFINITY) return this.#star(item, greedy)
    const splits: number[] = []
    for (let i = least; i < most; i += 1) {
      splits.push(this.#split(greedy))
      this.#compile(item)
    }
    for (const split of splits) this.#leave(split, greedy)
  }

  #star(item: Pattern, greedy: boolean): void {
    const split = this.#split(greedy)
    this.#compile(item)
    this.#add({ op: 'jump', to: split })
    this.#leave(split, greedy)
  }

  /** A choice between going in (what follows) and leaving (filled in later). */
  #split(greedy: boolean): number {
    const next = this.steps.length + 1
    return this.#add(
      greedy ? { op: 'split', first: next, second: 0 } : { op: 'split', first: 0, second: next },
    )
  }

  #leave(split: number, greedy: boolean): void {
    const step = this.steps[split] as { first: number; second: number }
    if (greedy) step.second = this.steps.length
    else step.first = this.steps.length
  }
}

interface Thread {
  at: number
  slots: number[]
}

class Search {
  readonly #seen: Int32Array
  #mark = 0

  constructor(
    readonly steps: Step[],
    readonly runes: readonly number[],
    readonly meter: Meter,
  ) {
    this.#seen = new Int32Array(steps.length).fill(-1)
  }

  run(from: number, size: number): Match | undefined {
    let threads: Thread[] = []
    let best: Match | undefined
    for (let at = from; ; at += 1) {
      this.#mark = at
      const now: Thread[] = []
      // Threads of the step before come in order of preference; a new start is the least preferred.
      for (const thread of threads) this.#follow(thread.at, thread.slots, at, now)
      if (!best) this.#follow(0, new Array<number>(size).fill(-1), at, now)
      if (now.length === 0 && best) return best
      this.meter.step(1 + ((now.length * (size + 2)) >> 4))
      const next: Thread[] = []
      for (const thread of now) {
        const step = this.steps[thread.at] as Step
        if (step.op === 'match') {
          best = { slots: thread.slots }
          break
        }
        if (step.op === 'char' && at < this.runes.length && step.set(this.runes[at] as number))
          next.push({ at: thread.at + 1, slots: thread.slots })
      }
      if (at >= this.runes.length || (best && next.length === 0)) return best
      threads = next
    }
  }

  /** Adds a thread and all that follows from it without taking a code point. */
  #follow(from: number, slotsFrom: number[], at: number, into: Thread[]): void {
    const open: Thread[] = [{ at: from, slots: slotsFrom }]
    for (let thread = open.pop(); thread; thread = open.pop()) {
      if (this.#seen[thread.at] === this.#mark) continue
      this.#seen[thread.at] = this.#mark
      const step = this.steps[thread.at] as Step
      if (step.op === 'jump') open.push({ at: step.to, slots: thread.slots })
      else if (step.op === 'split')
        open.push({ at: step.second, slots: thread.slots }, { at: step.first, slots: thread.slots })
      else if (step.op === 'save') {
        const slots = [...thread.slots]
        slots[step.slot] = at
        open.push({ at: thread.at + 1, slots })
      } else if (step.op === 'assert') {
        if (this.#holds(step.kind, at)) open.push({ at: thread.at + 1, slots: thread.slots })
      } else into.push(thread)
    }
  }

  #holds(kind: Extract<Step, { op: 'assert' }>['kind'], at: number): boolean {
    const before = this.runes[at - 1]
    const after = this.runes[at]
    const isWord = (code: number | undefined): boolean => code !== undefined && wordChar(code)
    switch (kind) {
      case 'start':
        return at === 0
      case 'end':
        return at === this.runes.length
      case 'lineStart':
        return at === 0 || before === 10
      case 'lineEnd':
        return at === this.runes.length || after === 10
      case 'boundary':
        return isWord(before) !== isWord(after)
      case 'noBoundary':
        return isWord(before) === isWord(after)
    }
  }
}

/** A text as code points. */
export function runesOf(text: string): number[] {
  return Array.from(text, (rune) => rune.codePointAt(0) as number)
}

/** Code points as a text. */
export function textOf(runes: readonly number[], from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i += 1) text += String.fromCodePoint(runes[i] as number)
  return text
}
