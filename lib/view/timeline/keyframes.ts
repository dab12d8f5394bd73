/*
 * Keyframes: the run as it was at some of its tokens, so that any moment is a copy and a short fold away. They lie
 * evenly; when there are too many, every second one is dropped and the distance doubles. So their number is bounded,
 * and the fold to any moment costs at most one distance.
 *
 *   tokens      0 ─── 512 ── 1024 ── 1536 ── 2048 ── …            32 at most
 *   later       0 ────────── 1024 ────────── 2048 ────────── …
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
/** 32 of a run with 2,000 nodes and 50,000 transitions are about 40 MB. */
const mostKeyframes = 64

export class Keyframes {
  readonly #index: GraphIndex
  readonly #facts: readonly (Fact | undefined)[]
  #kept: Keyframe[] = []
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
    if (seq - (this.#kept.at(-1)?.seq ?? 0) < this.#distance) return
    this.#kept.push({ seq, run: shareRun(run) })
    if (this.#kept.length <= mostKeyframes) return
    this.#distance *= 2
    this.#kept = this.#kept.filter((_, at) => at % 2 === 1)
  }

  /** The run after that token, to be read at once: the next call may fold it on. */
  at(seq: Seq): Run {
    const keyframe = this.#kept[lastWhere(this.#kept, (one) => one.seq <= seq)]
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

  get count(): number {
    return this.#kept.length
  }
}
