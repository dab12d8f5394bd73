/* What the screens of workflows are told: versions, what is wrong with a text, plans for a goal, and what a policy would allow. */
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { WorkflowGraph } from '@/lib/workflow/graph'

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
