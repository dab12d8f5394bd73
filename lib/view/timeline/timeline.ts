/*
 * The timeline of a run, made as its tokens come. Each token is folded first; then the timeline looks at the visits
 * that the token can have changed, closes the bars whose phase is over and opens those that began. So it says what the
 * fold says, by the same rules, and a token costs what it changed and never the history before it.
 *
 *   token ─▶ evolve(run) ─▶ add(run, seq, fact, row)
 *                             ├─ lanes: bars of the visits it touched
 *                             ├─ transitions: nodes that were entered, or steps that began
 *                             └─ marks: errors, people, artifacts, rollbacks, forks
 *
 * What a rollback takes back stays where it was and says so (`takenBack`, `leftAt`): the film is never cut.
 */
import type { Fact } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { LedgerRow } from '../visit-view'
import { BarKeeper } from './bars'
import { lastAtMost } from './bounds'
import { MarkKeeper } from './marks'
import type { ArtifactSet, Lane, LaneBy, Mark, MarkKind, Seq, Transition } from './terms'
import { TransitionKeeper } from './transitions'

export class Timeline {
  readonly #times: number[] = []
  readonly #bars: BarKeeper
  readonly #marks = new MarkKeeper()
  readonly #transitions: TransitionKeeper

  constructor(index: GraphIndex) {
    this.#bars = new BarKeeper(index)
    this.#transitions = new TransitionKeeper(index)
  }

  /**
   * Takes the next token: `run` as it is after it, its row, and its fact; none for a token of an unknown kind.
   */
  add(run: Run, row: LedgerRow, fact: Fact | undefined): void {
    const at = Math.max(row.at, this.#times.at(-1) ?? row.at)
    const seq = this.#times.push(at)
    this.#marks.taken(run, seq, at, fact)
    if (!fact) return
    this.#bars.taken(run, seq, at, fact)
    const made = this.#transitions.taken(run, seq, at, fact, row.who)
    if (made) this.#marks.entered(made)
  }

  /** The last token it knows; 0 before the first. */
  get seq(): Seq {
    return this.#times.length
  }

  /** When the first and the last token came; undefined before the first. */
  get fromAt(): number | undefined {
    return this.#times[0]
  }

  get toAt(): number | undefined {
    return this.#times.at(-1)
  }

  /** When each token came, the first at 0; never runs backwards. */
  get times(): readonly number[] {
    return this.#times
  }

  /** When that token came. Of a position beyond the ends, the end. */
  timeOf(seq: Seq): number {
    return this.#times[Math.min(Math.max(seq, 1), this.seq) - 1] ?? 0
  }

  /** The last token that had come by then; 0 where none had. */
  seqAt(at: number): Seq {
    return lastAtMost(this.#times, at) + 1
  }

  /** The token nearest to a moment: where a pointer lets go. Of several at one moment the last. 0 only without tokens. */
  nearest(at: number): Seq {
    const before = this.seqAt(at)
    if (before === 0) return Math.min(1, this.seq)
    const next = this.#times[before]
    if (next === undefined || at - this.timeOf(before) <= next - at) return before
    return this.seqAt(next)
  }

  /** Lanes in the order in which they first had a bar: a lane never moves. */
  lanes(by: LaneBy): readonly Lane[] {
    return by === 'node' ? this.#bars.byNode : this.#bars.byAgent
  }

  /** Entries of nodes on the walk, or starts of steps; oldest first. */
  get transitions(): readonly Transition[] {
    return this.#transitions.all
  }

  /** The transition in force after that token: the last that is not later. */
  transitionAt(seq: Seq): Transition | undefined {
    return this.#transitions.at(seq)
  }

  /** Marks of one kind, oldest first. */
  marks(kind: MarkKind): readonly Mark[] {
    return this.#marks.of(kind)
  }

  /** Marks of changes of one artifact. */
  artifactMarks(artifact: string): readonly Mark[] {
    return this.#marks.ofArtifact(artifact)
  }

  /** Names of the artifacts that were ever written, in the order of their first writing. */
  get artifacts(): readonly string[] {
    return this.#marks.artifacts
  }

  /** Every writing of an artifact, those that a rollback left behind too; oldest first. */
  writesOf(artifact: string): readonly ArtifactSet[] {
    return this.#transitions.writesOf(artifact)
  }
}
