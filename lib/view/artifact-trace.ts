/*
 * The artifact trace (RFC 0009): one row for each entry of a node, with what the run knew on arriving there. A row's
 * values are those set before its visit began; what was set after the last row began belongs to the last row. Rows that a
 * rollback left behind stay, with the values they had, and are marked.
 *
 *   tokens   plan ▸ entered · set sha · implement ▸ done · test ▸ entered …
 *   row      → plan            sha —
 *   row      → test            sha abc123     ◆ changed at this transition
 *
 * Values are hashes: what they stand for is fetched when a row comes into sight. A slot's writings are a list that rows
 * share, so that 50,000 rows of a growing log cost one link each and never a copy. The trace is made as tokens come;
 * only a rollback makes it anew.
 */
import type { ArtifactDeclaration } from '@/lib/workflow/graph'
import type { ArtifactSet, Transition } from './timeline/terms'
import type { Timeline } from './timeline/timeline'

/** The writings of a slot up to one row: the latest, and those before it. */
export interface Written {
  set: ArtifactSet
  /** How many there are. */
  count: number
  before?: Written
}

/** A slot in one row; without `written` the artifact is missing there, which is not the same as empty. */
export interface TraceCell {
  written?: Written
  changed: boolean
}

export interface TraceRow {
  /** From 1, as people count. */
  number: number
  transition: Transition
  /** One for each of the trace's artifacts. */
  cells: readonly TraceCell[]
}

/** A column of the trace: a slot that is declared, or was written although nobody declared it. */
export type TraceArtifact = Pick<ArtifactDeclaration, 'name' | 'mediaType' | 'mode'>

/** What the trace is made of: the timeline's rows and writings. */
export type Traced = Pick<Timeline, 'seq' | 'transitions' | 'artifacts' | 'writesOf'> & {
  marks(kind: 'rollback'): readonly unknown[]
}

/** How far one slot was read. */
interface Slot {
  next: number
  top?: Written
}

export class ArtifactTrace {
  readonly rows: TraceRow[] = []
  readonly #declared: readonly TraceArtifact[]
  #artifacts: readonly TraceArtifact[]
  #slots: Slot[]
  /** The slots as they were before the last row: it is the only one that still changes. */
  #beforeLast: Slot[]
  #rollbacks = 0
  #seq = 0
  #still: { of: readonly TraceCell[]; cells: readonly TraceCell[] } | undefined

  constructor(declared: readonly ArtifactDeclaration[]) {
    this.#declared = declared
    this.#artifacts = declared
    this.#slots = declared.map(() => ({ next: 0 }))
    this.#beforeLast = this.#slots.map((slot) => ({ ...slot }))
  }

  /** The columns: declared slots in their order, then those that were written undeclared. */
  get artifacts(): readonly TraceArtifact[] {
    return this.#artifacts
  }

  /** Takes what is new of the timeline. False when nothing is. */
  update(timeline: Traced): boolean {
    if (timeline.seq === this.#seq) return false
    this.#seq = timeline.seq
    const rollbacks = timeline.marks('rollback').length
    const undeclared = timeline.artifacts.filter((name) => !this.#declared.some((one) => one.name === name))
    const columns = this.#declared.length + undeclared.length
    if (rollbacks !== this.#rollbacks || columns !== this.#artifacts.length) {
      this.#rollbacks = rollbacks
      this.#artifacts = [...this.#declared, ...undeclared.map((name) => columnOf(timeline, name))]
      this.rows.length = 0
      this.#beforeLast = this.#artifacts.map(() => ({ next: 0 }))
      this.#still = undefined
    }
    this.#slots = this.#beforeLast.map((slot) => ({ ...slot }))
    this.rows.pop()
    const { transitions } = timeline
    const writes = this.#artifacts.map(({ name }) => timeline.writesOf(name))
    for (let at = this.rows.length; at < transitions.length; at++) {
      const isLast = at === transitions.length - 1
      if (isLast) this.#beforeLast = this.#slots.map((slot) => ({ ...slot }))
      this.#add(writes, transitions[at] as Transition, isLast)
    }
    return true
  }

  #add(writes: readonly (readonly ArtifactSet[])[], transition: Transition, isLast: boolean): void {
    const until = isLast ? Number.POSITIVE_INFINITY : arrivedBy(transition)
    const above = this.rows.at(-1)?.cells
    let moved = above === undefined
    for (let column = 0; column < this.#slots.length; column++) {
      const slot = this.#slots[column] as Slot
      const mode = this.#artifacts[column]?.mode ?? 'replace'
      if (advance(slot, writes[column] ?? [], transition.seq, until, mode)) moved = true
    }
    this.rows.push({
      number: this.rows.length + 1,
      transition,
      cells: moved || !above ? this.#cells(above) : this.#unchanged(above),
    })
  }

  #cells(above: readonly TraceCell[] | undefined): TraceCell[] {
    return this.#slots.map(({ top }, column) => ({
      ...(top && { written: top }),
      changed: !isSame(above?.[column]?.written, top),
    }))
  }

  /** Most rows change nothing: they share their cells. */
  #unchanged(above: readonly TraceCell[]): readonly TraceCell[] {
    if (this.#still?.cells === above) return above
    if (this.#still?.of !== above) {
      this.#still = {
        of: above,
        cells: above.map((cell) => (cell.changed ? { ...cell, changed: false } : cell)),
      }
    }
    return this.#still.cells
  }
}

/**
 * The token before which a value must be written to be there on arriving. A step that was carried over from another run
 * has one token of its own, with what it wrote before it: only what came before its entry counts.
 */
function arrivedBy({ seq, begins, ends, leftAt }: Transition): number {
  if (begins !== undefined && begins === ends) return seq + 1
  return begins ?? leftAt ?? seq + 1
}

/** Reads a slot's writings up to a token. True when the slot is another than before. */
function advance(
  slot: Slot,
  writes: readonly ArtifactSet[],
  seq: number,
  until: number,
  mode: 'replace' | 'append',
): boolean {
  const was = slot.top
  // What a rollback left behind before this row does not count in it; writings are left latest first.
  while (slot.top && isLeft(slot.top.set, seq)) slot.top = slot.top.before
  for (let set = writes[slot.next]; set && set.seq < until; set = writes[slot.next]) {
    slot.next++
    if (isLeft(set, seq)) continue
    const count = mode === 'append' ? (slot.top?.count ?? 0) + 1 : 1
    slot.top = { set, count, ...(slot.top && { before: slot.top }) }
  }
  return slot.top !== was
}

const isLeft = ({ leftAt }: ArtifactSet, seq: number) => leftAt !== undefined && leftAt <= seq

function columnOf(timeline: Traced, name: string): TraceArtifact {
  const first = timeline.writesOf(name)[0]
  return { name, mediaType: first?.mediaType ?? '', mode: first?.mode ?? 'replace' }
}

/** Written anew with the same value is not changed; an entry appended is, even if it repeats the last. */
function isSame(a: Written | undefined, b: Written | undefined): boolean {
  if (!a || !b) return a === b
  return a.set.value === b.set.value && a.count === b.count
}

/** The entries of an `append` slot, oldest first; of a `replace` slot the one value. */
export function entriesOf(written: Written | undefined): ArtifactSet[] {
  const entries: ArtifactSet[] = []
  for (let at = written; at && entries.length < (written?.count ?? 0); at = at.before) entries.push(at.set)
  return entries.reverse()
}

/** What was appended between two rows; empty for a slot that was replaced. */
export function appendedSince(before: Written | undefined, after: Written | undefined): ArtifactSet[] {
  const entries: ArtifactSet[] = []
  for (let at = after; at && at.count > (before?.count ?? 0); at = at.before) entries.push(at.set)
  return entries.reverse()
}
