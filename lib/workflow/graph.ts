/*
 * The workflow graph: what ATD, PromptPack and agentd are all read into, and the only thing the engine runs.
 *
 * It protects one promise: a format is a front end. What a format says and the graph has no word for stays in
 * `extra`, beside the thing it was said of, so that text → graph → text loses nothing. A graph is a value: it is
 * never changed, only replaced, and it is named by the hash of its canonical text (versions.ts).
 *
 * Two orders of execution share everything else. Topological: a node is due when all its parents are done, and
 * siblings run at once. Stepwise: one place at a time, and a label or event picks the edge.
 */
import type { Json, JsonObject } from '@/lib/base/json'

export type Format = 'atd' | 'promptpack' | 'agentd'
export type Order = 'topological' | 'stepwise'
export type Vocabulary = 'atd' | 'cascade'
export type Priority = 'critical' | 'high' | 'normal' | 'low'

export interface WorkflowGraph {
  /** The workflow's own name in its format (`wf_id`); travels in tokens as `atd.wf_id`. */
  name: string
  description: string
  format: Format
  order: Order
  vocabulary: Vocabulary
  nodes: GraphNode[]
  edges: GraphEdge[]
  /** Named entries. Empty in topological order, where every node without a parent is one. */
  starts: Start[]
  /** JSON Schema of the run's input, when the workflow says what it asks for. */
  input?: JsonObject
  artifacts: ArtifactDeclaration[]
  /** Tools that prompts may be given, by their names, and what really runs each. */
  tools?: ToolDeclaration[]
  budget: Budget
  policy: Policy
  rules: HitlRule[]
  /** What follows by itself when something goes wrong. */
  containment?: Containment
  /** Model backends the workflow names for itself, besides those of the installation. */
  backends?: Backend[]
  /** Where each named secret is found; values are looked up at the last moment and never kept. */
  secrets?: SecretSource[]
  /** It has no nodes of its own: its runs are what agents outside report of themselves, and each grows a graph. */
  reported?: true
  /** Members the graph has no word for, by the name they had at the top level. */
  extra: JsonObject
}

export interface GraphNode {
  id: string
  label: string
  /** A node kind of lib/nodes. */
  kind: string
  /** The kind's own config, checked by its schema. */
  config: JsonObject
  /** What the author says of undoing it. Absent: what the kind says. */
  reversible?: boolean
  /** Present when a person must decide before the node acts. */
  approval?: ApprovalSpec
  priority: Priority
  /** Seconds; absent: the kind's default. */
  timeoutS?: number
  retry?: Retry
  /** What it asks of the pool it is done in; advisory (ATD section 9). */
  resources?: Resources
  /** Thresholds of the breaker between this step and what it calls (ATD section 6.4). */
  circuit?: { threshold?: number; windowS?: number; minCalls?: number }
  /**
   * What becomes of the step while a breaker refuses its calls: it waits, fails, or is done without (a step that is not
   * critical; cascade section 4.4). Absent: it waits.
   */
  whenOpen?: 'wait' | 'fail' | 'degrade'
  /** What an error in it leads to by itself. Absent: what the workflow says. */
  onError?: OnError
  /** Stepwise: how often the node may be entered, and where to go instead after that. */
  maxVisits?: number
  onMaxVisits?: string
  extra: JsonObject
}

/** Nothing; a person is asked; or what the failed step did, and all that followed, is taken back (ATD section 5). */
export type OnError = 'nothing' | 'escalate' | 'rollback'

export interface Containment {
  /** Absent: a person is asked about critical errors of steps that have an effect, and nothing follows from others. */
  onError?: OnError
  /** When an agent cannot prepare a rollback: ask, go on without it where it is off the critical path, or stop. Absent: ask. */
  onUnprepared?: 'ask' | 'partial' | 'abort'
}

export interface Resources {
  cpu?: number
  memoryMb?: number
  gpu?: number
  networkMbps?: number
}

export interface GraphEdge {
  from: string
  to: string
  /** The label or event that takes this edge. Absent: always. */
  when?: string
  /** How often the edge may be taken; its presence declares a loop. */
  maxIterations?: number
  extra: JsonObject
}

export interface Start {
  name: string
  node: string
  /** What it is meant for. Absent: anything. */
  source?: 'manual' | 'http' | 'event'
}

export interface ArtifactDeclaration {
  name: string
  mediaType: string
  mode: 'replace' | 'append'
  extra: JsonObject
}

/** Absent means the installation's own bound holds. */
/** A tool as a model is told of it, and what stands behind it. */
export interface ToolDeclaration {
  name: string
  description: string
  /** JSON Schema of its arguments. */
  parameters: JsonObject
  /** Absent: nothing runs it, and no run begins that needs it. */
  binding?: ToolBinding
  extra: JsonObject
}

/**
 * A node kind with its config: a tool call is a step like any other. Texts of the config may hold `{{args.name}}`, and
 * members ending in `_from` may name `args.name`. `artifacts`: slots that a result fills, by the path in the result
 * (empty: all of it).
 */
export interface ToolBinding {
  kind: string
  config: JsonObject
  artifacts: Record<string, string>
  /** Present when a person must decide on each call. */
  approval?: ApprovalSpec
  /** What the author says of undoing it. Absent: what the kind says. */
  reversible?: boolean
}

export interface Budget {
  maxRunS?: number
  /** Seconds of the run, without the time it waited for people (RFC 0009, `max_wall_time_sec`). */
  maxActiveS?: number
  /** How often states may be entered, all together (RFC 0009, `max_total_visits`). */
  maxTotalVisits?: number
  /** Tool calls of models, all states together (RFC 0009, `max_tool_calls`). */
  maxToolCalls?: number
  maxConcurrent?: number
  maxTokens?: number
  maxCheckpoints?: number
  /** Model tokens, prompt and completion together, of the run and its child runs. */
  maxModelTokens?: number
  /** Bytes that the run's steps write to files, all together. */
  maxWriteBytes?: number
  /** Megabytes and processor seconds a child process may use. */
  maxMemoryMb?: number
  maxCpuS?: number
}

/** What the workflow's author allows beyond the default, which is nothing outside. */
export interface Policy {
  /** Folders that file kinds may work in, as the workflow names them. */
  roots: Root[]
  /** Targets that http kinds may reach although they are loopback or private: `host:port`, `host` or a CIDR. */
  privateTargets: string[]
  /** The static allowlist. Once it stands, what it does not name is denied. */
  allow?: Allowlist
  /** Asked as well, where the allowlist said yes; both must. */
  rego?: RegoRules
}

/** Patterns of three forms: `*`, `prefix/**` or `prefix/*`, and a literal (agentd section 4). */
export interface Allowlist {
  fs: { read: string[]; write: string[]; delete: string[]; list: string[] }
  env: { readKeys: string[] }
  /** No methods: any. */
  http: { urls: string[]; methods: string[] }
  shell: { commands: string[] }
  mcp: { servers: string[]; tools: string[]; resources: string[] }
}

export interface RegoRules {
  /** The module's text; absent when `file` names where it stands, and it was not read in yet. */
  text?: string
  file?: string
  data: JsonObject
  /** A reference such as `data.agent.allow`. */
  query: string
}

/** A model, by the name that nodes call it. */
export interface Backend {
  name: string
  provider: BackendProvider
  model?: string
  /** Name of the environment variable that holds the key; the key itself never stands in a file. */
  apiKeyEnv?: string
  baseUrl?: string
  /** `unix`: the socket; `scripted`: the file with the answers. */
  path?: string
}

export type BackendProvider =
  | 'anthropic'
  | 'openai'
  | 'gemini'
  | 'openai-compatible'
  | 'unix'
  | 'http'
  | 'scripted'

export interface SecretSource {
  name: string
  from: { env: string } | { file: string }
}

export interface Root {
  path: string
  access: 'read' | 'write'
}

/** Who must decide, by when, and what silence means. Durations are seconds. */
export interface ApprovalSpec {
  role: string
  reason: string
  deadlineS?: number
  onSilence: Silence
}

/** NOTES 3.11. `hold` unless the author spells out another. */
export type Silence = 'hold' | 'deny' | 'rollback' | 'continue' | { escalateTo: string }

export interface HitlRule {
  id: string
  trigger: { kind: string; op: string; value: Json; inputRef: string }
  requiredRole: string
  action: 'pause' | 'escalate' | 'abort'
  extra: JsonObject
}

/** Delay before attempt n + 1 is `min(baseMs * factor ** (n - 1), maxMs)`, with `jitter` of it left to chance. */
export interface Retry {
  maxAttempts: number
  baseMs: number
  factor: number
  maxMs: number
  /** 0 to 1. */
  jitter: number
  /** The delay grows by `baseMs` each time instead of by `factor`. */
  linear?: boolean
}
