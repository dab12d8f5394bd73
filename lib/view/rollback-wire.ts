/* What the screens of a rollback are told: its plan, how it goes, and what each agent answered. */
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type {
  CannotPrepare,
  ChangedBy,
  PlanFate,
  PutBack,
  RollbackScope,
  RollbackStatus,
  RunsBelow,
  StepBelow,
  Vote,
} from '@/lib/rollback/terms'

/**
 * `GET /api/v1/approvals/{id}/put-back/{checkpoint}` for whoever may answer `overwrite`, and before anybody is asked
 * `GET /api/v1/runs/{run}/checkpoints/{checkpoint}/put-back` for whoever may roll back: what that would undo.
 */
export type PutBackView = PutBack & { at: number }

export interface PlanStep {
  node: string
  /** Which visit of the node; a walk may have made several. */
  visit: number
  label: string
  fate: PlanFate
  checkpointId?: string
  agent?: string
  target?: string
  /** One sentence: what returns, or why not. */
  sentence: string
  /** Sealed state and state now, when they can be read. */
  sealedHash?: string
  stateHashNow?: string
  /** The target was asked what state it is in, and gave no answer. */
  stateUnread?: true
  /** Somebody else changed the target since: it is put back only where the rollback says `overwrite`. */
  changedSince?: true
  /** The step of another run that did. Absent: no run here says that it did. */
  changedBy?: ChangedBy
  /** Critical steps of the runs that it began, which go back with it. */
  criticalBelow?: readonly StepBelow[]
  /** The runs that it began, which hold what goes back with it. */
  runsBelow?: RunsBelow
}

export interface PlanScope {
  scope: RollbackScope
  /** What it would do: "Restores 2 steps on 2 agents, only sets back 1." */
  sentence: string
  /** The same where what somebody else changed since is put back, too; absent where nothing was. */
  overwriting?: string
  /** Absent when it may be chosen; else one sentence why not, naming the sibling and the output. */
  forbidden?: string
}

/**
 * `POST /api/v1/runs/{run}/rollback-plans {node | checkpoint, scope?, only?}`, and `GET …/rollback-plans?node=…`: changes
 * nothing. Steps in the order they are undone.
 */
export interface RollbackPlanView {
  run: string
  node: string
  scope: RollbackScope
  /** Only the step and what was made from its output, at first hand or through others; absent: all that followed it. */
  only?: 'dependents'
  digest: string
  /** Tokens the plan was made at. */
  seq: number
  at: number
  steps: PlanStep[]
  untouched: string[]
  counts: {
    restored: number
    /** Of `restored`, those whose target somebody else changed since: left unless it is said to overwrite. Absent: none. */
    changed?: number
    compensated: number
    irreversible: number
    refused: number
    reset: number
    untouched: number
    agents: number
  }
  /** "Restores 3 steps on 2 agents, compensates 1, leaves 4." */
  sentence: string
  scopes: PlanScope[]
  /** Present when the chosen scope cannot be executed. */
  forbidden?: { sentence: string; node?: string; output?: string }
}

/** `POST /api/v1/runs/{run}/rollbacks {node, scope, only?, digest, reason, overwrite?, deadline_s?}`, and `GET …/rollbacks/{id}`. */
export interface RollbackView {
  id: string
  run: string
  scope: RollbackScope
  only?: 'dependents'
  /** What somebody else changed since is put back, too. */
  overwrite?: true
  /** Of these checkpoints a person said so when they were asked. */
  overwritten?: { checkpointId: string; by: string; at: number; reason: string }[]
  node: string
  /** `executing` until it is over; `superseded`: a broader one took it over. */
  status: 'executing' | 'superseded' | RollbackStatus
  /** Phase 1 asks the holders; `asking`: it waits for a person (`question`); phase 2 takes back; `over`. */
  phase: 'preparing' | 'asking' | 'executing' | 'over'
  by: string
  reason: string
  askedAt: number
  /** When phase 2 is out of time, ms since the epoch. A person's decision gives it its time anew. */
  deadlineAt: number
  /** Hash of the plan it executes: `GET …/values/{plan}` is a RollbackPlanView. */
  plan: string
  /** What each holder said in phase 1, in the order the answers came. */
  votes: RollbackVoteView[]
  decided?: RollbackDecisionView
  /** The open question it waits for. */
  question?: {
    approval: string
    kind: 'rollback_unprepared' | 'rollback_critical'
    sentence: string
    /** Whoever holds it may answer. */
    role: string
  }
  acts: RollbackActView[]
  /** The narrower rollback it took over, and the broader one that took it over. */
  supersedes?: string
  supersededBy?: string
  choice?: 'end' | 'go_on'
}

export interface RollbackVoteView {
  node: string
  visit: number
  /** The checkpoint's token, or `node/visit` of a step that left none. */
  checkpointId: string
  /** SPIFFE id of whoever holds it; this installation's own for what is held here. */
  agent: string
  vote: Vote
  /** Asked over the two-phase protocol; told by checkpoint and reversibility; looked up here. */
  how: 'asked' | 'derived' | 'here'
  reason?: CannotPrepare
  conflict?: string
  /** Who changed its target since, in words; and the run and the step, where it was one of this installation. */
  changedBy?: string
  changedRun?: string
  changedNode?: string
  description: string
  at: number
  /** The token that records it. */
  jti: string
}

export interface RollbackDecisionView {
  decision: 'execute' | 'partial' | 'abort' | 'escalate'
  by: string
  reason: string
  at: number
  /** Stored list of the checkpoints that are left as they are, and how many they are. */
  without?: string
  withoutCount: number
  jti: string
}

export interface RollbackActView {
  node: string
  visit?: number
  checkpointId: string
  undo: UndoMethod
  status?: RollbackStatus
  description: string
  /** The target's state before and after, when it could be read. */
  stateHashBefore?: string
  stateHashAfter?: string
  /** Stored value (RollbackEvidence): the agent's own signed answer. */
  evidence?: string
  /** The tokens that began and ended it. */
  jti: string
  resultJti?: string
}

/** What an agent answered to one undo, as it signed it: `GET …/values/{evidence}`. */
export interface RollbackEvidence {
  /** SPIFFE id. */
  agent: string
  /** `jti` of the request's token, which the answer's token names as its parent. */
  request: string
  /** The agent's token, a compact JWS. */
  token: string
  /** The answer's body, where the token vouches for it by `out_hash`. */
  body?: string
}
