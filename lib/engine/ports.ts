/*
 * What the engine asks of the world. lib/store implements these over Prisma and in memory; the simulation implements
 * them with crashes.
 *
 * A commit is the only way a run changes. It is one transaction: tokens, the values and sealed checkpoints they speak
 * of, and the rows that lists are made of (projections, which can be dropped and rebuilt). It is durable when `commit`
 * resolves, and did nothing at all when it throws.
 */
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { ApprovalKind } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { ReportedCircuit } from './circuit-ports'
import type { TerminalStatus } from './facts'
import type { NewSignal } from './signal-ports'

/** A ledger row. `hash` = SHA-256 of `prevHash + "." + token`; the first row's `prevHash` is the hash of the `wid`. */
export interface LedgerRow {
  runId: RunId
  /** From 1, without gaps: the fence. */
  seq: number
  jti: string
  /** Compact JWS. */
  token: string
  prevHash: Hash
  hash: Hash
}

/** A row as read back, with its place in the installation-wide order (what live streams resume from). */
export interface StoredRow extends LedgerRow {
  position: number
}

/** A signed head: a JWS over `{wid, seq, hash}`, at the run's end and every 1,000 tokens. */
export interface SignedHead {
  seq: number
  jws: string
}

export interface StoredValue {
  hash: Hash
  mediaType: string
  bytes: Uint8Array
}

/** A checkpoint's sealed state (lib/checkpoint). Nothing here is readable without the installation's key. */
export interface SealedCheckpoint {
  jti: string
  runId: RunId
  node: string
  visit: number
  keyId: string
  sealed: Uint8Array
  /** Milliseconds since the epoch; purged after it. */
  expiresAt: number
}

/** One row of the run list; a fold of the run's ledger. `startedAt` is taken from the first commit only. */
export interface RunProjection {
  status: 'running' | 'waiting' | 'paused' | 'cancelling' | 'rolling_back' | 'rolled_back' | 'ended'
  terminal?: TerminalStatus
  /**
   * Somebody, or a limit of the workflow (budget-exhausted), stopped it: an ended run that is so did not fail, whatever its
   * terminal status (ATD knows no other). `flagged`: it succeeded, and a person found afterwards that a step of it is wrong.
   */
  stopped?: 'cancelled' | 'exhausted' | 'flagged'
  startedAt: number
  endedAt?: number
  updatedAt: number
  nodeCount: number
  doneCount: number
  failedCount: number
  escalatedCount: number
  openApprovals: number
  /** When a worker should look again, ms since the epoch; null when only a command can move the run. */
  dueAt: number | null
  /** Circuits that steps of it wait behind; absent: none. */
  waitsOn?: string[]
}

/** One row of the inbox; a fold of the run's ledger. */
export interface ApprovalProjection {
  id: string
  node: string
  visit: number
  kind: ApprovalKind
  role: string
  sentence: string
  consequence: Consequence
  action: Hash
  askedAt: number
  deadlineAt: number | null
  state: 'open' | 'decided' | 'void'
  verdict?: string
  by?: string
  decidedAt?: number
}

export interface RunHeader {
  runId: RunId
  wid: string
  /** Content hash of the pinned workflow version. */
  version: Hash
  workflowName: string
  startedBy: string
  /** The step of another run that began this one. */
  parent?: ParentPlace
  /** The run it was forked from. */
  forkOf?: RunId
  /** The worker that alone may lease it; once `until` has passed, any may. As it stood when the header was read. */
  keptFor?: Keeper
}

export interface Keeper {
  /** As workers name themselves in leases. */
  owner: string
  /** Milliseconds since the epoch. */
  until: number
}

export interface ParentPlace {
  runId: RunId
  node: string
  visit: number
  /** Which of that step's child runs it is, from 0. */
  index: number
}

/** A state that a step brought its target to, for whoever asks who changed a target since. */
export interface LeftState {
  /** An agent by its SPIFFE id, or `here`. */
  holder: string
  /** As the target itself hashes it. */
  state: Hash
  runId: RunId
  node: string
  visit: number
  /** The step's name for people. */
  label: string
  /** Milliseconds since the epoch. */
  at: number
  /** Left by taking the step back. */
  undid: boolean
}

export interface LeaseRef {
  runId: RunId
  owner: string
  epoch: number
}

/** A remembered answer to a write: the same key gets the same answer; the same key with another request is refused. */
export interface IdempotentAnswer {
  scope: string
  key: string
  requestHash: Hash
  status: number
  body: string
}

export interface Commit {
  runId: RunId
  /** Present on the first commit of a run. */
  create?: RunHeader
  /** Tokens the run had when this was decided; another number in the store is refused with `sequence_taken`. */
  expectedSeq: number
  rows: LedgerRow[]
  heads: SignedHead[]
  values: StoredValue[]
  checkpoints: SealedCheckpoint[]
  projection: RunProjection
  approvals: ApprovalProjection[]
  /**
   * A worker names its lease; when it is gone the commit is refused with `lease_lost`. Commands of people have none. What a
   * step does to a child run, beginning with its first commit, names the lease on the run of that step.
   */
  lease?: LeaseRef
  answer?: IdempotentAnswer
  /** Who is told of the errors in it. */
  signals?: NewSignal[]
  /** Breakers of agents that tokens in it tell of. */
  reportedCircuits?: ReportedCircuit[]
  /** What steps left at their targets, as tokens in it say. */
  leftStates?: LeftState[]
}

export interface LedgerStore {
  /**
   * Throws Problem `sequence_taken`, `lease_lost`, `not_found` (no such run), `ect_duplicate_jti`, `too_large`,
   * `idempotency_key_reused`, `store_full`, `store_read_only`, `store_busy`. A commit whose key has an answer is refused
   * before the fence is looked at; with `data.sameRequest` true, `answer` has what to say.
   */
  commit(commit: Commit): Promise<void>
  header(runId: RunId): Promise<RunHeader | undefined>
  /** Rows with `seq > after`, in order. */
  rows(runId: RunId, after: number, limit: number): Promise<StoredRow[]>
  /** The row of one token; undefined when the run has none of that id. */
  row(runId: RunId, jti: string): Promise<StoredRow | undefined>
  heads(runId: RunId): Promise<SignedHead[]>
  /** Rows of all runs (or one) with `position > after`, in order: what live streams send. */
  since(after: number, limit: number, runId?: RunId): Promise<StoredRow[]>
  lastPosition(): Promise<number>
  /**
   * A number that is another one when somebody may have written past this store: a process, or a connection of its
   * own. It answers in two microseconds, so that whoever writes through this store alone need not read to know that
   * nothing is new. Absent: nobody can tell.
   */
  othersWrote?(): number
  value(hash: Hash): Promise<StoredValue | undefined>
  putValue(value: StoredValue): Promise<void>
  checkpoint(jti: string): Promise<SealedCheckpoint | undefined>
  /**
   * Who last brought a target to a state, not before `since` (ms) and none of these runs; undefined when no run here says
   * so. What is older than any checkpoint can be is forgotten.
   */
  leftBy(
    target: Pick<LeftState, 'holder' | 'state'>,
    since: number,
    except: readonly RunId[],
  ): Promise<(LeftState & { workflowName: string }) | undefined>
  answer(scope: string, key: string): Promise<IdempotentAnswer | undefined>
  /** True the first time a token id from outside is seen; false ever after (NOTES 1, replay). */
  rememberJti(jti: string, expiresAt: number): Promise<boolean>
}

export interface LeaseStore {
  /**
   * Leases runs whose `dueAt` has come and which nobody holds, oldest first. Each lease has a new epoch. A run that is
   * kept for another owner is passed over until that owner has been silent for too long; then it is kept no more.
   */
  claimDue(owner: string, limit: number, now: number, leaseMs: number): Promise<LeaseRef[]>
  /** Leases one run if nobody holds it and it is kept for nobody else. */
  claim(owner: string, runId: RunId, now: number, leaseMs: number): Promise<LeaseRef | undefined>
  /** Prolongs; returns those still held. */
  heartbeat(leases: LeaseRef[], now: number, leaseMs: number): Promise<LeaseRef[]>
  release(lease: LeaseRef): Promise<void>
  /** Keeps a run, and all that its steps began, for one owner: those that are not kept for another now. */
  keep(owner: string, runId: RunId, now: number, keepMs: number): Promise<void>
  /** Keeps all that is kept for this owner until then, whether it holds a lease on it or not. */
  keepOn(owner: string, until: number): Promise<void>
  /** Keeps nothing for this owner any more; its leases stand. */
  keepNothing(owner: string): Promise<void>
  /** Lets go of whatever this owner holds or has kept: it is known to be dead, so nobody has to wait for its time to run out. */
  releaseAllOf(owner: string): Promise<void>
  /**
   * When `claimDue` of this owner may next find something: a free run's `dueAt`, or the end of a lease, or of the time
   * it is kept for another, when whoever has it went silent.
   */
  nextDue(owner: string, now: number): Promise<number | undefined>
}

/**
 * The media type of a version that nobody wrote: a graph that a step runs, made from a workflow (a child under its
 * caller's policy, an agent loop). It is kept like any other, and stands in no list.
 */
export const derivedMediaType = 'application/vnd.holdpoint.graph+json'

export interface WorkflowRecord {
  /** Content hash of the graph. */
  version: Hash
  name: string
  description: string
  format: string
  /** The text as it was imported, byte for byte. */
  source: string
  mediaType: string
  importedAt: number
  importedBy: string
  nodeCount: number
}

export interface WorkflowStore {
  /** Stores a version; storing the same hash again changes nothing and says so with `false`. */
  put(record: WorkflowRecord): Promise<boolean>
  get(version: Hash): Promise<WorkflowRecord | undefined>
  /** Newest version of each name. */
  latest(): Promise<WorkflowRecord[]>
  versions(name: string): Promise<WorkflowRecord[]>
}
