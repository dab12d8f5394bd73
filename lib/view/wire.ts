/*
 * What travels between the server and screens: plain data, no class, no Date. Times are ms since the epoch.
 * The API answers with the same shapes (lib/server), so a page and a program see the same thing.
 */

import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Json, JsonObject } from '@/lib/base/json'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { TerminalStatus } from '@/lib/engine/facts'
import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
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
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { QuestionAbout } from './question-wire'
import type { RollbackWarning } from './warning'

/** RFC 9457 problem details, the body of every refusal. */
export interface ProblemDetails {
  type: string
  title: string
  status: number
  detail: string
  code: string
  [more: string]: unknown
}

export interface Page<T> {
  items: T[]
  /** Pass as `cursor` for the next page; absent on the last one. */
  next?: string
}

/** The one table of states on screen (components/ui/state.tsx) has a word, a shape and a colour for each. */
export type ShownState =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'done'
  | 'failed'
  | 'rolled_back'
  | 'escalated'
  | 'skipped'
  | 'cancelled'
  | 'exhausted'
  | 'unknown'

/**
 * `GET /api/v1/runs?status=&workflow=&text=&cursor=&limit=`, newest first. `status` is one of these or, of ended runs, a
 * terminal status, `cancelled`, `exhausted` or `flagged` (`failed` and `success` leave those out); `workflow` is a name; `text` is part of a name or of an id.
 */
export interface RunRow {
  id: string
  workflow: string
  version: string
  status: 'running' | 'waiting' | 'paused' | 'cancelling' | 'rolling_back' | 'rolled_back' | 'ended'
  terminal?: TerminalStatus
  /**
   * Somebody asked for its end, or a limit of the workflow was reached (budget-exhausted); `terminal` is `failed` then, as ATD
   * has no other word. `flagged`: `terminal` is `success`, and a person found afterwards that a step of it is wrong.
   */
  stopped?: 'cancelled' | 'exhausted' | 'flagged'
  startedBy: string
  startedAt: number
  endedAt?: number
  updatedAt: number
  nodeCount: number
  doneCount: number
  /** Steps that stand as failed, and those that were handed to a person; what was taken back is neither. */
  failedCount: number
  escalatedCount: number
  openApprovals: number
  /** The step of another run that began it. */
  parent?: { run: string; node: string; visit: number; index: number }
  /** The run it was forked from. */
  forkOf?: string
  /** It waits for nothing but a person who has to decide in a run below it. */
  waitsIn?: WaitsIn
  /** Of the overview, where nothing moves in it and nobody is asked: "behind the breaker of traffic-monitor". */
  waitsFor?: string
}

/** A question that a run below another one asks. */
export interface WaitsIn {
  run: string
  workflow: string
  approval: string
  role: string
  askedAt: number
}

/** How the runs stand that one visit of a step began. */
export interface ChildCounts {
  node: string
  visit: number
  total: number
  states: Partial<Record<ShownState, number>>
  /** The run itself, when there is one and no more. */
  only?: RunRow
}

/** `GET /api/v1/runs/{run}/children`: of every step that began runs. The runs are `GET …/runs?parent={run}&node=&visit=`. */
export interface ChildSummary {
  steps: ChildCounts[]
  waitsIn?: WaitsIn
}

/** `GET /api/v1/me`: the signed-in person. */
export interface Person {
  id: string
  name: string
  roles: string[]
}

/** `GET /api/v1/runs/{run}`: what a page needs before the ledger arrives; states are folded in the browser. */
export interface RunDetail {
  row: RunRow
  graph: WorkflowGraph
  /** Tokens in the ledger now, and the position to resume the live stream from. */
  seq: number
  position: number
  /** What the signed-in person may do here. */
  may: { operate: boolean; rollBack: boolean; rollBackAll: boolean; exports?: boolean }
  /** The run and the step that began it, and how many runs that step began. */
  parent?: {
    run: string
    workflow: string
    node: string
    label: string
    visit: number
    index: number
    siblings: number
  }
}

/** `GET /api/v1/runs/{run}/ledger?after=&limit=`. Compact tokens; the browser verifies, decodes and folds them. */
export interface LedgerPage {
  rows: { seq: number; position: number; token: string; prevHash: string; hash: string }[]
  heads: { seq: number; jws: string }[]
  next?: number
}

/** `GET /api/v1/runs/{run}/values/{hash}`: JSON values as `json`, other bytes as base64, long ones cut with `truncated`. */
export interface ValueView {
  hash: string
  mediaType: string
  size: number
  json?: Json
  base64?: string
  truncated: boolean
}

/** `GET /api/v1/approvals?show=open|decided&cursor=&limit=`. */
export interface ApprovalRow {
  id: string
  run: string
  workflow: string
  node: string
  label: string
  visit: number
  kind: ApprovalKind
  role: string
  sentence: string
  /** Of what the step does; of a rollback `warning` says it. */
  consequence: Consequence
  /** Of a `rollback_unprepared` that is open, where all of it was changed since or part of it cannot be undone. */
  warning?: RollbackWarning
  askedAt: number
  deadlineAt?: number
  state: 'open' | 'decided' | 'void'
  verdict?: Verdict
  by?: string
  decidedAt?: number
  /** May the signed-in person decide it, and if not, why not (one sentence). */
  mayDecide: boolean
  mayNotBecause?: string
}

/**
 * `GET /api/v1/approvals/{id}`: the decision card, in UI order. The same answers `POST …/decision` and
 * `POST …/comments {comment}`.
 */
export interface ApprovalCard extends ApprovalRow {
  reason: string
  /** Why the step failed, when that is what is asked about. */
  failure?: string
  /** Digest the decision is bound to; send it back with the verdict. */
  action: string
  target: string
  preview?: ActionPreview
  /** Of a step that was done and that a rollback could not undo: what it did, and the digest of its action. */
  did?: { action: string; preview: ActionPreview }
  /** Kind of the step that is held: `pause_for_approval`; absent when its action cannot be read. */
  stepKind?: string
  /** The action in the kind's own terms; present when it may be edited. */
  editable?: JsonObject
  undo?: { method: UndoMethod; sentence: string }
  /** Agents and later steps it touches, by name. */
  touches: {
    agents: string[]
    later: { node: string; label: string; irreversible: boolean; consequence: Consequence }[]
  }
  /** What it is about, where that is not the step's own act; absent when nothing is known of it any more. */
  about?: QuestionAbout
  runStartedBy: string
  runStartedAt: number
  /** What silence means, as the end of a sentence: `it stays held` (silence-words.ts). */
  onSilence: string
  comments: { by: string; at: number; comment: string }[]
  verdicts: Verdict[]
  /**
   * Of an `event` question: what may be answered, and where each leads. Send one back as `event`, with the verdict
   * `event`. `insteadOf`: the state that was meant, and is at its limit. Without `to` the run ends there.
   */
  events?: EventChoice[]
  /** Of an `event` question: artifacts that may be sent along, as `artifacts {name: value}`. */
  slots?: EventSlot[]
  /** `seen`: what was on the screen of who decided, where it was not `preview`. */
  decision?: {
    verdict: Verdict
    event?: string
    by: string
    at: number
    comment: string
    edited: boolean
    seen?: ActionPreview
  }
}

/** What a step would do. */
export type ActionPreview =
  | { show: 'diff'; title: string; before: string; after: string }
  | { show: 'text'; title: string; text: string }

/**
 * `GET /api/v1/approvals/{id}/now`: what the step would do by now. `changed` where that is not what was asked: what it acts on
 * was changed since. Send `seen` with the decision, which then says what it was made on.
 */
export interface ApprovalNow {
  at: number
  /** Nobody can tell: who was asked and gave no answer, or what could not be looked at, as a clause. */
  silent?: string
  changed?: { preview: ActionPreview; seen: string; undo?: string }
}

/**
 * `GET /api/v1/approvals/{id}/put-back/{checkpoint}` for whoever may answer `overwrite`, and before anybody is asked
 * `GET /api/v1/runs/{run}/checkpoints/{checkpoint}/put-back` for whoever may roll back: what that would undo.
 */
export type PutBackView = PutBack & { at: number }

export interface EventChoice {
  event: string
  to?: string
  label: string
  insteadOf?: string
}

export interface EventSlot {
  name: string
  mediaType: string
  mode: 'replace' | 'append'
  description: string
}

export type { PlanFate }

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

export interface WorkflowRow {
  version: string
  name: string
  description: string
  format: string
  nodeCount: number
  importedAt: number
  importedBy: string
  versions: number
}

export interface WorkflowDetail extends WorkflowRow {
  graph: WorkflowGraph
  source: string
  mediaType: string
  history: { version: string; importedAt: number; importedBy: string }[]
  diagnostics: Diagnostic[]
}

/** `POST /api/v1/workflows/validate`: every diagnostic at once; the graph when it could be read. */
export interface Validation {
  diagnostics: Diagnostic[]
  graph?: WorkflowGraph
}

/** `GET /api/v1/plans`: what a goal can be planned with. */
export interface PlanChoices {
  /** Model backends of the installation, by name. */
  backends: string[]
  /** agentd workflows whose policy, models, secrets and budget a plan may be given. */
  configurations: { version: string; name: string; backends: string[] }[]
}

/**
 * `POST /api/v1/plans {goal, backend?, configuration?}`, and `GET …/plans/{version}?plan=`. Without `graph` the last
 * answer of the model and what is wrong with it. `POST …/plans/{version}/approve {plan}` imports this very plan.
 */
export interface PlanView {
  /** Hash under which it is kept until somebody approves it. */
  plan: string
  goal: string
  text: string
  version?: string
  graph?: WorkflowGraph
  diagnostics: Diagnostic[]
  /** How often the model was asked. */
  attempts: number
  plannedBy: string
  plannedAt: number
}

/** `POST /api/v1/workflows/{version}/policy-check {tool, …}`: would this call be allowed? Nothing is done. */
export interface PolicyCheck {
  allowed: boolean
  tool: string
  target: string
  /** Which rules allow it, or the denial in the words a step would end with. */
  sentence: string
  /** In the order in which a step would meet them; the first that denies is the last that was asked. */
  answers: {
    by: 'folders' | 'targets' | 'allowlist' | 'rego'
    allowed: boolean
    rule: string
    /** Present when it denies. */
    sentence?: string
  }[]
}

/**
 * `GET /api/v1/overview`. `counts.waiting` is every open question, of which `waiting` holds the most urgent. A run stands in
 * one of the other lists at most: `toChoose` were rolled back, and somebody has to say whether they end or go on; `failing`
 * ended so, `recent` otherwise; `resting` are those in which nothing moves and that ask nobody themselves: paused, behind a
 * breaker, offered to agents, or asking in a run below. What needs a person is `waiting` and `toChoose`.
 */
export interface Overview {
  waiting: ApprovalRow[]
  toChoose: RunRow[]
  failing: RunRow[]
  running: RunRow[]
  resting: RunRow[]
  recent: RunRow[]
  counts: {
    waiting: number
    toChoose: number
    failing: number
    running: number
    resting: number
    endedToday: number
  }
}

/** `GET /api/v1/people`, by name; `PATCH /api/v1/people/{id} {roles?, disabled?}` answers with one. For administrators. */
export interface PersonRow extends Person {
  createdAt: number
  disabledAt?: number
  /** False while only an invitation leads in. */
  hasPassword: boolean
  /** Sessions that are good now. */
  sessions: number
  /** The newest session that is still remembered. */
  signedInAt?: number
  /** When the invitation that was not used yet runs out, or ran out. */
  invitedUntil?: number
}

/** `POST /api/v1/people/{id}/invitation`: a one-time link to choose a password. Given once. */
export interface InvitationLink {
  link: string
  expiresAt: number
}

/** `POST /api/v1/people {name, roles, password?}`: a link when no password was given. */
export interface NewPerson extends PersonRow {
  invitation?: InvitationLink
}

/** `GET /api/v1/me/sessions`, newest first; `DELETE …/{id}` ends one, `POST …/end` all but the one that asks. */
export interface SessionRow {
  id: string
  createdAt: number
  expiresAt: number
  /** Empty when nobody knows. */
  address: string
  /** What the browser said of itself. */
  agent: string
  current: boolean
}

/** `GET /api/v1/tokens`: one's own, newest first, those that are over too; `DELETE …/{id}` revokes one. */
export interface ApiTokenRow {
  id: string
  name: string
  scopes: string[]
  createdAt: number
  expiresAt: number
  lastUsedAt?: number
  revokedAt?: number
}

/** `POST /api/v1/tokens {name, scopes, days?}`: `secret` is given once. */
export interface NewApiToken {
  secret: string
  token: ApiTokenRow
}

/**
 * `GET /api/v1/runs/{run}/export/contents?forks=&max_value_bytes=`: what `GET …/export` with the same query would give,
 * without its bytes.
 */
export interface ExportContents {
  run: string
  /** The state it shows. */
  at: number
  /** Bytes of the file. */
  size: number
  tokens: number
  /** The run and those below it, and those it was forked from when they are asked for. */
  runs: number
  workflows: number
  decisions: number
  values: { count: number; bytes: number }
  /** What tokens name and that does not go in. */
  leftOut: {
    sealed: number
    tooLarge: { count: number; bytes: number }
    notStored: number
  }
  /** The run it was forked from; `included` when its ledger goes in. */
  forkedFrom?: { run: string; seq?: number; included: boolean }
}

/** The bundle that a console shows instead of runs of its own (`holdpoint open`). */
export interface OpenedBundle {
  /** Its file's name. */
  file: string
  run: string
  runs: number
  tokens: number
  /** The state it shows: the time of its newest token, ms since the epoch. */
  at: number
  /** False when it was opened although it does not verify; `fault` says why. */
  holds: boolean
  fault?: string
  /** Checked against keys that its reader gave; else against its own. */
  keysGiven: boolean
}

/** One event of `GET /api/v1/stream` (and `?run=`); the SSE id is `position`. */
export interface StreamEvent {
  position: number
  run: string
  seq: number
  /** The compact token, only on `?run=` streams. */
  token?: string
  prevHash?: string
  hash?: string
  /** The token's `exec_act`. */
  act: string
}

/** The `event: beat` of a stream, every 5 s and once when it opens: the position it is at. Beats have no SSE id. */
export interface StreamBeat {
  position: number
}

/**
 * `POST /api/v1/runs/{run}/fork-plans {at, version?}`: what a fork at token `at` would take as done, where it would go on
 * and what would happen again. Changes nothing.
 */
export interface ForkPlanView {
  run: string
  workflow: string
  /** The token, and when it was written. */
  at: number
  time: number
  /** Milliseconds from the run's first token. */
  elapsedMs: number
  /** Tokens the run has now. */
  seq: number
  /** Send it back to fork exactly this. */
  digest: string
  version: string
  /** Steps that are taken as done and not done again. */
  carried: number
  /** Of those, the ones whose effects were taken back since: what the fork takes as given is not there any more. */
  takenBack: ForkStep[]
  /** The carried step after which it goes on, with its event; of a walk. */
  after?: ForkStep & { event?: string }
  /** The steps that begin first; none: the fork ends at once, as the original did. At most 20. */
  next: ForkStep[]
  /** How many steps begin first. */
  nextCount: number
  /** The original goes on with this step, and the chosen version does not. */
  insteadOf?: ForkStep
  artifacts: ForkArtifact[]
  /** `restsOn`: the decision that a fork for real would carry onto an edited input; absent: it may be edited. */
  input: { hash: string; json?: Json; size: number; restsOn?: ForkDecision }
  /** Why no fork for real may begin here whatever is edited: an edit of a dry run, with a decision made before it. */
  held?: string
  /** The original's version and newer ones of the same workflow, newest first. `refusal`: why it cannot be chosen. */
  versions: { version: string; importedAt: number; original: boolean; refusal?: string }[]
  /** What the original did after this position that changes something, child runs included; oldest first. A dry run does none of it. */
  effects: ForkEffect[]
  /** There are more than are listed. */
  moreEffects: boolean
  /** The original is a dry run: nothing of the list happened. */
  originalIsDry: boolean
}

export interface ForkStep {
  node: string
  label: string
  visit: number
}

/** What somebody decided at a step that is taken over. */
export interface ForkDecision extends ForkStep {
  /** Absent: they approved. */
  event?: string
  /** Who, as tokens name them. */
  by: string
  /** The token to fork at so that it is asked again. */
  at: number
}

/** A declared slot as it is at the position. */
export interface ForkArtifact {
  name: string
  mediaType: string
  mode: 'replace' | 'append'
  description: string
  /** Absent while nothing was written. `entries`: of an `append` slot. */
  hash?: string
  entries: number
  size?: number
  /** All of it: a text, or JSON; absent when it is neither, longer than 256 KiB, or not written. */
  value?: Json
  /** The decision that a fork for real would carry onto an edited value; absent: it may be edited. */
  restsOn?: ForkDecision
}

/** A step that changed something and may do so again. */
export interface ForkEffect {
  /** The run that did it: the original, or one below it. */
  run: string
  workflow: string
  node: string
  label: string
  visit: number
  consequence: Exclude<Consequence, 'read_only'>
  /** What it did, and to what. */
  sentence: string
  target: string
  /** `unclear`: it failed or is at work, and may have taken effect. `none`: it was a dry run. */
  happened: 'done' | 'unclear' | 'rolled_back' | 'none'
}

/**
 * `GET /api/v1/runs/{run}/forks`: the original, its forks, and theirs. `nodes` begin with the root and go down before they
 * go on; `of` is the run it was forked from, `at` the token.
 */
export interface ForkTreeView {
  /** The run that was asked for. */
  run: string
  nodes: (ForkTreeNode & { depth: number })[]
  /** More forks than are listed. */
  more: boolean
}

export interface ForkTreeNode {
  row: RunRow
  of?: string
  at?: number
  dryRun: boolean
  reason?: string
}
