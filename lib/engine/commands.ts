/** Commands are wishes: what a person, a worker or an agent wants of a run. `decide` grants or refuses them. */
import type { Hash } from '@/lib/base/hash'
import type { ApprovalId, Mint, RollbackId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
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
  StateChange,
  Vote,
} from '@/lib/rollback/terms'
import type { Actor, ErrorType, ExhaustedLimit, FactBody, FactOf, Severity } from './facts'

/** Time and chance, which arrive as arguments. */
export interface At {
  /** ms since the epoch. */
  now: number
  mint: Mint
  /** A number in [0, 1), for jitter. */
  chance: number
}

/** A resolved action, as the engine knows it: its digest and what people are told of it. */
export interface ActionRef {
  hash: Hash
  consequence: Consequence
  target: string
  sentence: string
  reads: string[]
  preview?: Hash
}

/** What a checkpoint token says of a sealed snapshot. */
export interface CheckpointTaken {
  jti: string
  snapshot: Hash
  reversible: boolean
  rollbackUri: string
  target: string
  description: string
  ttlS: number
  undo: UndoMethod
  /** Checkpoints of the same step that it groups (NOTES 3.4). */
  children?: string[]
}

export interface StepFailure {
  severity: Extract<Severity, 'error' | 'critical'>
  errorType: ErrorType
  code: string
  description: string
  retriable: boolean
  /** Error tokens, of this run or of others, that it follows from (ATD section 5). */
  upstream?: string[]
}

/** The step of another run that begins this one. */
export interface ParentStep {
  wid: string
  /** Its task token. */
  jti: string
  /** How many runs stand above the new one. */
  depth: number
}

/** What a forked run takes as given of the one it is forked from. */
export interface Fork {
  wid: string
  /** Tokens of the original that were folded, and the `jti` of the last of them. */
  seq: number
  jti: string
  /** The node a stepwise run began at. */
  entry?: string
  /** Steps that are done, and artifacts that were written, in the order they were. */
  carried: CarriedFact[]
  reason?: string
  /** Artifacts that whoever forks gives other values, each the whole of it. */
  edited: { name: string; value: Hash }[]
}

export type CarriedFact =
  | Omit<FactOf<'step_carried'>, 'jti' | 'at' | 'par'>
  | Omit<FactOf<'artifact_set'>, 'jti' | 'at' | 'par'>

interface OfVisit {
  node: string
  visit: number
}

export type Command =
  | {
      type: 'start'
      version: Hash
      input: Hash
      by: Actor
      dryRun: boolean
      /** Name of a start; absent: the workflow's first. Only in stepwise order. */
      start?: string
      parent?: ParentStep
      /** ms since the epoch: the run has no more time than this. */
      deadlineAt?: number
      /** The run may work for no longer than this, in ms, waiting for people not counted. */
      workMs?: number
      fork?: Fork
    }
  /** The node was resolved; a person must decide, or an outside agent may claim it. */
  | ({ type: 'ask'; action: ActionRef } & OfVisit)
  | ({ type: 'offer'; action: ActionRef } & OfVisit)
  /** An attempt begins; for consequential actions with the checkpoint that was just sealed. */
  | ({
      type: 'begin'
      action: ActionRef
      agent?: string
      timeoutS?: number
      checkpoint?: CheckpointTaken
    } & OfVisit)
  | ({
      type: 'succeeded'
      attempt: number
      output: Hash
      label?: string
      recovered?: boolean
      claimant?: Actor
      modelTokens?: number
      writtenBytes?: number
      /** End tokens of the child runs it waited for. */
      linked?: string[]
      toolCalls?: number
      exhausted?: ExhaustedLimit
      /** Artifacts it wrote, in order. */
      artifacts?: { name: string; value: Hash }[]
      changed?: StateChange
    } & OfVisit)
  /** All it waits for is a person in a run below it, or not any more. */
  | ({ type: 'held'; attempt: number; held: boolean } & OfVisit)
  /** A state is given its event from outside. */
  | ({
      type: 'give_event'
      event: string
      by: Actor
      comment: string
      artifacts?: { name: string; value: Hash }[]
    } & OfVisit)
  | ({ type: 'failed'; attempt: number; failure: StepFailure; claimant?: Actor } & OfVisit)
  /** The node could not even be resolved. */
  | ({ type: 'unresolved'; failure: StepFailure } & OfVisit)
  /** After a crash, looking could not tell whether the effect happened: a person is asked. */
  | ({ type: 'unknown'; attempt: number; sentence: string } & OfVisit)
  | ({ type: 'claim'; agent: string; claimS: number; checkpoint?: CheckpointTaken } & OfVisit)
  | ({ type: 'heartbeat'; claimant: Actor; claimS: number } & OfVisit)
  | ({ type: 'checkpointed'; claimant: Actor; checkpoint: CheckpointTaken } & OfVisit)
  | ({ type: 'lapse' } & OfVisit)
  /** A breaker refused a call of the step; nothing was sent. `attempt`: the one under way, absent before it began. */
  | ({ type: 'rejected'; attempt?: number; refusal: CallRefusal } & OfVisit)
  /** A call of the step changed a circuit. */
  | ({ type: 'circuit_changed'; attempt: number; change: CircuitChange } & OfVisit)
  /** The circuit lets calls go again: steps behind it ask at once. */
  | { type: 'release'; circuit: string; downstream: string; by: Actor }
  /** Something is worth saying and fails nothing: a step done with less, or without what it asked for. */
  | ({ type: 'warn'; attempt: number; errorType: ErrorType; code: string; description: string } & OfVisit)
  /** Asks people about something the engine noticed; the first question of a kind about a visit is the only open one. */
  | ({
      type: 'ask_about'
      kind: Extract<ApprovalKind, 'circuit' | 'cascade' | 'agent_error' | 'resource_exhausted'>
      role: string
      sentence: string
      reason: string
      /** Also when the run has ended: there is nobody else to ask in. */
      afterEnd?: true
      /** Tokens it rests on. */
      par: string[]
    } & OfVisit)
  | ({
      type: 'cascade'
      pattern: CascadePattern
      affectedAgents: number
      blastRadius: Hash
      description: string
      par: string[]
    } & OfVisit)
  /** A person says that what a finished step gave is wrong: a semantic failure (cascade section 3.2). */
  | ({ type: 'flag'; by: Actor; reason: string } & OfVisit)
  /** An agent's signal (AERR section 5), about a checkpoint of the run. Told again it changes nothing. */
  | {
      type: 'signal'
      errorId: string
      agent: string
      severity: Severity
      errorType: ErrorType
      checkpointId: string
      description: string
      upstream: string[]
    }
  /** A verified token of an agent outside, as it was signed; the row it becomes travels beside. `linked`: parents in other runs. */
  | { type: 'report'; fact: FactOf<'reported'>; linked: string[] }
  /** The sealed states of these checkpoints were destroyed. */
  | { type: 'purged'; checkpoints: string[] }
  | {
      type: 'decide'
      approval: ApprovalId
      verdict: Verdict
      by: Actor
      action: Hash
      edited?: ActionRef
      /** The preview on the person's screen, where it is not the question's own. */
      seen?: Hash
      /** With the verdict `event`. */
      event?: string
      artifacts?: { name: string; value: Hash }[]
      comment: string
    }
  | { type: 'comment'; approval: ApprovalId; by: Actor; comment: string }
  | { type: 'silence'; approval: ApprovalId }
  | { type: 'pause'; by: Actor; reason: string }
  | { type: 'resume'; by: Actor }
  | { type: 'cancel'; by: Actor; reason: string; exhausted?: ExhaustedLimit }
  | { type: 'finish' }
  | {
      type: 'roll_back'
      rollback: RollbackId
      scope: RollbackScope
      node: string
      /** Checkpoints the request names as parents: the one(s) rolled back to. */
      checkpoints: string[]
      plan: Hash
      /** Tokens the run had when the plan was made. */
      seq: number
      reason: string
      by: Actor
      deadlineS: number
      only?: RollbackOnly
      overwrite?: boolean
      /** The error token that it follows from. */
      error?: string
    }
  | ({
      type: 'voted'
      rollback: RollbackId
      checkpointId: string
      agent: string
      vote: Vote
      how: 'asked' | 'derived' | 'here'
      reason?: CannotPrepare
      conflict?: string
      changedBy?: string
      changedRun?: string
      changedNode?: string
      /** The checkpoint here does not verify, and the code of why. */
      unverified?: string
      description: string
    } & OfVisit)
  /** Whether, or how, a rollback goes on is for a person to say. */
  | ({
      type: 'ask_rollback'
      rollback: RollbackId
      kind: Extract<ApprovalKind, 'rollback_critical' | 'rollback_unprepared'>
      role: string
      sentence: string
    } & OfVisit)
  | {
      type: 'decide_rollback'
      rollback: RollbackId
      decision: RollbackDecision
      without?: Hash
      withoutCount: number
      by: Actor
      reason: string
    }
  | ({
      type: 'act_began'
      rollback: RollbackId
      checkpointId: string
      undo: UndoMethod
      /** Minted before, where the request that bears it was made ready; else it is minted now. */
      jti?: string
    } & OfVisit)
  | ({
      type: 'act_ended'
      rollback: RollbackId
      checkpointId: string
      status: RollbackStatus
      stateHashBefore?: Hash
      stateHashAfter?: Hash
      description: string
      evidence?: Hash
      /** Asks a person, where the act could not be done. */
      escalateTo?: { role: string; sentence: string; action: Hash }
    } & OfVisit)
  | {
      type: 'rollback_ended'
      rollback: RollbackId
      status: RollbackStatus
      restored?: Hash
      cascaded: Hash
      cascadedCount: number
      timedOut: boolean
    }
  | { type: 'choose'; rollback: RollbackId; choice: 'end' | 'go_on'; by: Actor }

/** What deciding returns: facts to sign in this order, and values they speak of that must be stored with them. */
export interface Decision {
  facts: (FactBody & { jti: string; at: number; par: string[] })[]
  values: { hash: Hash; json: Json }[]
}
