/*
 * The words of the timeline: what a film strip of a run is made of. All of it is derived from the ledger and plain
 * enough to be drawn; nothing here knows of pixels but the drawn things at the end.
 *
 *   lane    one line of the strip: a node's, or an agent's
 *   track   a line within a lane: bars of one track never overlap
 *   bar     one phase of one visit: it ran, it waited for somebody, it was tried in vain
 *   mark    one token that one jumps to: an error, what a person did, an artifact's change, …
 *   scale   time to place and back, with idle time collapsed; places run from 0 (the first token) to 1
 *   view    the part of the scale that is on screen
 *
 * Times are ms since the epoch and never run backwards along the ledger: where a clock did, the earlier time holds on.
 */
import type { Actor } from '@/lib/engine/facts'
import type { ArtifactWrite } from '@/lib/engine/run'
import type { ShownState } from '../shown-state'

/** Sequence number of a token in its run's ledger: from 1, without gaps. 0 is before the first. */
export type Seq = number

export type LaneBy = 'node' | 'agent'

/** One phase of one visit of a node. */
export interface Bar {
  node: string
  visit: number
  /** 0 before the first attempt. */
  attempt: number
  /** The node's label. */
  label: string
  /** How it stands, or how it ended: "done", "waiting for a person", "attempt 2 failed". */
  words: string
  /** How the phase ended; while it lasts, how it is. What was taken back later shows as `rolled_back`: see `shownAt`. */
  shown: ShownState
  /** Whom or what the phase waits for; absent while the step itself is at work. */
  waitsFor?: 'person' | 'agent' | 'breaker' | 'retry'
  /** SPIFFE id of the agent that does it, when it is not this installation. */
  agent?: string
  /** The token that began the phase, and the one that ended it; absent while it lasts. */
  from: Seq
  to?: Seq
  fromAt: number
  toAt?: number
  /** The token that took it back (a rollback), and what it showed before. */
  takenBack?: { seq: Seq; from: ShownState }
  /** The attempt failed and another one followed. */
  retried?: true
  /** It is the undoing of the visit, not the visit itself. */
  undo?: true
  /** Taken as done from the run this one was forked from. */
  carried?: true
}

export interface Lane {
  /** Node id, or SPIFFE id of the agent; empty for this installation. */
  id: string
  by: LaneBy
  label: string
  /** Bars of each track in the order of the ledger. Bars of one track do not overlap. */
  tracks: readonly (readonly Bar[])[]
}

export type MarkKind = 'error' | 'person' | 'artifact' | 'rollback' | 'breaker' | 'fork' | 'transition'

/** A token that is worth a jump. One token may have marks of several kinds. */
export interface Mark {
  seq: Seq
  at: number
  kind: MarkKind
  /** "step failed", "approved", "report changed", "→ review". */
  words: string
  node?: string
  visit?: number
  /** Of an artifact: which. */
  artifact?: string
  /** Of an error: an attempt failed and another one follows. */
  passing?: true
}

/** Who made a run go on from one node to the next. */
export type FiredBy =
  /** The run's first node: whoever began the run. */
  | { by: 'start'; who: Actor }
  | { by: 'model' }
  /** A person, or a program over the API: `person:ada`. */
  | { by: 'person'; who: Actor }
  | { by: 'agent'; who: Actor }
  /** The node was at its limit and `on_max_visits` says where to go instead: see `insteadOf`. */
  | { by: 'limit' }
  /** A rollback put the run back to here. */
  | { by: 'rollback'; who: Actor }
  /** The workflow's own rule: what was done leads here. */
  | { by: 'engine' }

/** One entry of a node on a walk; in a topological run, one start of a step. */
export interface Transition {
  /** From 0, in the order of the ledger. */
  index: number
  /** The token with which the run arrived. */
  seq: Seq
  at: number
  /** Where it came from; absent for an entry of the run. */
  from?: { node: string; visit: number }
  /** The label or event that led here. */
  event?: string
  node: string
  visit: number
  /** The most visits the node may have (`max_visits`). */
  bound?: number
  firedBy: FiredBy
  /** Nodes at their limit that it was redirected from, first the one that was meant. */
  insteadOf?: string[]
  /** The first token of the visit itself: it began, was offered, or was asked about. Absent while it did not. */
  begins?: Seq
  /** The token that ended the visit: done or failed. */
  ends?: Seq
  /** The token (a rollback's choice) by which the run went back to before it. */
  leftAt?: Seq
}

/** One writing of an artifact, with its place in the ledger. */
export interface ArtifactSet extends ArtifactWrite {
  seq: Seq
  /** The token by which the run went back to before it: from there on it does not count. */
  leftAt?: Seq
}

/** A stretch in which nothing happened, drawn short. */
export interface Break {
  fromAt: number
  toAt: number
  /** Where it is drawn. */
  fromPlace: number
  toPlace: number
  /** The last token before it; absent for the time after the last token. */
  after: Seq
}

/** Time to place (0 to 1) and back. */
export interface Scale {
  fromAt: number
  toAt: number
  breaks: readonly Break[]
  /** Gaps longer than this are breaks; ms. Infinity where there are none. */
  idleMs: number
  /** Ms that are not in breaks. */
  activeMs: number
  placeOf(at: number): number
  timeAt(place: number): number
}

/** What part of the scale is on screen, and how wide. Whole: `{from: 0, to: 1}`. */
export interface View {
  from: number
  to: number
  widthPx: number
}

/** Bars as they are drawn: one, or several that are too narrow to be told apart. */
export interface DrawnBar {
  /** Pixels from the left edge of the view; never outside it. */
  x: number
  /** At least 1. */
  width: number
  track: number
  /** Of several, the one that matters most: failed, escalated, waiting, rolled back, running, done. */
  shown: ShownState
  waitsFor?: Bar['waitsFor']
  /** How many bars it stands for. */
  count: number
  /** The bar; of several, the one that matters most. */
  bar: Bar
  /** First and last token. */
  from: Seq
  to: Seq
  /** It has not ended. */
  open: boolean
}

/** Tokens as they are drawn: several where they would touch. */
export interface DrawnTick {
  x: number
  from: Seq
  to: Seq
}

/** Marks of one kind as they are drawn: several where they would cover one another. */
export interface DrawnMark {
  x: number
  kind: MarkKind
  count: number
  /** The first of them, and the last. */
  mark: Mark
  last: Mark
}

/** A break as it is drawn. */
export interface DrawnBreak {
  x: number
  width: number
  lastedMs: number
}

/** One column of the minimap. */
export interface Bucket {
  fromPlace: number
  toPlace: number
  fromAt: number
  toAt: number
  tokens: number
  transitions: number
  errors: number
  people: number
  artifacts: number
  rollbacks: number
}

/** A limit and how much of it is used: "visit 3 of 10". */
export interface Gauge {
  of: 'visits' | 'total_visits' | 'tool_calls' | 'model_tokens' | 'active_time' | 'run_time' | 'written_bytes'
  /** Of `visits`: which node. */
  node?: string
  used: number
  /** Absent where nothing bounds it. Of times: ms. */
  bound?: number
  unit: 'visits' | 'calls' | 'tokens' | 'ms' | 'bytes'
  /** "visit 3 of 10", "12 of 30 visits", "4 of 20 tool calls". Times have no words: screens say them. */
  words?: string
  /** It is used up. */
  reached: boolean
}

/** Where a run came from, step by step: from what is seen to what began it. */
export interface CausalChain {
  /** From the symptom to the root, each once. */
  links: CausalLink[]
  /** The token it all began with. */
  root: Seq
  /** Nodes on the way, and the lines between them, by `edgeKey`. */
  nodes: ReadonlySet<string>
  edges: ReadonlySet<string>
  /** Ids of causes that are not in this run's ledger: they lie in another run. */
  elsewhere: string[]
}

export interface CausalLink {
  seq: Seq
  node?: string
  visit?: number
  /**
   * How it is linked to the one before it: named as a cause, or merely what it followed from. `before`: no failure led
   * to the symptom, and this step was done on the way there.
   */
  by: 'symptom' | 'upstream' | 'par' | 'before'
  /** It is an error itself. */
  isError: boolean
  words: string
}
