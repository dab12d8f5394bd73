/** What a worker asks of its surroundings. The server, the command line and the simulation each bring their own. */
import type { Mint, RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { CircuitChange } from '@/lib/breaker/terms'
import type { LeaseRef, LeaseStore, LedgerStore, RunHeader, SealedCheckpoint } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import type { SignalStore } from '@/lib/engine/signal-ports'
import type { Reach } from '@/lib/runners/no-reach'
import type { AgentDirectory, Resolver, Runner } from '@/lib/runners/runner'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { ChildWaits } from './child-waits'
import type { Pools } from './pools'
import type { RunBook, Signer } from './run-book'
import type { Timer } from './timer'

/** Which checkpoint a sealed state belongs to; it opens for no other. */
export interface CheckpointPlace {
  jti: string
  runId: RunId
  node: string
  visit: number
}

/** Seals checkpoint state with the installation's key, and opens it again. */
export interface Vault {
  seal(place: CheckpointPlace, state: JsonObject, expiresAt: number): SealedCheckpoint
  /** Throws Problem `checkpoint_tampered` when it does not open. */
  open(sealed: SealedCheckpoint): JsonObject
}

export type KindRunner = Resolver & Partial<Runner>

/** Reaches agents on behalf of one run. */
export type AgentsOfRun = (wid: string) => AgentDirectory

/** The step that reaches out, and the run it belongs to. */
export interface ReachingStep {
  run: Pick<Run, 'graph' | 'start'>
  header: RunHeader
  node: string
  visit: number
  attempt: number
  signal: AbortSignal
  /** When the step is out of time, ms since the epoch. */
  until?: number
  /** The time its requests to others have: less, so that they end before it does. */
  request?: () => { signal: AbortSignal; until: number }
  follows: readonly string[]
  /** Fires when the worker takes nothing more in hand: what only waits is let go at once. */
  draining: AbortSignal
  /** Fires when the worker lost the run: another one may be at it. */
  lost: AbortSignal
  /** The worker's lease on the run: nothing is begun for a step whose run is another's. */
  lease?: LeaseRef
  /** A call of the step changed a circuit: the run records it. */
  noteCircuit?: (change: CircuitChange) => void
}

/** What one attempt of one step may reach beyond files, HTTP and agents. */
export type ReachOf = (step: ReachingStep) => Reach

export interface WorkerLog {
  info(data: object, sentence: string): void
  warn(data: object, sentence: string): void
  error(data: object, sentence: string): void
}

export interface WorkerPorts {
  book: RunBook
  ledger: LedgerStore
  leases: LeaseStore
  /** Whom agents are to be told of errors; absent: nobody is told. */
  signals?: SignalStore
  vault: Vault
  signer: Signer
  timer: Timer
  mint: Mint
  /** Does the ledger hold this token of the run, and does its signature hold? */
  tokenHolds(runId: RunId, jti: string): Promise<boolean>
  /** What performs a kind. Kinds that wait for somebody outside only resolve and describe. */
  runnerOf(kind: string): KindRunner | undefined
  agents: AgentsOfRun
  reach: ReachOf
  /** The graph of a pinned version. Throws Problem `not_found`. */
  graphOf(version: string): Promise<GraphIndex>
  childWaits: ChildWaits
  pools: Pools
  /** The runs that a visit of a step began, in the order they were declared. */
  childrenOf(runId: RunId, node: string, visit: number): Promise<RunId[]>
  installationRoots: readonly string[]
  /** True where a workflow without a policy may also reach private addresses: on the user's own command line. */
  unconfined?: boolean
  /** Where others ask this installation for rollbacks (`/.well-known/atd/rollback`). */
  rollbackUri: string
  /** Tells of appends by anybody; returns how to stop listening. */
  onAppend(listener: (event: { runId: RunId }) => void): () => void
  log: WorkerLog
}
