/*
 * Facts: what can be true of a run, in the past tense. A fact is what a ledger token says, in domain words; the
 * codec (fact-codec.ts) is the only place that knows how each is spelled in claims. The fold (evolve.ts) reads facts
 * and nothing else, so whatever the fold needs is in the token. Contents never are: facts carry hashes of values.
 */
import type { Hash } from '@/lib/base/hash'
import type { ApprovalId, RollbackId } from '@/lib/base/ids'
import type { CallRefusal, CascadePattern, CircuitChange } from '@/lib/breaker/terms'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type {
  CannotPrepare,
  RollbackDecision,
  RollbackOnly,
  RollbackScope,
  RollbackStatus,
  Vote,
} from '@/lib/rollback/terms'
import type { Silence } from '@/lib/workflow/graph'

/** ATD section 3.2. */
export type TerminalStatus = 'success' | 'partial' | 'failed' | 'rolled_back' | 'escalated'
/** ATD section 5. */
export const severities = ['info', 'warning', 'error', 'critical'] as const
export type Severity = (typeof severities)[number]
export const errorTypes = [
  'action_failed',
  'timeout',
  'constraint_violation',
  'resource_exhausted',
  'upstream_cascade',
  'unknown',
] as const
export type ErrorType = (typeof errorTypes)[number]
/** Who acted, as tokens name them: `person:ada`, `agent:spiffe://…`, `silence`, `engine`. */
export type Actor = string

/** As tokens carry it: names are texts there. */
type Named<T> = Omit<T, 'caller' | 'downstream'> & { caller: string; downstream: string }
type CircuitWords = Named<Omit<CircuitChange, 'to'>>

/** What a foreign token says, in the fold's words. */
export interface Reported {
  /** SPIFFE id of the signer. */
  agent: string
  act: string
  /** What the act means, where either vocabulary names it. */
  meaning?: string
  label: string
  description: string
  outHash?: Hash
  severity?: Severity
  errorType?: ErrorType
  checkpointId?: string
  reversible?: boolean
  rollbackUri?: string
  target?: string
  ttlS?: number
  status?: RollbackStatus
  downstream?: string
  errorRate?: number
  cooldownS?: number
  /** Of a `workflow_complete`. */
  terminal?: TerminalStatus
  /** SPIFFE ids it is meant for: whom it hands work to. */
  meantFor?: string[]
}

export interface FactHead {
  /** The token's own id, a UUID. */
  jti: string
  /** Milliseconds since the epoch. */
  at: number
  /** The `jti` of the tokens this one follows from; at most 100. */
  par: string[]
}

/** Which limit of the workflow stopped a run (RFC 0009). */
export type ExhaustedLimit = 'max_visits' | 'max_total_visits' | 'max_tool_calls' | 'max_wall_time_sec'

interface OfVisit {
  node: string
  /** From 1. A node is visited again after a rollback, or by a loop. */
  visit: number
}

interface OfAttempt extends OfVisit {
  /** From 1, within the visit. */
  attempt: number
}

export type FactBody =
  | {
      type: 'workflow_start'
      wfId: string
      description: string
      nodeCount: number
      /** Content hash of the workflow version the run is pinned to. */
      version: Hash
      by: Actor
      dryRun: boolean
      input: Hash
      /** The node a stepwise run begins at. */
      entry?: string
      /** The run whose step began this one: its `wid`. Its task token is the first of `par`. */
      parentWid?: string
      /** How many runs stand above this one; absent: none. */
      depth?: number
      /** When the run is out of time, in ms since the epoch. */
      deadlineAt?: number
      /** How long it may work, in ms, waiting for people not counted: of what the run above it has left for that. */
      workMs?: number
      /** The run it was forked from: its `wid`, and how many of its tokens were taken as given. `par` names the last of them. */
      forkWid?: string
      forkSeq?: number
      forkReason?: string
    }
  | {
      type: 'workflow_complete'
      wfId: string
      terminalStatus: TerminalStatus
      elapsedS: number
      reason: string
      /** Present when a limit of the workflow ended it: budget-exhausted. */
      exhausted?: ExhaustedLimit
    }
  /**
   * Groups more than 100 parents: a token may name at most 100. Or records that a token from outside, which comes next,
   * follows tokens of other runs (`linkOf`, `linked`).
   */
  | { type: 'join'; linkOf?: string; linked?: string[] }
  | ({
      type: 'task_offered'
      action: Hash
      reads: string[]
      consequence: Consequence
      role: string
    } & OfVisit)
  | ({
      type: 'task_start'
      action: Hash
      /** Nodes whose output the action was made from. */
      reads: string[]
      consequence: Consequence
      /** SPIFFE id of the agent that does it, when it is not this installation. */
      agent?: string
      /** A claim holds this long without a heartbeat. Only for tasks of outside agents. */
      claimS?: number
      /** When the attempt is out of time, in ms since the epoch. */
      timeoutAt?: number
    } & OfAttempt)
  | ({ type: 'task_heartbeat'; claimS: number } & OfAttempt)
  | ({ type: 'claim_lapsed' } & OfAttempt)
  | ({
      type: 'checkpoint'
      /** Hash of the canonical snapshot (`out_hash`). */
      snapshot: Hash
      reversible: boolean
      rollbackUri: string
      target: string
      description: string
      ttlS: number
      undo: UndoMethod
      /** It groups those that `par` names: rolling it back rolls them back, latest first (NOTES 3.4). */
      group?: boolean
    } & OfAttempt)
  | ({
      type: 'task_complete'
      output: Hash
      /** The branch taken, for kinds that have labels. */
      label?: string
      /** True when recovery found by looking that the effect had happened. */
      recovered?: boolean
      /** Its target's state before and after it, as the target hashes them; both or neither. */
      stateFound?: Hash
      stateLeft?: Hash
      /** Tokens that models took for this step, child runs included. */
      modelTokens?: number
      /** Bytes it wrote to files, child runs included. */
      writtenBytes?: number
      /** Tool calls of models it took, child runs included. */
      toolCalls?: number
      /** A limit was reached in the middle of it: the walk ends here. */
      exhausted?: ExhaustedLimit
      /** Tokens of child runs that this one follows from; they are in `par` too. */
      linked?: string[]
    } & OfAttempt)
  /** A step of the run this one was forked from, taken as done and not done again. `from` is its completion there. */
  | ({
      type: 'step_carried'
      output: Hash
      label?: string
      tookMs: number
      toolCalls?: number
      from: string
    } & OfVisit)
  /** An artifact's value: of a `replace` slot the whole, of an `append` slot the entry that was added. */
  | ({
      type: 'artifact_set'
      artifact: string
      value: Hash
      mediaType: string
      mode: 'replace' | 'append'
      by: Actor
    } & OfVisit)
  /** All that a running step waits for is a person, in a run below it; and not any more. */
  | ({ type: 'step_held' } & OfAttempt)
  | ({ type: 'step_released' } & OfAttempt)
  | ({
      type: 'error'
      severity: Severity
      errorType: ErrorType
      code: string
      description: string
      checkpointId?: string
      upstream: string[]
      /** Present with severity `warning`: the attempt failed and the next one is due then (ms since the epoch). */
      retryAt?: number
    } & OfAttempt)
  /** A call of this step made the circuit open, let it be the one probe, or closed it. `change` is that token in the circuit's own chain. */
  | ({ type: 'circuit_open' } & CircuitWords & OfAttempt)
  | ({ type: 'circuit_probe' } & CircuitWords & OfAttempt)
  | ({ type: 'circuit_close' } & CircuitWords & OfAttempt)
  /** A breaker refused the step's call before anything was sent (cascade section 4.4); the step asks again at `retryAt`. */
  | ({ type: 'call_rejected' } & Named<CallRefusal> & OfAttempt)
  /** The circuit that the step waited behind lets calls go again. */
  | ({ type: 'circuit_released'; circuit: string; downstream: string; by: Actor } & OfVisit)
  /** A failure is propagating (cascade section 5.3). The node is where it seems to come from. */
  | ({
      type: 'cascade_detected'
      pattern: CascadePattern
      affectedAgents: number
      /** Document with the agents, by name. */
      blastRadius: Hash
      description: string
    } & OfVisit)
  /** An agent of the run told of an error of its own (AERR section 5). `par` is the checkpoint it names. */
  | ({
      type: 'signal_received'
      errorId: string
      agent: string
      severity: Severity
      errorType: ErrorType
      checkpointId: string
      description: string
      upstream: string[]
    } & OfVisit)
  /** The sealed state of a checkpoint past its time was destroyed. Its token stays. */
  | ({ type: 'checkpoint_purged'; checkpointId: string } & OfVisit)
  /** A token of an agent outside that joined the run as it was signed; `act` as it is spelled there. */
  | ({ type: 'reported' } & Reported)
  | ({
      type: 'approval_asked'
      approval: ApprovalId
      kind: ApprovalKind
      role: string
      reason: string
      /** What will happen, one sentence with verb and target. */
      sentence: string
      /** Digest of the exact action the decision is bound to. */
      action: Hash
      /** Stored preview (a diff, or prose), when the kind can show one. */
      preview?: Hash
      reads: string[]
      consequence: Consequence
      target: string
      deadlineAt?: number
      onSilence: Silence
    } & OfVisit)
  | ({
      type: 'approval_decided'
      approval: ApprovalId
      verdict: Verdict
      by: Actor
      /** Digest the decision was made on. */
      action: Hash
      /** Digest of the action as the person edited it; the effect uses this one. */
      edited?: Hash
      /** Stored preview that the person saw: what the step acts on had changed since the question was asked. */
      seen?: Hash
      /** With the verdict `event`: which one. */
      event?: string
      comment: string
    } & OfVisit)
  /** Somebody outside gave a state its event (RFC 0009, external and hybrid orchestration). */
  | ({ type: 'event_given'; event: string; by: Actor; comment: string } & OfVisit)
  | ({ type: 'approval_commented'; approval: ApprovalId; by: Actor; comment: string } & OfVisit)
  | { type: 'run_paused'; by: Actor; reason: string }
  | { type: 'run_resumed'; by: Actor }
  /** `exhausted`: the engine asks for it, because a limit of the workflow was reached. */
  | { type: 'cancel_asked'; by: Actor; reason: string; exhausted?: ExhaustedLimit }
  | {
      type: 'rollback_request'
      rollback: RollbackId
      scope: RollbackScope
      /** The node before which the run is put back. */
      node: string
      cascade: boolean
      reason: string
      by: Actor
      /** Digest of the plan, which is a stored value. */
      plan: Hash
      /** When the rollback is out of time, in ms since the epoch. */
      deadlineAt: number
      /** The narrower rollback under way that this one takes over (cascade section 6.8). */
      supersedes?: RollbackId
      /** Of what follows the node only the steps that were made from its output (cascade section 3.2). */
      only?: RollbackOnly
      /** Also targets that were changed since are put back: a person wanted that. */
      overwrite?: boolean
      /** Of one act: the states that its holder may be in when it puts its part back. In another one it is not as it was left. */
      expectedStates?: string[]
    }
  /** Phase 1: one checkpoint's holder says whether it can be taken back (cascade section 6.5). Changes nothing. */
  | ({
      type: 'rollback_vote'
      rollback: RollbackId
      checkpointId: string
      /** SPIFFE id of the holder; this installation's own for what it holds itself. */
      agent: string
      vote: Vote
      /** Asked over the two-phase protocol; told by checkpoint and reversibility, for who speaks one phase only; looked up here. */
      how: 'asked' | 'derived' | 'here'
      reason?: CannotPrepare
      conflict?: string
      /** Who changed its target since, in words; and the run and the step, where it was one of this installation. */
      changedBy?: string
      changedRun?: string
      changedNode?: string
      description: string
    } & OfVisit)
  /** Phase 2 begins, for all or without some; or nothing is done. */
  | {
      type: 'rollback_decided'
      rollback: RollbackId
      decision: RollbackDecision
      /** Document with the checkpoints that are left as they are; absent: none. */
      without?: Hash
      withoutCount: number
      by: Actor
      reason: string
    }
  /** One step's undo began. Spelled `compensate` for compensating actions. */
  | ({ type: 'rollback_act'; rollback: RollbackId; checkpointId: string; undo: UndoMethod } & OfVisit)
  | ({
      type: 'rollback_act_result'
      rollback: RollbackId
      checkpointId: string
      status: RollbackStatus
      /** Hash of the target's state before and after, when it could be read. */
      stateHashBefore?: Hash
      stateHashAfter?: Hash
      description: string
      /** The agent's own signed answer, verified and kept. */
      evidence?: Hash
    } & OfVisit)
  | {
      type: 'rollback_result'
      rollback: RollbackId
      status: RollbackStatus
      checkpointId: string
      /** Hash of the restored state. */
      restored?: Hash
      /** Document with the answer per agent; its hash and count travel, not the list. */
      cascaded: Hash
      cascadedCount: number
    }
  /** After a rollback: the run ends, or goes on from the checkpoint. */
  | { type: 'rollback_choice'; rollback: RollbackId; choice: 'end' | 'go_on'; by: Actor }

export type Fact = FactHead & FactBody
export type FactType = FactBody['type']
/** One kind of fact: `FactOf<'error'>`. */
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>
