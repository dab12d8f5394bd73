/*
 * Steps through a run: to the next token, the next transition, the next thing that is worth a look. Positions are
 * tokens; 0 is before the first. Every step is a search in an ordered list, however long the run is.
 */
import { lastWhere } from './bounds'
import type { Mark, Seq } from './terms'
import type { Timeline } from './timeline'

export type Direction = 'next' | 'previous'

/** The token beside a position; the position itself at the ends. Never before the first token. */
export function tokenBeside(timeline: Timeline, seq: Seq, direction: Direction): Seq {
  const beside = direction === 'next' ? seq + 1 : seq - 1
  return Math.min(Math.max(beside, Math.min(1, timeline.seq)), timeline.seq)
}

/** The token of the transition after a position, or before it; undefined where there is none. */
export function transitionBeside(timeline: Timeline, seq: Seq, direction: Direction): Seq | undefined {
  return seqBeside(timeline.transitions, seq, direction)
}

/**
 * The next error, change of a breaker, human act, or change of the chosen artifact after a position (or the last before it). Without an
 * artifact, a change of any. Undefined where there is none.
 */
export function noteworthyBeside(
  timeline: Timeline,
  seq: Seq,
  direction: Direction,
  artifact?: string,
): Mark | undefined {
  const lists = [
    timeline.marks('error'),
    timeline.marks('person'),
    timeline.marks('breaker'),
    artifact === undefined ? timeline.marks('artifact') : timeline.artifactMarks(artifact),
  ]
  const found = lists.flatMap((marks) => beside(marks, seq, direction) ?? [])
  return found.reduce<Mark | undefined>((best, mark) => {
    if (!best) return mark
    const isNearer = direction === 'next' ? mark.seq < best.seq : mark.seq > best.seq
    return isNearer ? mark : best
  }, undefined)
}

function seqBeside(items: readonly { seq: Seq }[], seq: Seq, direction: Direction): Seq | undefined {
  return beside(items, seq, direction)?.seq
}

function beside<T extends { seq: Seq }>(items: readonly T[], seq: Seq, direction: Direction): T | undefined {
  if (direction === 'previous') return items[lastWhere(items, (item) => item.seq < seq)]
  return items[lastWhere(items, (item) => item.seq <= seq) + 1]
}
