/*
 * A run, as the fold sees it. Everything here follows from the graph and the facts; nothing is remembered elsewhere.
 *
 *   visit    pending ─▶ running ─▶ done
 *               │        │  ▲ ╲
 *               ▼        ▼  │   ─▶ failed | escalated        rolled_back ◀─ (a rollback, from any of the ends)
 *            waiting ────┘  └─ waiting (retry)
 *
 * A Run belongs to whoever folds it: `evolve` changes it in place, because a run of 100,000 tokens that copied its
 * maps for each of them would cost seconds. Nobody else keeps a reference across an `evolve`.
 */
import type { Hash } from '@/lib/base/hash'
import type { ApprovalId, RollbackId } from '@/lib/base/ids'
import type { CircuitStatus, RefusedBecause } from '@/lib/breaker/terms'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { RollbackOnly, RollbackScope, RollbackStatus, StateChange } from '@/lib/rollback/terms'
import type { GraphEdge, OnError, Silence } from '@/lib/workflow/graph'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { Actor, ErrorType, ExhaustedLimit, FactOf, Severity, TerminalStatus } from './facts'

export type RunStatus =
  | { status: 'new' }
  | { status: 'running' }
  | { status: 'paused'; by: Actor; reason: string; since: number }
  | { status: 'cancelling'; by: Actor; reason: string; exhausted?: ExhaustedLimit }
  | { status: 'rolling_back'; rollback: RollbackId }
  /** A rollback is over and an operator chooses: end the run, or go on. */
  | { status: 'rolled_back'; rollback: RollbackId }
  | {
      status: 'ended'
      /** The `workflow_complete` token; comments and acknowledgements may come after it. */
      jti: string
      terminal: TerminalStatus
      at: number
      elapsedS: number
      reason: string
      /** Present when it ended because somebody asked for that. ATD section 3.2 has no word for it but `failed`. */
      cancelled?: { by: Actor; reason: string }
      /** The engine stopped it at the end of its time. */
      outOfTime?: true
      /** A limit of the workflow ended it. */
      exhausted?: ExhaustedLimit
    }

export interface VisitError {
  jti: string
  severity: Severity
  errorType: ErrorType
  code: string
  description: string
}

export type VisitState =
  | { status: 'pending' }
  | { status: 'waiting'; for: 'person'; approval: ApprovalId; since: number }
  /** Approved, and not begun yet. */
  | { status: 'approved'; approval: ApprovalId; action: Hash; by: Actor }
  | { status: 'waiting'; for: 'agent'; since: number }
  | { status: 'waiting'; for: 'breaker'; since: number; circuit: string; downstream: string; until: number }
  | { status: 'waiting'; for: 'retry'; until: number; error: VisitError }
  | {
      status: 'running'
      attempt: number
      since: number
      agent?: string
      /** A claimed task: when the claim lapses without a heartbeat. */
      claimUntil?: number
      timeoutAt?: number
      /** Since when all it waits for is a person, in a run below it. */
      heldSince?: number
    }
  | { status: 'done'; output: Hash; label?: string; since: number; tookMs: number }
  | { status: 'failed'; error: VisitError; since: number; tookMs: number }
  | { status: 'rolled_back'; rollback: RollbackId; since: number }
  | { status: 'escalated'; error?: VisitError; approval?: ApprovalId; since: number }

export interface CheckpointRef {
  jti: string
  node: string
  visit: number
  at: number
  snapshot: Hash
  reversible: boolean
  rollbackUri: string
  target: string
  description: string
  ttlS: number
  undo: UndoMethod
  /** SPIFFE id of the agent that signed it and holds the state (its own token; absent: this installation's). */
  agent?: string
  /** Of a group: the checkpoints it groups. */
  children?: string[]
  /** Its sealed state was destroyed, since its time had passed. */
  purged?: true
  /** Present once a rollback used it, or gave it up. `begun`: some rollback set out to undo it. */
  undone?: { rollback: RollbackId; status: RollbackStatus; begun: boolean }
}

export interface Visit {
  node: string
  visit: number
  attempt: number
  /** Attempts that a breaker refused in the middle: they did nothing, and use up no retry. */
  refused?: number
  state: VisitState
  /** Digest of the action of the latest attempt or offer. */
  action?: Hash
  /** Digest that people approved, as edited: the one the visit's attempts are held to. */
  approved?: Hash
  /** Nodes whose output it read. */
  reads: string[]
  consequence?: Consequence
  /** Tokens of the visit: the latest of each, by what they are. */
  taskJti?: string
  /** The latest attempt's checkpoint. */
  checkpoint?: string
  /** The latest group of its checkpoints (NOTES 3.4). */
  group?: string
  /** The first attempt's: the state before anything was tried. */
  firstCheckpoint?: string
  /** Checkpoints of an attempt that took more than one, in that order: each is taken back, the latest first. */
  taken?: readonly string[]
  doneJti?: string
  /** What it made of its target's state, and when it was done with that, ms. */
  changed?: StateChange & { at: number }
  /** It was done in the run this one was forked from: its completion there. Nothing of it can be taken back here. */
  carriedFrom?: string
  /** The error that an `error` edge leads on from: what fails behind it may come from it. */
  routedError?: string
  /** What the next token of this visit follows: a decision, an offer, an error; or nothing. */
  lastJti?: string
  /** Stepwise: the token that led the walk here. */
  enteredFrom?: string
  /** The standing offer of a task for outside agents; a lapsed claim falls back to it. */
  offer?: FactOf<'task_offered'>
  startedAt?: number
}

export interface Approval {
  id: ApprovalId
  kind: ApprovalKind
  node: string
  visit: number
  role: string
  reason: string
  sentence: string
  action: Hash
  preview?: Hash
  reads: string[]
  consequence: Consequence
  target: string
  askedAt: number
  askedJti: string
  deadlineAt?: number
  onSilence: Silence
  comments: { by: Actor; at: number; comment: string }[]
  state:
    | { status: 'open' }
    | {
        status: 'decided'
        verdict: Verdict
        by: Actor
        at: number
        comment: string
        edited?: Hash
        /** Preview that the person saw, where it is not the question's own. */
        seen?: Hash
        /** With the verdict `event`: which one. */
        event?: string
        jti: string
      }
    /** The run moved on: a rollback or a cancel closed the question. */
    | { status: 'void'; at: number }
}

export interface Rollback {
  id: RollbackId
  scope: RollbackScope
  only?: RollbackOnly
  /** Whoever asked for it wants targets put back that were changed since, too. */
  overwrite?: true
  /** Of which checkpoints somebody said so when they were asked about them, and who. */
  overwritten?: ReadonlyMap<string, { by: Actor; at: number; reason: string }>
  node: string
  by: Actor
  reason: string
  plan: Hash
  requestJti: string
  askedAt: number
  deadlineAt: number
  /** The end the run had come to when it was asked for. */
  before?: RunStatus
  /** Checkpoint id → how far its undo is. */
  acts: Map<
    string,
    {
      node: string
      undo: UndoMethod
      /** The token that began it, or its answer where it never began. */
      jti: string
      resultJti?: string
      status?: RollbackStatus
      description: string
      stateHashBefore?: Hash
      stateHashAfter?: Hash
      /** The agent's own signed answer. */
      evidence?: Hash
    }
  >
  /** Checkpoint id (or node/visit, of a step without one) → what its holder said in phase 1, when it was asked last. */
  votes: Map<string, RollbackVote>
  /** How often people had those asked again that said no; absent: never. */
  askedAgain?: number
  /** When a person last answered a question of it: its time runs anew from there. */
  answeredAt?: number
  /** How phase 1 ended; absent while it goes on. */
  decided?: Pick<
    FactOf<'rollback_decided'>,
    'decision' | 'without' | 'withoutCount' | 'by' | 'reason' | 'jti' | 'at'
  >
  /** The narrower rollback it took over. */
  supersedes?: RollbackId
  /** The broader rollback that took it over. */
  supersededBy?: RollbackId
  status?: RollbackStatus
  resultJti?: string
  choice?: 'end' | 'go_on'
}

export type RollbackVote = Omit<FactOf<'rollback_vote'>, 'type' | 'par' | 'rollback'>

/** A circuit as the run's own calls met it: what its tokens said last. */
export interface SeenCircuit {
  circuit: string
  caller: string
  downstream: string
  status: CircuitStatus
  errorRate: number
  /** Open: when a probe may go. */
  until: number
  cooldownS: number
  reopened: number
  /** Why it refused the run's latest call, while it has done nothing else since. */
  because?: RefusedBecause
  /** Steps whose calls met it. */
  nodes: readonly string[]
  /** The token that says so, in this run. */
  jti: string
  at: number
}

/** A cascade that was seen in the run, newest last. */
export type SeenCascade = Omit<FactOf<'cascade_detected'>, 'type' | 'par'>

/** What agents outside reported into a run (reported.ts). */
export interface ReportedRun {
  tokens: number
  /** The visit that each reported token is of or hangs under; none where it hangs under nothing. */
  placeOf: Map<string, { node: string; visit: number }>
  /** Those that reported, and those that they handed work to. */
  agents: Set<string>
  handedTo: Set<string>
  /** Checkpoints that agents hold by tokens of their own, by `visit node` of the step they were taken of; oldest first. */
  sealed: Map<string, string[]>
  /** Who began a reported run says that it is over. */
  ended?: { jti: string; terminal: TerminalStatus; reason: string }
}

/** The walk of a stepwise run (walk.ts). */
export interface Walk {
  /** Every visit, in the order they were made; the last one is where the run is. */
  path: WalkStep[]
  /** How often each edge was taken, by its number in the graph. */
  taken: Map<number, number>
  /** The latest finished visit of each node: what paths into the run's values mean. */
  outputs: Map<string, Visit>
  /** Edges of the last step that could all be taken: the workflow is at fault. */
  ambiguous?: GraphEdge[]
  /** How often each node was entered on this path. */
  entered: Map<string, number>
  /** The limit that lets it go no further. */
  exhausted?: Exhaustion
}

/** A limit of the workflow that was reached: which, of what, and how high it is. */
export interface Exhaustion {
  limit: ExhaustedLimit
  /** Of `max_visits`: the state that could not be entered again. */
  node?: string
  bound: number
}

/** One writing of an artifact, in the order they were made. */
export interface ArtifactWrite {
  artifact: string
  value: Hash
  mediaType: string
  mode: 'replace' | 'append'
  node: string
  visit: number
  by: Actor
  at: number
  jti: string
}

export interface WalkStep {
  visit: Visit
  /** Number of the edge that led here; absent for the entry. */
  edge?: number
  /** States at their limit that this step was redirected from (`on_max_visits`), first the one that was meant. */
  insteadOf?: string[]
  /** Artifact writes there were when it was entered. */
  writes: number
}

export interface Run {
  readonly graph: GraphIndex
  /** Tokens folded so far. The next one has this sequence number plus 1. */
  seq: number
  lastAt: number
  lastJti?: string
  state: RunStatus
  start?: FactOf<'workflow_start'>
  /** The current visit of each node. */
  visits: Map<string, Visit>
  /** Earlier visits, oldest first. */
  past: Map<string, Visit[]>
  /** Pending nodes whose parents are all done. */
  ready: Set<string>
  /** Nodes whose visit is running, waiting or approved. */
  active: Set<string>
  /** How many parents of a node are not done, for pending nodes. */
  missing: Map<string, number>
  /** Counts of current visits by status. */
  counts: Map<VisitState['status'], number>
  approvals: Map<ApprovalId, Approval>
  openApprovals: Set<ApprovalId>
  checkpoints: Map<string, CheckpointRef>
  /** Agents that ever began a node, by node: who belongs to the run (NOTES 3.8). */
  claimants: Map<string, Set<string>>
  rollbacks: Map<RollbackId, Rollback>
  /** By circuit id. */
  circuits: Map<string, SeenCircuit>
  cascades: SeenCascade[]
  /** Errors that agents of the run told of, by the id they gave them. */
  signals: Map<string, FactOf<'signal_received'>>
  /** Errors that something follows from by itself, by their tokens, until it has (follow-error.ts). */
  toFollow: Map<string, ErrorToFollow>
  /** What agents outside reported, once they did. */
  reported?: ReportedRun
  /** The question that nobody answered, and whose author wants the run taken back for it; until that is asked for. */
  takeBack?: ApprovalId
  /** Present in stepwise order. */
  walk?: Walk
  /** Tokens that models took for the steps that are done, child runs included. */
  modelTokens: number
  /** Bytes that the steps that are done wrote to files, child runs included. */
  writtenBytes: number
  /** Tool calls of models in the steps that are done, child runs included. */
  toolCalls: number
  /** Every artifact that was written on the run's way here, oldest first. */
  artifactWrites: ArtifactWrite[]
  /** What each artifact is now: of a `replace` slot the last writing, of an `append` slot all of them. */
  artifacts: Map<string, ArtifactWrite[]>
  /** Milliseconds that the run stood still for people, up to now; and since when it does so now. */
  heldMs: number
  heldSince?: number
}

/** An error that something follows from by itself (follow-error.ts). */
export interface ErrorToFollow {
  jti: string
  at: number
  node: string
  visit: number
  description: string
  critical: boolean
  leadsTo: Exclude<OnError, 'nothing'>
  /** What would be taken back to. */
  checkpoint?: string
  /** The agent that told of it; absent: the step itself failed. */
  agent?: string
}
