/*
 * What keeps breakers (lib/worker/circuits.ts) asks of the store: one row for each circuit, its chain of signed tokens,
 * calls by the second, and who waits. Shared by every process on one store: `revision` is the fence of one circuit, and
 * `mark` rises with every change of any, so that whoever keeps circuits in memory asks for what is newer.
 */
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { CallCounts, CircuitState } from '@/lib/breaker/terms'

export interface CircuitName {
  /** Hash of caller and downstream. */
  id: string
  /** UUID that its tokens carry as `wid`. */
  wid: string
  caller: string
  downstream: string
}

export interface CircuitRecord extends CircuitName {
  state: CircuitState
  /** Tokens in its chain. */
  revision: number
  /** Of its last token; the hash of its `wid` before there is one. */
  lastHash: Hash
  mark: number
  updatedAt: number
}

/** A token of a circuit's chain, hashed as a run's are (lib/ect/chain.ts). */
export interface CircuitToken {
  circuitId: string
  /** From 1, without gaps. */
  seq: number
  jti: string
  token: string
  prevHash: Hash
  hash: Hash
  /** ms since the epoch. */
  at: number
}

export interface CircuitCommit {
  circuit: CircuitName
  /** Tokens it had when this was decided; another number in the store is refused with `sequence_taken`. */
  expectedRevision: number
  state: CircuitState
  tokens: CircuitToken[]
  at: number
  /** A probe has failed: where a person had let probes go, they are held again from this commit on. */
  holdAgain?: { runId: RunId | undefined }
}

export interface CircuitCommitted {
  circuit: CircuitRecord
  /** The hold that came back with it. */
  heldAgain?: CircuitHold
}

/** Calls of one circuit that ended in one second. */
export interface CallSecond {
  circuit: string
  /** Seconds since the epoch. */
  second: number
  calls: number
  failed: number
  /** Refused: never sent. */
  rejected: number
  totalMs: number
  maxMs: number
}

/** Probes of a downstream are held while a person is asked. */
export interface CircuitHold {
  downstream: string
  /** The run that asks, and the approval; empty until it stands. */
  runId: RunId
  approval: string
  heldAt: number
  /** Since then probes go, one at a time, because a person said so; the first that fails brings the hold back. */
  releasedAt?: number
}

/** A question that stands, and the run that asks it. */
export type AskedInRun = Pick<CircuitHold, 'runId' | 'approval'>

/** A breaker that an agent keeps itself, as the latest token that it reported of it says. Nothing is decided by it here. */
export interface ReportedCircuit {
  /** Hash of caller and downstream; none of ours has an agent as its caller. */
  id: string
  /** The agent that said so. */
  caller: string
  downstream: string
  status: 'open' | 'closed'
  errorRate: number
  cooldownS: number
  /** Open: when its agent lets a probe go. */
  until: number
  /** When that was, by its token (ms since the epoch), and when the token joined its run here. */
  at: number
  heardAt: number
  runId: RunId
  jti: string
}

export interface CircuitNews {
  circuits: CircuitRecord[]
  holds: CircuitHold[]
  /** When an agent last told of one of its own; 0: never. */
  reportedAt: number
}

export interface CircuitStore {
  get(id: string): Promise<CircuitRecord | undefined>
  /** The first `limit`, changed last first. */
  list(limit: number): Promise<CircuitRecord[]>
  ofDownstream(downstream: string): Promise<CircuitRecord[]>
  /** Circuits with `mark > after`, and all holds there are now. */
  news(after: number): Promise<CircuitNews>
  /**
   * One transaction, durable when it resolves. Throws Problem `sequence_taken`, and the store's; of a probe, `probe_taken`
   * where another circuit's probe is out to the same downstream (cascade section 4.3: one at a time), and `probe_held` where
   * its probes are held.
   */
  commit(commit: CircuitCommit): Promise<CircuitCommitted>
  /** Makes rows for circuits that nothing has happened to; what is there stays as it is. */
  ensure(circuits: (CircuitName & { state: CircuitState; at: number })[]): Promise<void>
  /** Newest first; `before`: only tokens with a smaller number. */
  tokens(id: string, page: { before?: number; limit: number }): Promise<CircuitToken[]>

  /** Adds to what is counted of those seconds already. */
  addCalls(calls: CallSecond[]): Promise<void>
  /** Calls that ended in `since` (seconds since the epoch) or later: one circuit's, or everybody's. Oldest first. */
  calls(since: number, id?: string): Promise<CallSecond[]>
  /** Their sum, of one circuit; rejected calls are none. */
  callCounts(id: string, since: number): Promise<CallCounts>
  /** Forgets calls before that second, and circuits that never changed and have no call left; returns how many rows went. */
  purgeCalls(before: number): Promise<number>

  /** Holds the probes of a downstream, also where they were let go; false when they were held already. */
  hold(hold: CircuitHold): Promise<boolean>
  /** Says which question the hold waits for, which had none; false when the hold is not as it was any more. */
  nameHold(hold: CircuitHold, asked: AskedInRun): Promise<boolean>
  /** Whoever is told true asks anew, as of `at`, what nobody answered; false when the hold is not as it was any more. */
  askHoldAnew(hold: CircuitHold, at: number): Promise<boolean>
  /** Lets the probes go that wait for that question, at `at`; false when they do not any more. */
  letProbesGo(downstream: string, approval: string, at: number): Promise<boolean>
  /** Ends the hold; false when it is not as it was any more. */
  unhold(hold: CircuitHold): Promise<boolean>

  /** What agents told of their own since then (`heardAt`), the latest first. */
  reported(since: number, limit: number): Promise<ReportedCircuit[]>
  reportedOne(id: string): Promise<ReportedCircuit | undefined>

  /** Runs that wait behind the circuit, by id, at most `limit`. */
  waiting(circuit: string, limit: number): Promise<RunId[]>
  /** Of every circuit that somebody waits behind, how many. */
  waitingCounts(): Promise<{ circuit: string; runs: number }[]>
}
