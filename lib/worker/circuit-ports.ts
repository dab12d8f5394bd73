/*
 * What breakers (circuits.ts) ask of their surroundings, and what those who call tell them: a store, a signer, a clock,
 * somebody to ask people; who calls, and what an answer says of the downstream. Types, and one way to tell of a fault.
 */
import type { Mint, RunId } from '@/lib/base/ids'
import type { Spike } from '@/lib/breaker/latency'
import type { Caller, CircuitChange, Downstream } from '@/lib/breaker/terms'
import type { Vocabulary } from '@/lib/ect/vocabulary'
import type { AskedInRun, CircuitName, CircuitStore } from '@/lib/engine/circuit-ports'
import type { ApprovalProjection } from '@/lib/engine/ports'
import type { WorkerLog } from './ports'
import type { Signer } from './run-book'
import type { Timer } from './timer'

export interface CircuitPorts {
  store: CircuitStore
  /** As LedgerStore has it; absent: nobody else writes. */
  othersWrote?: () => number
  signer: Signer
  timer: Timer
  mint: Mint
  log: WorkerLog
  /** The question that a hold waits for. */
  approval?(id: string): Promise<HeldQuestion | undefined>
  /** Asks people about a downstream whose probes are held now; gives the question, or nothing where nobody can be asked. */
  onShared?(shared: SharedFailure): Promise<AskedInRun | undefined>
  /** Calls may go again, or one may: whoever waits behind the circuit asks at once. */
  onFree?(circuit: CircuitName, by: string): Promise<void>
  /** Answers became far slower than usual. */
  onSlow?(slow: Spike & { caller: Caller; downstream: Downstream; at: number }): void
}

/** What has become of a question, and what it was, in people's words. */
export type HeldQuestion = Pick<ApprovalProjection, 'state' | 'verdict' | 'by'> & { sentence?: string }

/** A downstream that keeps failing, to be asked about. */
export interface SharedFailure {
  downstream: Downstream
  /** The run whose call was the last straw, and its step; without a step, it is asked where one waits. */
  runId: RunId
  node?: string
  visit: number
  /**
   * `several`: circuits that opened within a minute; `again`: one that opened again after so many probes; `probe`: one that
   * was let go; `unanswered`: the question closed without an answer, or never came about.
   */
  because: 'several' | 'again' | 'probe' | 'unanswered'
  callers: string[]
  reopened: number
  /** In people's words. */
  sentence: string
  /** Nobody calls any more: where no run waits, the one whose call it was is asked in although it has ended. */
  afterEnd?: true
}

/** A step of a run, at one of its visits. */
export interface StepOfRun {
  runId: RunId
  node: string
  visit: number
}

/** Who makes a call. */
export interface CallingStep {
  runId?: RunId
  node?: string
  visit?: number
  /** A person, who has a probe go while no run calls. */
  by?: string
  /** Of a probe that a person has go: the step whose call opened the breaker, where people are asked if it fails. */
  opener?: StepOfRun
  /** How the circuit's tokens are spelled. */
  vocabulary?: Vocabulary
  /** Fired: we gave the work up, and how it ends says nothing of the downstream. */
  lost?: AbortSignal
  /** The call changed the circuit. */
  changed?(change: CircuitChange): void
}

/** What an answer says of the downstream. */
export interface Judge<T> {
  /** The downstream is unwell although it answered (status 5xx). */
  failed?(answer: T): boolean
  /** The answer is proved to be the downstream's own; asked of probes alone. */
  verified?(answer: T): boolean | Promise<boolean>
}

/** Says in the log what could not be done now and is tried again; never with what was in it. */
export function logFault({ log }: Pick<CircuitPorts, 'log'>, error: unknown, what: string): void {
  const fault = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
  log.error({ fault }, `Could not ${what}; trying again`)
}
