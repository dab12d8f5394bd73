/*
 * The run at a moment of its past: what screens read of a live run, read of the run as it was then. It holds no run,
 * only the way to one: the fold may be elsewhere when something is asked, and comes back for it.
 */
import type { ArtifactWrite, Run, Visit } from '@/lib/engine/run'
import type { RunFrame } from '../frame'
import { ranOut } from '../ran-out'
import { type LedgerRow, type VisitView, visitView } from '../visit-view'
import { gaugesOf } from './gauges'
import type { Gauge, Seq } from './terms'

/** Where a moment is read from. */
export interface RunSource {
  /** The run after that token; to be read at once. */
  runAt(seq: Seq): Run
  /** Tokens of a node up to that one, in ledger order. */
  rowsOf(node: string, seq: Seq): readonly LedgerRow[]
  /** The frame of that run; what is as it was in the frame made before is the same object. */
  frameLike(run: Run, seq: Seq): RunFrame
}

export class RunAt {
  readonly seq: Seq
  readonly #source: RunSource
  #frame: RunFrame | undefined

  constructor(source: RunSource, seq: Seq) {
    this.#source = source
    this.seq = seq
  }

  get #run(): Run {
    return this.#source.runAt(this.seq)
  }

  /** The run as screens draw it. The same object each time. */
  get frame(): RunFrame {
    this.#frame ??= this.#source.frameLike(this.#run, this.seq)
    return this.#frame
  }

  /** When its last token came, ms since the epoch; 0 before the first. */
  get at(): number {
    return this.#run.lastAt
  }

  visit(node: string, which?: number): VisitView | undefined {
    return visitView(this.#run, this.#source.rowsOf(node, this.seq), node, which)
  }

  /** What each artifact was: of a `replace` slot its last writing, of an `append` slot all of them. */
  get artifacts(): ReadonlyMap<string, readonly ArtifactWrite[]> {
    return new Map([...this.#run.artifacts].map(([name, writes]) => [name, writes.slice()]))
  }

  /** The workflow's limits and what was used of them. */
  get gauges(): Gauge[] {
    const run = this.#run
    return gaugesOf(run, run.lastAt)
  }

  /** Where a walk was: the node it had entered last, and which visit that was. */
  get place(): { node: string; visit: number } | undefined {
    const visit = this.#run.walk?.path.at(-1)?.visit
    return visit && { node: visit.node, visit: visit.visit }
  }

  /** The steps of the walk until then, in the order they were made; empty where nothing walks. */
  get walked(): Pick<Visit, 'node' | 'visit' | 'state' | 'carriedFrom'>[] {
    return (this.#run.walk?.path ?? []).map(({ visit: { node, visit, state, carriedFrom } }) => ({
      node,
      visit,
      state,
      ...(carriedFrom !== undefined && { carriedFrom }),
    }))
  }

  /** What could be done to the run then: `running`, `paused`, `ended`, … */
  get status(): Run['state']['status'] {
    return this.#run.state.status
  }

  get ranOut(): string | undefined {
    return ranOut(this.#run)
  }
}
