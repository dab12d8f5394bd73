/*
 * What a node kind does. A runner resolves a node into one exact action, says what it would do, and does it.
 *
 *   resolve ──▶ describe ──(a person may decide, or edit)──▶ snapshot ──▶ perform
 *                                                               ╰──▶ undo, probe (later, from the sealed snapshot)
 *
 * `resolve` and `describe` change nothing. The action is a value with a digest: decisions are bound to it, and
 * `perform` gets exactly the action that was decided on, never a second resolution. A runner never writes to the
 * ledger, never reads a clock of its own, and never puts contents or secrets into sentences, targets or errors.
 */
import type { Hash } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import type { CallRefusal, Downstream } from '@/lib/breaker/terms'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { ErrorType, ExhaustedLimit, Severity } from '@/lib/engine/facts'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { ToolCall } from '@/lib/policy/tool-call'
import type {
  CannotPrepare,
  PutBack,
  RollbackScope,
  RollbackStatus,
  StateChange,
  StepBelow,
  Vote,
} from '@/lib/rollback/terms'
import type { GraphNode, Policy } from '@/lib/workflow/graph'

/** The exact thing that would be done; stored as canonical JSON, its hash is the digest people decide on. */
export interface Action {
  kind: string
  node: string
  visit: number
  /** The resolved action in the kind's own terms: `{ path, content, mode }`. People may edit this. */
  do: JsonObject
  consequence: Consequence
  /** What it acts on, in a person's words: a path, `PUT edge-router-07`. */
  target: string
  /** What will happen, one sentence with verb and target. */
  sentence: string
  undo?: UndoMethod
  /** How it is undone, one sentence; absent when it cannot be. */
  undoSentence?: string
}

/**
 * What a person sees before deciding. Texts are bounded to 256 KiB each. `absent`: what would be changed is not there yet, and
 * not only empty.
 */
export type Preview =
  | { show: 'diff'; title: string; before: string; after: string; absent?: true }
  | { show: 'text'; title: string; text: string }

/** Where `*_from` paths are looked up: the run's input as `trigger`, and each finished node's output by its id. */
export interface Values {
  /** The value at a dotted path with array indexes (an artifact is at `artifacts.name`); undefined when there is none. Records the node as read. */
  at(path: string): Promise<Json | undefined>
  /** The conversation of the prompt state that took its turn last, for one that goes on with it (RFC 0005, persistence). */
  talk(): Promise<Json | undefined>
  /** What was said from outside to lead the walk here; undefined when a prompt did. */
  givenEvent(): Promise<{ event: string; by: string; comment: string } | undefined>
  /** Artifacts that are written, by name, as values: what was written last comes first. */
  artifacts(): Promise<[string, Json][]>
  /** Tool calls that the run has left; undefined: any number (RFC 0009, `max_tool_calls`). */
  toolCallsLeft(): Promise<number | undefined>
  /** Outputs of all parents, by node id; records them as read. For tasks and agents. */
  ofParents(): Promise<JsonObject>
}

export interface Step {
  runId: string
  node: GraphNode
  visit: number
  values: Values
}

/** What the shell gives a runner to reach the world with. */
export interface Effects {
  signal: AbortSignal
  /** When the signal fires for want of time, ms since the epoch; absent: not known. */
  until?: number
  /** For a request to somebody else: given up a margin before the step itself is (time-left.ts). Absent: with the step. */
  request?: { signal: AbortSignal; until: number }
  /** Derived from run, node, visit and attempt: the same effect has the same key. */
  idempotencyKey: string
  dryRun: boolean
  /** The workflow's policy within the installation's. */
  policy: Policy
  /** Folders of this installation that any workflow's roots must lie in; relative roots start in the first. */
  installationRoots: readonly string[]
  agents: AgentDirectory
  /** The run, as agents are told of it. */
  runId?: string
  /** Tokens that a request to an agent follows from (the visit's task token); becomes `par` of the request's token. */
  follows?: readonly string[]
  /**
   * Asks the workflow's policy about one exact call: static allowlist, then Rego. Throws EffectFailed `policy_denied`
   * ("<tool> denied on <target>: <reason>"), which is never retried. Called in `describe` and again in `perform`.
   */
  allow(call: ToolCall): Promise<void>
  /** The value of a named secret, looked up at the last moment; it goes into a request and nowhere else. */
  secret(name: string): Promise<string | undefined>
  /**
   * The text of a file that the workflow's author named, relative to the workflow's own file: a schema, a script.
   * Undefined when there is none to read. At most 1 MiB.
   */
  authored(path: string): Promise<string | undefined>
  /** Counts bytes about to be written to files; throws EffectFailed `budget_exhausted` past the workflow's bound. */
  spendBytes(bytes: number): Promise<void>
  models: Models
  mcp: McpServers
  children: ChildRuns
  calls: Calls
  /** What a child process may use, from the workflow's budget. Absent: what the system gives. */
  childLimits?: ChildLimits
  now(): number
}

/** Calls to others, each behind its breaker (ATD section 6). */
export interface Calls {
  /**
   * Makes the call, unless the circuit to `downstream` refuses it: then throws EffectFailed `circuit_open` with its
   * `refusal`, and nothing was sent. How the call ends counts for the circuit. What says that the downstream is well but
   * does not want to (a refusal, a bad request) counts as an answer. Of a probe only an answer that `verified` says yes
   * to counts as a success (cascade section 9.2); absent: any answer does. `failed`: the answer says that the downstream
   * is unwell (status 5xx); absent: none does.
   */
  through<T>(
    downstream: Downstream,
    call: () => Promise<T>,
    verified?: (answer: T) => boolean | Promise<boolean>,
    failed?: (answer: T) => boolean,
  ): Promise<T>
  /**
   * Makes the call whatever the circuit says, and counts how it ends: for rollbacks, which no breaker may keep from being
   * done. It is never a probe.
   */
  counted<T>(downstream: Downstream, call: () => Promise<T>, failed?: (answer: T) => boolean): Promise<T>
}

/** Bounds of one child process and, each for itself, of all it starts. */
export interface ChildLimits {
  /** Megabytes (2^20 bytes) of address space. */
  memoryMb?: number
  /** Seconds of processor time. */
  cpuS?: number
}

/** A tool as a model is told of it. */
export interface ToolOffer {
  name: string
  description: string
  /** JSON Schema of its arguments. */
  parameters: JsonObject
}

/** A model's wish to use a tool. Nothing of it was checked yet. */
export interface ToolUse {
  id: string
  name: string
  args: JsonObject
}

export type ModelMessage =
  | { role: 'system' | 'user'; text: string }
  | { role: 'assistant'; text: string; uses?: ToolUse[] }
  /** What a tool gave back, for the use with that id. */
  | { role: 'tool'; id: string; name: string; text: string; isError?: true }

/** One bounded call of a model. */
export interface ModelCall {
  /** Name of a backend: the workflow's own, else the installation's. */
  backend: string
  messages: ModelMessage[]
  maxTokens?: number
  temperature?: number
  topP?: number
  /** Tools it may wish to use. A backend without tools of its own is told of them in words. */
  tools?: ToolOffer[]
  /** `required`: it must use one. */
  toolChoice?: 'auto' | 'required'
  /** JSON Schema the answer must fit; a backend that knows structured output is told. */
  schema?: JsonObject
}

export interface ModelAnswer {
  text: string
  /** Tools it wishes to use, in order; absent when none. */
  uses?: ToolUse[]
  usage: { promptTokens: number; completionTokens: number }
}

/** Named model backends. A backend that is unknown, down, slow or answers rubbish throws EffectFailed with a reason. */
export interface Models {
  /** Counts the answer's tokens against the run's `maxModelTokens`; past it throws `budget_exhausted`. */
  ask(call: ModelCall, signal: AbortSignal): Promise<ModelAnswer>
  /** Names the workflow may use, for sentences. */
  names(): readonly string[]
}

export interface McpTool {
  server: string
  name: string
  description: string
  inputSchema: JsonObject
  /** What the server says of it (MCP tool annotations); absent: nothing. */
  readOnly?: boolean
  destructive?: boolean
  idempotent?: boolean
}

/**
 * MCP servers, started on demand and reused. Whatever they do wrong throws EffectFailed with a reason. Without a
 * `server`, the first in order of configuration that has the tool or the resource is meant.
 */
export interface McpServers {
  tool(name: string, signal: AbortSignal, server?: string): Promise<McpTool | undefined>
  /** `undoes`: it takes something back, so it is counted and no breaker refuses it. */
  call(
    name: string,
    args: JsonObject,
    signal: AbortSignal,
    server?: string,
    undoes?: boolean,
  ): Promise<{ content: Json[]; isError: boolean; structured: Json }>
  read(uri: string, signal: AbortSignal, server?: string): Promise<{ contents: Json[] }>
  /** Names of the configured servers, for sentences. */
  names(): readonly string[]
}

export interface ChildOutcome {
  runId: string
  status: 'completed' | 'failed' | 'timed_out' | 'errored' | 'paused'
  finalValue: Json
  lastNode?: string
  reason: string
  /** The limit that ended it. */
  exhausted?: ExhaustedLimit
  modelTokens: number
  writtenBytes: number
  toolCalls: number
  /** Its `workflow_complete` token. */
  endJti?: string
  /** The error that ended it. */
  errorJti?: string
}

/** Runs that a step begins and waits for (agentd section 1.45). Each is a run of its own, linked into this one's DAG. */
export interface ChildRuns {
  /** The workflow at an author-declared path or name, pinned. Throws EffectFailed with all that is wrong with it. */
  load(workflow: string): Promise<{ version: Hash; consequence: Consequence }>
  /** The graph of an agent loop with this config, made from the run's own workflow (lib/nodes/agent-loop-graph.ts) and pinned. */
  loop(config: JsonObject): Promise<{ version: Hash; consequence: Consequence }>
  /** The graph of one turn of a prompt state of this workflow (lib/nodes/prompt-turn-graph.ts), pinned. */
  turn(node: string): Promise<{ version: Hash; consequence: Consequence }>
  /** Begins the child once, whatever crashes between, and waits for its end. `index` tells children of one step apart. */
  run(
    child: { version: Hash; start?: string; input: Json; index: number },
    signal: AbortSignal,
  ): Promise<ChildOutcome>
  /** Rolls back every run the step began, last first. Asked again, it goes on where it was. */
  takeBack(request: UndoRequest, signal: AbortSignal): Promise<Undone>
}

/** Remote agents an administrator has registered. */
export interface AgentDirectory {
  find(spiffeId: string): Promise<RegisteredAgent | undefined>
  /**
   * What a token says that the agent signed for this installation; undefined when it did not: another's key, a revoked
   * one, an old token, one for somebody else. Absent: nobody's signature can be checked here.
   */
  signedBy?(spiffeId: string, token: string): Promise<SignedAnswer | undefined>
  /** A signed token for one request to an agent: compact JWS for the `Execution-Context` header (NOTES 1). */
  requestToken(claims: { aud: string; act: string; par: string[]; ext: JsonObject }): Promise<string>
}

export interface RegisteredAgent {
  id: string
  name: string
  baseUrl: string
  /** What it speaks (lib/base/protocols.ts); absent: unknown, so one phase. */
  protocols?: readonly string[]
  /** Requests it takes at once; absent: one of a kind. */
  limits?: { connections?: number }
}

/** An agent's answer, as far as its signed token tells. */
export interface SignedAnswer {
  /** UUID of the run it is about. */
  wid: string
  /** Ids of the tokens it follows from: the request's among them. */
  par: readonly string[]
  /** SHA-256 of the answer's body, or of the state it left. */
  outHash?: Hash
  /** Of the answer to a rollback. */
  status?: string
}

/** What a checkpoint seals. `state` is canonical; its hash is the token's `out_hash`. */
export interface Snapshot {
  state: JsonObject
  hash: Hash
  undo: UndoMethod
  rollbackUri?: string
  ttlS?: number
}

export interface Performed {
  output: Json
  label?: string
  /** Tokens that models took for it, child runs included. */
  modelTokens?: number
  /** Bytes it wrote to files, child runs included. */
  writtenBytes?: number
  /** Tool calls of models it took, child runs included. */
  toolCalls?: number
  /** A limit was reached in the middle of it: the run ends here. */
  exhausted?: ExhaustedLimit
  /** Artifacts it wrote, in order: of an `append` slot the entry to add. */
  artifacts?: { name: string; value: Json }[]
  /** End tokens of the child runs it waited for: the completion follows from them too. */
  linked?: string[]
  /** Errors that its `error` branch comes from: tokens of child runs. */
  upstream?: string[]
  /** What it made of its target's state, where the target can say. */
  changed?: StateChange
}

/** A target's state at one moment. */
export interface SeenState {
  /** Comparable to `Snapshot.hash`. */
  hash: Hash
  /** As the target itself hashes it: comparable to what steps say they found and left there. */
  raw: Hash
}

/** Known by its mark, as Problem is (lib/base/problem.ts): the engine and the routes are bundled apart. */
const mark = Symbol.for('holdpoint.EffectFailed')

/** A failure of an effect. `retriable`: trying again may help and cannot do harm. */
export class EffectFailed extends Error {
  static override [Symbol.hasInstance](value: unknown): value is EffectFailed {
    return typeof value === 'object' && value !== null && mark in value
  }

  readonly [mark] = true
  override readonly name = 'EffectFailed'
  readonly code: string
  readonly errorType: ErrorType
  readonly severity: Extract<Severity, 'error' | 'critical'>
  readonly retriable: boolean
  /** True when it is not known whether the world changed (a lost answer to a request that is not safe). */
  readonly outcomeUnknown: boolean
  /** Present when a breaker refused the call here, before anything was sent. */
  readonly refusal?: CallRefusal
  /** Errors that whoever was called names as its causes: ids of their tokens. */
  readonly upstream: readonly string[]
  /** Whoever was called is well, and said no: for its circuit that is an answer. */
  readonly answered: boolean
  /** Nothing was begun, and there is no point in trying again before then; ms since the epoch. */
  readonly retryAt?: number

  constructor(
    code: string,
    sentence: string,
    more: Partial<
      Pick<
        EffectFailed,
        | 'errorType'
        | 'severity'
        | 'retriable'
        | 'outcomeUnknown'
        | 'refusal'
        | 'upstream'
        | 'answered'
        | 'retryAt'
      >
    > = {},
  ) {
    super(sentence)
    this.code = code
    this.errorType = more.errorType ?? 'action_failed'
    this.severity = more.severity ?? 'error'
    this.retriable = more.retriable ?? false
    this.outcomeUnknown = more.outcomeUnknown ?? false
    this.refusal = more.refusal
    this.upstream = more.upstream ?? []
    this.answered = more.answered ?? false
    this.retryAt = more.retryAt
  }
}

export interface Undone {
  /** Absent: `completed`. Another status is an agent's own answer. */
  status?: RollbackStatus
  stateHashBefore?: Hash
  stateHashAfter?: Hash
  description: string
  /** The agent's own signed answer; present only where its signature holds and it names this request. */
  evidence?: Evidence
}

/** An agent's answer as it signed it, to be kept. */
export interface Evidence {
  /** SPIFFE id. */
  agent: string
  /** `jti` of the request's token. */
  request: string
  /** Compact JWS. */
  token: string
  /** The answer's body, where the token vouches for it by `out_hash`. */
  body?: string
}

/** Phase 1, answered by whoever holds the checkpoint (cascade section 6.5). */
export interface Prepared {
  vote: Vote
  reason?: CannotPrepare
  /** The rollback that stands in the way. */
  conflict?: string
  description: string
}

/** The rollback an undo belongs to. */
export interface UndoRequest {
  /** The rollback's own id, as it travels to agents. */
  id: string
  reason: string
  /** `jti` of the checkpoint token. */
  checkpointId: string
  /** UUID of the run. */
  wid: string
  /** How far the rollback reaches that this is a part of. */
  scope: RollbackScope
  /** The run's own `rollback_request` token, for remote agents, and its `jti`. */
  requestToken: string
  requestJti: string
  /** When the rollback is out of time, ms since the epoch: that of a run below is, too. */
  deadlineAt: number
  /** What somebody else changed since is put back, too: in the runs that the step began. */
  overwrite?: true
  /** Critical steps of the runs that the step began, as the plan names them: no other is taken back. */
  criticalBelow?: readonly StepBelow[]
  /**
   * To be asked before a state is put back here, with the one that is there: why that must not be, one sentence; undefined
   * when it may. Absent: whatever is there may be put back.
   */
  whyNot?(now: SeenState): Promise<string | undefined>
  /** The states that an agent may be in, as it hashes them itself; in any other, somebody else changed it. Absent: not known. */
  expectedStates?: readonly Hash[]
  /** What `perform` gave, when its completion was recorded; compensating requests are rendered from it. */
  output?: Json
}

/** What every kind can say of itself: the action a node comes to, and what that would do. */
export interface Resolver {
  /** The action in the kind's own terms. Throws EffectFailed (`constraint_violation`) when a value is missing or wrong. */
  resolve(step: Step): Promise<JsonObject>
  /** Checks `do` (also as edited by a person) and says what it would do. Reads only. */
  describe(
    action: JsonObject,
    step: Pick<Step, 'node' | 'visit' | 'runId'>,
    effects: Effects,
  ): Promise<{ action: Action; preview?: Preview }>
}

export interface Runner extends Resolver {
  /** The state to seal before a consequential action. `checkpointId` is the jti the checkpoint token will have. */
  snapshot?(action: Action, effects: Effects, checkpointId: string): Promise<Snapshot>
  /** Does it. `snapshot` is what was sealed before, for consequential actions. */
  perform(action: Action, effects: Effects, snapshot?: Snapshot): Promise<Performed>
  /** After a crash: did the effect happen? By looking only. */
  probe?(
    action: Action,
    snapshot: Snapshot,
    effects: Effects,
  ): Promise<'took_effect' | 'not_taken' | 'unknown'>
  /** The target's state now, by its hashes; undefined when it does not say. */
  stateHash?(action: Action, snapshot: Snapshot, effects: Effects): Promise<SeenState | undefined>
  /**
   * Asks whoever holds the checkpoint whether it can be taken back. Changes nothing. Undefined when the holder speaks
   * one phase only. Throws EffectFailed; retriable where there was no answer that can be believed.
   */
  prepare?(
    action: Action,
    snapshot: Snapshot,
    effects: Effects,
    rollback: UndoRequest,
  ): Promise<Prepared | undefined>
  /** What `undo` would make of the target as it is now, contents included: for a person who may decide on it. Reads only; undefined when nobody here can tell. */
  undoPreview?(action: Action, snapshot: Snapshot, effects: Effects): Promise<PutBack | undefined>
  /** Takes it back from the snapshot, or compensates. Idempotent: the same checkpoint is taken back once. */
  undo?(action: Action, snapshot: Snapshot, effects: Effects, rollback: UndoRequest): Promise<Undone>
}
