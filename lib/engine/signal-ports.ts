/*
 * Signals: what agents of the action chain are told of an error (AERR section 5). A signal is written with the error it
 * tells of, in one commit, and goes out from there until its agent has answered: a crash loses none and makes no second.
 */
import type { RunId } from '@/lib/base/ids'

/** A signal as its commit writes it. */
export interface NewSignal {
  /** The error token and the agent: the same signal is sent under the same id. */
  id: string
  errorJti: string
  /** SPIFFE id of who is told. */
  agent: string
  /** What is sent, as JSON text. Never anything that a checkpoint holds. */
  body: string
  /** Milliseconds since the epoch. */
  createdAt: number
}

export interface SignalRecord extends NewSignal {
  runId: RunId
  /** Times it was sent. */
  attempts: number
  /** When it is sent (again); null: told, or given up. */
  nextAt: number | null
  state: 'waiting' | 'told' | 'given_up'
  /** What the agent answered last, one sentence. */
  answer: string
}

export interface SignalStore {
  /**
   * Takes signals whose time has come, the longest waiting first, for one try each. A try counts when it is taken, and
   * is due again at `again` unless its end is told before: a crash in between costs one try.
   */
  take(now: number, limit: number, again: number): Promise<SignalRecord[]>
  /** What came of a try. */
  tell(id: string, end: Pick<SignalRecord, 'state' | 'nextAt' | 'answer'>): Promise<void>
  /** All of a run, oldest first. */
  ofRun(runId: RunId): Promise<SignalRecord[]>
  /** When the next one is due; undefined when none waits. */
  nextDue(): Promise<number | undefined>
}
