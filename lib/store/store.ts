import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { CheckpointStore } from '@/lib/engine/checkpoint-ports'
import type { CircuitStore } from '@/lib/engine/circuit-ports'
import type { TerminalStatus } from '@/lib/engine/facts'
import type {
  ApprovalProjection,
  LeaseStore,
  LedgerStore,
  RunHeader,
  RunProjection,
  WorkflowRecord,
  WorkflowStore,
} from '@/lib/engine/ports'
import type { SignalStore } from '@/lib/engine/signal-ports'
import type { RateStore } from './rate-store'

/** One page of a list. `next` is the cursor of the next page; absent on the last one. */
export interface Slice<T> {
  items: T[]
  next?: string
}

export interface PageAsk {
  /** `next` of the page before. Throws Problem `cursor_invalid` when it is not one of this list's. */
  cursor?: string
  /** From 1 to 500. */
  limit: number
}

/** A run as lists show it. */
export interface RunRecord extends RunHeader, RunProjection {
  /** Tokens in its ledger. */
  seq: number
  lease?: { owner: string; epoch: number; until: number }
}

/** What is left out does not narrow. Times are milliseconds since the epoch. */
export interface RunFilter {
  status?: RunProjection['status'][]
  terminal?: TerminalStatus[]
  /** Ended because somebody cancelled it, or at a limit of its workflow. `none`: all others. */
  stopped?: NonNullable<RunProjection['stopped']> | 'none'
  /** Exact workflow name. */
  workflow?: string
  version?: Hash
  startedBy?: string
  /** Runs that steps of that run began; `none`: runs that no step began. */
  parent?: RunId | 'none'
  /** Of those, the ones that this visit of a step began. */
  parentStep?: { node: string; visit: number }
  /** Runs that steps of any of these began. */
  parents?: RunId[]
  /** Runs that were forked from any of these. */
  forksOf?: RunId[]
  /** True: it asks somebody something now. */
  asking?: boolean
  /**
   * Part of the workflow's name, the run's id or the one who started it. ASCII letters match in either case; `_` stands
   * for any character and `%` for any number of them (Prisma's `contains` is SQL's LIKE and escapes neither).
   */
  text?: string
  /** Started at or after. */
  since?: number
  /** Started before. */
  until?: number
  /** True: under way with failed nodes, or ended failed, partly done or escalated. What was taken back or cancelled is dealt with. */
  failing?: boolean
}

export interface RunCounts {
  byStatus: Record<RunProjection['status'], number>
  /** As the filter `failing` has it. */
  failing: number
  /** Ended since `endedSince`. */
  endedSince: number
}

/** So many runs that one visit of a step began stand like this. */
export type ChildCount = { node: string; visit: number; n: number } & Pick<
  RunProjection,
  'status' | 'terminal' | 'stopped'
>

/** A count of zero for every status. */
export function noRuns(): RunCounts['byStatus'] {
  return { running: 0, waiting: 0, paused: 0, cancelling: 0, rolling_back: 0, rolled_back: 0, ended: 0 }
}

export interface RunQueries {
  get(runId: RunId): Promise<RunRecord | undefined>
  /** Newest first. */
  list(filter: RunFilter, page: PageAsk): Promise<Slice<RunRecord>>
  count(filter: RunFilter): Promise<number>
  /** How the runs stand that each visit of the run's steps began. */
  childCounts(runId: RunId): Promise<ChildCount[]>
  /** For the overview; runs that a step of another began are not counted. `endedSince` in milliseconds since the epoch. */
  counts(endedSince: number): Promise<RunCounts>
}

/** An approval as lists show it. */
export interface ApprovalRecord extends ApprovalProjection {
  runId: RunId
  workflowName: string
  runStartedBy: string
}

export interface ApprovalFilter {
  /** Any of these roles. */
  roles?: string[]
  runId?: RunId
}

export interface ApprovalQueries {
  get(id: string): Promise<ApprovalRecord | undefined>
  /** Most urgent first: the nearest deadline, then the longest wait. */
  open(filter: ApprovalFilter, page: PageAsk): Promise<Slice<ApprovalRecord>>
  /** Decided or void, the last one asked first. */
  closed(filter: ApprovalFilter, page: PageAsk): Promise<Slice<ApprovalRecord>>
  /** All of one run, in the order they were asked. */
  ofRun(runId: RunId): Promise<ApprovalRecord[]>
  /** Open approvals by role. */
  openByRole(): Promise<{ role: string; open: number }[]>
}

/** A workflow version without its text, and how many versions its name has. */
export type WorkflowSummary = Omit<WorkflowRecord, 'source'> & { versions: number }

export interface WorkflowQueries extends WorkflowStore {
  /** Newest version of each name, by name, without the texts. */
  summaries(): Promise<WorkflowSummary[]>
}

/** Ledger rows became durable. Positions rise within an event and from event to event; none is left out or told twice. */
export interface AppendEvent {
  runId: RunId
  positions: number[]
}

export interface Store {
  readonly ledger: LedgerStore
  readonly leases: LeaseStore
  readonly workflows: WorkflowQueries
  readonly runs: RunQueries
  readonly approvals: ApprovalQueries
  readonly circuits: CircuitStore
  readonly rates: RateStore
  readonly signals: SignalStore
  readonly checkpoints: CheckpointStore
  /**
   * Tells of every append from now on, by this process at once and by others within a quarter of a second. Returns the
   * function that stops it. A listener must not throw and not take long: commits wait for it.
   */
  onAppend(listener: (event: AppendEvent) => void): () => void
  /** Forgets answers older than a week, token ids that can no longer be replayed, and states left before any checkpoint; returns how many rows went. */
  forget(now: number): Promise<number>
  /** Lets commits under way finish, then closes. Nothing may be asked of the store afterwards. */
  close(): Promise<void>
}

/** How long an answer to a write is remembered: longer than any client goes on retrying. */
export const answerKeptMs = 7 * 24 * 3_600_000
/** A value in the store is at most this long. */
export const maxValueBytes = 64 * 1024 * 1024
/** Rows of one commit. The engine's largest decision is a fork of a long walk: 30,000 steps and artifacts, and what goes before. */
export const maxRowsPerCommit = 31_000
