/*
 * Keyframes: the run as it was at some of its tokens, so that any moment is a copy and a short fold away. They lie
 * evenly; when there are too many, every second one is dropped and the distance doubles. So their number is bounded,
 * and the fold to any moment costs at most one distance.
 *
 *   tokens      0 ─── 512 ── 1024 ── 1536 ── 2048 ── …            64 at most
 *   later       0 ────────── 1024 ────────── 2048 ────────── …
 *
 * One more is kept after each rollback from which the run went on, 16 at most by the same rule: folding a rollback of
 * thousands of steps costs more than thousands of steps.
 *
 * Going on from where one stands costs the tokens in between and no copy: playing a film folds each token once.
 */
import { evolveShared, shareRun } from '@/lib/engine/copy-run'
import { newRun } from '@/lib/engine/evolve'
import type { Fact } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { lastWhere } from './bounds'
import type { Seq } from './terms'

interface Keyframe {
  seq: Seq
  run: Run
}

/** At first; and never closer than the run has nodes, because a copy costs as much as they do. */
const leastDistance = 512
/** 64 of a run with 2,000 nodes and 50,000 transitions are about 60 MB. */
const mostKeyframes = 64
const mostAfterRollbacks = 16

export class Keyframes {
  readonly #index: GraphIndex
  readonly #facts: readonly (Fact | undefined)[]
  #kept: Keyframe[] = []
  #afterRollbacks: Keyframe[] = []
  #distance: number
  /** Where one stands: a copy that is folded on. */
  #cursor: Keyframe | undefined

  /** `facts` is the run's, one for each token, and grows with it; a token of an unknown kind has none. */
  constructor(index: GraphIndex, facts: readonly (Fact | undefined)[]) {
    this.#index = index
    this.#facts = facts
    this.#distance = Math.max(leastDistance, index.order.length)
  }

  /** Takes a copy of the run as it is after that token, if one is due. */
  passed(seq: Seq, run: Run): void {
    if (this.#facts[seq - 1]?.type === 'rollback_choice') {
      this.#afterRollbacks = thinned(
        [...this.#afterRollbacks, { seq, run: shareRun(run) }],
        mostAfterRollbacks,
      )
      return
    }
    if (seq - (this.#kept.at(-1)?.seq ?? 0) < this.#distance) return
    this.#kept.push({ seq, run: shareRun(run) })
    if (this.#kept.length <= mostKeyframes) return
    this.#distance *= 2
    this.#kept = thinned(this.#kept, mostKeyframes)
  }

  /** The run after that token, to be read at once: the next call may fold it on. */
  at(seq: Seq): Run {
    const keyframe = this.#before(seq)
    const cursor = this.#cursor
    const goesOn = cursor !== undefined && cursor.seq <= seq && cursor.seq >= (keyframe?.seq ?? 0)
    const from = goesOn
      ? cursor
      : { seq: keyframe?.seq ?? 0, run: keyframe ? shareRun(keyframe.run) : newRun(this.#index) }
    for (; from.seq < seq; from.seq++) {
      const fact = this.#facts[from.seq]
      if (fact) evolveShared(from.run, fact)
    }
    this.#cursor = from
    return from.run
  }

  /** The last keyframe that is not after that token. */
  #before(seq: Seq): Keyframe | undefined {
    const even = this.#kept[lastWhere(this.#kept, (one) => one.seq <= seq)]
    const after = this.#afterRollbacks[lastWhere(this.#afterRollbacks, (one) => one.seq <= seq)]
    return (after?.seq ?? 0) > (even?.seq ?? 0) ? after : even
  }
}

/** Every second one, once there are too many. */
function thinned(keyframes: Keyframe[], most: number): Keyframe[] {
  return keyframes.length <= most ? keyframes : keyframes.filter((_, at) => at % 2 === 1)
}
